import PandoSystem

/// Carries out the writes of a cache one after another, in one task that suspends between them.
final class CacheWriter: Sendable {
  struct Write {
    let access: CacheAccess
    /// `nil` if there is nothing to write.
    let operation: (any ManagedOperation)?
    let reporter: ManagerReporter
  }

  private struct State {
    var queue: [Write?] = []
    var hasTask = false
    var hasEnded = false
    /// The suspended task.
    var sleeper: CheckedContinuation<Void, Never>?
  }

  /// The maximum capacity that an empty queue keeps.
  private static let keptCountMaximum = 1_024

  private let state = Locked(State())
  private let executor = QueueExecutor("pando.cache.writing", attributes: [])

  /// Queues writes, and removes them from the list.
  func take(_ writes: inout [Write?]) {
    let (starts, sleeper) = state.withLock { state in
      if state.queue.isEmpty { swap(&state.queue, &writes) } else { state.queue += writes }
      defer { state.hasTask = true }
      return (!state.hasTask, exchange(&state.sleeper, with: nil))
    }
    writes.removeAll(keepingCapacity: writes.count <= Self.keptCountMaximum)
    if let sleeper { sleeper.resume() }
    if starts { Task.detached(executorPreference: executor) { await self.work() } }
  }

  /// Ends the task after the queue is empty.
  func end() {
    let sleeper = state.withLock { state in
      state.hasEnded = true
      return exchange(&state.sleeper, with: nil)
    }
    if let sleeper { sleeper.resume() }
  }

  private func work() async {
    var writes: [Write?] = []
    while true {
      let hasEnded = state.withLock { state in
        swap(&state.queue, &writes)
        return state.hasEnded
      }
      if writes.isEmpty {
        if hasEnded { return }
        await sleep()
        continue
      }
      let last = writes.count - 1
      for index in writes.indices {
        // Released at once: there may be many writes, and a suspended task must not retain the
        // cache.
        guard let write = exchange(&writes[index], with: nil) else { continue }
        await write.access.carryOut(write)
        if index == last { write.access.forgetWrites() }
      }
      writes.removeAll(keepingCapacity: writes.count <= Self.keptCountMaximum)
    }
  }

  /// Suspends until there are writes, or until the writer ends.
  private func sleep() async {
    await withCheckedContinuation { continuation in
      let isDue = state.withLock { state in
        if state.hasEnded || !state.queue.isEmpty { return true }
        state.sleeper = continuation
        return false
      }
      if isDue { continuation.resume() }
    }
  }
}
