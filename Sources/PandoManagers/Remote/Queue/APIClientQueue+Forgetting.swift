import PandoSystem
import PandoStore

extension APIClientQueue {
  /// Forgets all requests that this process has for a store, after their rows have been removed: what is
  /// on its way is cancelled, and whoever waits gets `dropped`.
  static func forgetAll(of store: ModelStore) {
    for queue in opened.withLock({ $0.compactMap(\.queue) }) where queue.store === store {
      queue.forgetAll()
    }
  }

  /// Forgets all requests, with their rows if these are in memory.
  func forgetAll() {
    if let rows = storage as? MemoryQueueStorage { try? rows.removeAll() }
    let ended = state.withLock { state in
      let ended = state
      state.reads = [:]
      state.tickets = [:]
      state.sending = [:]
      state.outcomes = []
      state.held = [:]
      state.generation += 1
      state.forgetLanes()
      state.serverAnswered()
      return ended
    }
    runner.kept.removeAll()
    ended.end(with: APIError(.dropped, "queue", "all local data was removed"))
    signal.set(.progress)
  }
}
