import Dispatch
import Locking
import ModelCore

/// The one place where updates are worked out and published, in the order in which they were queued.
final class Pipeline: Sendable {
  enum Command: Sendable {
    case update(LiveUpdate)
    case run(@Sendable (PipelineScope) -> Void)
  }

  private struct State {
    var commands: [Command] = []
    var isDraining = false
  }

  private let queue = DispatchQueue(label: "pando.consistency")
  private let state = Locked(State())
  private let registry: Locked<LiveRegistry>
  private let deliverer: Deliverer
  private let publishing: ReadWriteLock

  init(registry: Locked<LiveRegistry>, deliverer: Deliverer, publishing: ReadWriteLock) {
    self.registry = registry
    self.deliverer = deliverer
    self.publishing = publishing
  }

  func enqueue(_ command: Command) {
    let starts = state.withLock { state in
      state.commands.append(command)
      defer { state.isDraining = true }
      return !state.isDraining
    }
    if starts { queue.async { self.drain() } }
  }

  private func drain() {
    let scope = PipelineScope(registry, deliverer, publishing)
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
        case .run(let work): work(scope)
        }
      }
    }
  }
}
