import Dispatch
import Pando

/// Keeps changes from being committed or shown until it is opened.
struct LiveGate {
  private let opening = DispatchSemaphore(value: 0)

  /// Stops the writer of a store.
  init(stopping store: ModelStore) {
    let opening = opening
    Self.begin { reached in
      try? store.write { _ in
        reached.signal()
        opening.wait()
        opening.signal()  // the closure may run again
      }
    }
  }

  /// Stops what a manager without a store shows.
  init(stopping manager: DataModelManager) {
    let opening = opening
    Self.begin { reached in
      manager.snapshot { _ in
        reached.signal()
        opening.wait()
      }
    }
  }

  private static func begin(_ body: @escaping @Sendable (DispatchSemaphore) -> Void) {
    let reached = DispatchSemaphore(value: 0)
    DispatchQueue(label: "gate").async { body(reached) }
    reached.wait()
  }

  func open() { opening.signal() }
}
