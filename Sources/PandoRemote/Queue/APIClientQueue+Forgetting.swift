import PandoStore
import PandoSystem

extension APIClientQueue {
  /// Removes all requests, and their rows if these are in a store of the queue's own.
  package func forgetAll() {
    // A store in memory only fails if it is closed, and then it has no rows.
    try? storage.removeAllOwn()
    let ended = state.withLock { state in
      let ended = state
      state.reads = [:]
      state.tickets = [:]
      state.sending = [:]
      state.outcomes = []
      state.held = [:]
      state.queuedAt = [:]
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
