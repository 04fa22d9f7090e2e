import PandoSystem
import PandoLMDB

/// Hands events of the environment to the store's core, which exists a moment later.
///
/// What comes before that moment waits for it. Any thread.
final class EventRelay: Sendable {
  private struct State {
    weak var core: StoreCore?
    /// What came before there was a core.
    var early: [EnvironmentEvent]? = []
  }

  private let state = Locked(State())

  func connect(_ target: StoreCore) {
    let early = state.withLock { state in
      state.core = target
      return exchange(&state.early, with: nil)
    }
    for event in early ?? [] { tell(target, event) }
  }

  func receive(_ event: EnvironmentEvent) {
    let core = state.withLock { state in
      state.early?.append(event)
      return state.core
    }
    if let core { tell(core, event) }
  }

  private func tell(_ core: StoreCore, _ event: EnvironmentEvent) {
    switch event {
    case .mapGrown(let size): core.report(.mapGrown(sizeInBytes: size))
    case .staleReadersCleared(let count): core.report(.staleReadersCleared(count: count))
    case .writeQueued: break  // the store has a writer of its own
    case .writesRefused: break  // the write that failed is reported with its error
    }
  }
}
