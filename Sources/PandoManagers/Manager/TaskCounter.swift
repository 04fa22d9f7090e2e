import PandoSystem

/// The background tasks of a manager, so that a caller can wait for them.
final class TaskCounter: Sendable {
  private struct State {
    var tasks: [Int: Task<Void, Never>] = [:]
    var last = 0
  }

  private let state = Locked(State())

  /// Runs `body` in a task of its own.
  func start(_ body: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      state.last += 1
      let number = state.last
      // The task can't remove its number before it is added: its end takes the lock too.
      state.tasks[number] = Task { [self] in
        await body()
        self.state.withLock { $0.tasks[number] = nil }
      }
    }
  }

  /// Waits until no task is left.
  func drain() async {
    while let task = state.withLock({ $0.tasks.first?.value }) { await task.value }
  }
}
