import PandoLMDB
import PandoModels
import PandoStore
import PandoSystem

@testable import PandoConsistency
@testable import PandoProviders

/// Where a manager keeps its data.
enum Backing: String, CaseIterable, Sendable {
  case memory
  case cache
  case store
  case storeInMemory

  /// Whether there is a store.
  var hasStore: Bool { self == .store || self == .storeInMemory }

  /// The backings that can be fetched from.
  static let lasting: [Backing] = allCases

  /// Runs a test with a manager, which is drained and closed afterwards.
  func withManager<Result>(
    deliveringOn target: DeliveryTarget = .ownQueue, limits: DataModelManager.Limits = .init(),
    _ body: (DataModelManager) async throws -> Result
  ) async throws -> Result {
    switch self {
    case .memory: return try await body(DataModelManager(deliveringOn: target, limits: limits))
    case .cache:
      let cache = DictionaryCache()
      return try await body(
        DataModelManager(cacheDelegate: cache, deliveringOn: target, limits: limits))
    case .store, .storeInMemory:
      return try await withStore(self) { store in
        let manager = try DataModelManager(store: store, deliveringOn: target, limits: limits)
        let result = try await body(manager)
        await manager.close()
        return result
      }
    }
  }
}

/// Runs a test with an empty store, which is closed afterwards.
func withStore<Result>(
  _ backing: Backing = .store, _ body: (ModelStore) async throws -> Result
) async throws -> Result {
  var configuration = ModelStore.Configuration()
  configuration.mapSizeInBytes = 64 << 20
  configuration.durability = .unsynchronized
  let store =
    backing == .storeInMemory
    ? try ModelStore.inMemory(configuration: configuration)
    : try ModelStore.temporary(configuration: configuration)
  do {
    let result = try await body(store)
    await store.close()
    return result
  } catch {
    await store.close()
    throw error
  }
}

extension DataModelManager {
  /// As which types somebody shows a node or waits for it, besides what memory keeps.
  func liveTypes(of identifier: String) -> [any SimpleModel.Type] {
    let types = consistencyManager.liveTypes(of: identifier)
    return holdsOnlyKept(ByteString(identifier)) ? [] : types
  }

  /// How many nodes somebody shows or waits for, besides what memory keeps.
  var liveNodeCount: Int {
    let nodes = consistencyManager.registry.withLock { Array($0.entryNumbers.keys) }
    return nodes.count { !holdsOnlyKept($0) }
  }

  private func holdsOnlyKept(_ node: ByteString) -> Bool {
    guard case .memory = backing else { return false }
    return consistencyManager.registry.withLock { registry in
      guard let entry = registry.entryNumbers[node] else { return true }
      return registry.entries[entry].slots.allSatisfy {
        registry.rows[$0.row].owner is MemoryShelf
      }
    }
  }
}
