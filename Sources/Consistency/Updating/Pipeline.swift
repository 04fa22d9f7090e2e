import Dispatch
import Locking
import ModelCore

/// The one place where updates are worked out and published, in the order in which they were queued.
final class Pipeline: Sendable {
  enum Command: Sendable {
    case update(LiveUpdate)
    /// An update in memory that ``ConsistencyManager/clearListenersAndCancelAllTasks()`` can cancel.
    case cancellable(LiveUpdate, epoch: UInt64)
    case run(@Sendable (PipelineScope) -> Void)
  }

  private struct State {
    var commands: [Command] = []
    var isDraining = false
    /// Grows when what is queued is cancelled.
    var epoch: UInt64 = 0
  }

  private let queue = DispatchQueue(label: "pando.consistency")
  private let state = Locked(State())
  private let context: PipelineContext

  init(_ context: PipelineContext) { self.context = context }

  func enqueue(_ command: Command) {
    let starts = state.withLock { state in
      state.commands.append(command)
      defer { state.isDraining = true }
      return !state.isDraining
    }
    if starts { queue.async { self.drain() } }
  }

  /// Queues an update that can be cancelled.
  func enqueueCancellable(_ update: LiveUpdate) {
    enqueue(.cancellable(update, epoch: state.withLock { $0.epoch }))
  }

  /// Cancels what can be.
  func cancelAll() { state.withLock { $0.epoch += 1 } }

  private func drain() {
    let scope = PipelineScope(context)
    while true {
      let commands = state.withLock { state in
        let commands = exchange(&state.commands, with: [])
        if commands.isEmpty { state.isDraining = false }
        return commands
      }
      if commands.isEmpty { return }
      for command in commands {
        switch command {
        case .update(let update): scope.apply(update)
        case .cancellable(let update, let epoch):
          if state.withLock({ $0.epoch == epoch }) { scope.apply(update) }
        case .run(let work): work(scope)
        }
      }
    }
  }
}
