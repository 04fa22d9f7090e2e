import LMDB

/// Hands events of the environment to the store's core, which exists a moment later.
final class EventRelay: Sendable {
  private let core = Locked<WeakCore>(WeakCore())

  private struct WeakCore { weak var core: StoreCore? }

  func connect(_ target: StoreCore) { core.withLock { $0.core = target } }

  func receive(_ event: EnvironmentEvent) {
    guard let core = core.withLock({ $0.core }) else { return }
    switch event {
    case .mapGrown(let size): core.report(.mapGrown(sizeInBytes: size))
    case .staleReadersCleared(let count): core.report(.staleReadersCleared(count: count))
    case .writesRefused: break  // the write that failed is reported with its error
    }
  }
}
