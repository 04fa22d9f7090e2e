import PandoSystem

/// Knows of the tasks that run behind the back of every caller, so that one can wait for them.
final class TaskCounter: Sendable {
  private struct State {
    var tasks: [Int: Task<Void, Never>] = [:]
    var last = 0
  }

  private let state = Locked(State())

  /// Runs something in a task of its own.
  func start(_ body: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      state.last += 1
      let number = state.last
      // It can't be taken out before it is in: that needs the lock too.
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
