import Dispatch
import PandoConsistency
import PandoFixtures
import PandoProviders
import PandoStore

/// Keeps a manager's changes from being committed or shown until it is opened.
final class Gate: Sendable {
  private let opening = Event()

  init() {}

  /// Stops the pipeline.
  init(stopping manager: DataModelManager) {
    manager.consistencyManager.enqueue { [opening] _ in opening.wait() }
  }

  /// Stops the writer of a store.
  init(stopping store: ModelStore) {
    let isStopped = Event()
    let opening = opening
    DispatchQueue(label: "gate").async {
      try? store.write { _ in
        isStopped.signal()
        opening.wait()
      }
    }
    isStopped.wait()
  }

  func open() { opening.signal() }
}

extension Backing {
  /// Runs a test with a manager that can be stopped before a change is committed.
  func withStoppableManager(
    _ body: (DataModelManager, () -> Gate) async throws -> Void
  ) async throws {
    switch self {
    case .memory:
      let manager = DataModelManager()
      try await body(manager) { Gate(stopping: manager) }
    case .cache:
      let manager = DataModelManager(cacheDelegate: DictionaryCache())
      try await body(manager) { Gate(stopping: manager) }
    case .store, .storeInMemory:
      try await withStore(self) { store in
        let manager = try DataModelManager(store: store)
        try await body(manager) { Gate(stopping: store) }
        await manager.close()
      }
    }
  }
}
