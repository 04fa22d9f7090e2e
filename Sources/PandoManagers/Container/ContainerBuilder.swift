import PandoModels
import PandoProviders
import PandoStore

/// A manager of any type.
protocol ContainedManager: AnyObject, Sendable {
  /// Ends a synchronization, and waits for the background reads.
  func drain() async

  /// The name of the entity type.
  var typeName: String { get }

  var cacheCounters: (hits: Int, misses: Int) { get }

  /// Removes the entities that are in no store on disk.
  func removeFromMemory() async throws
}

extension CoreManager: ContainedManager {
  var typeName: String { E.modelTypeName }

  func removeFromMemory() async throws {
    answers.forget()
    guard stack.followedStore == nil, !stack.local.isEmpty else { return }
    // A page may be stored between the two writes, so the state is removed twice.
    changes?.ledger.set(nil)
    _ = try await removeAll(withQuery: .all, in: .local)
    changes?.ledger.set(nil)
  }
}

/// Makes the managers of a container.
final class ContainerBuilder {
  let server: (any ServerLink)?
  let continuous: FollowedScope
  private(set) var managers: [ObjectIdentifier: any ContainedManager] = [:]
  /// The store of types that are never on disk: that of the container, or one beside it.
  private(set) var memoryStore: ModelStore?
  private let config: DiskStoreConfig
  private let cacheLimit: Int
  private let events: ManagerEventHandler?
  /// The types with the store of their entities.
  private var stored: [(store: ModelStore, type: any Entity.Type)] = []

  init(
    _ config: DiskStoreConfig, _ server: (any ServerLink)?, cacheLimit: Int,
    _ events: ManagerEventHandler?
  ) throws {
    let providers = try config.modelStore.map { try DataModelManager(store: $0) }
    continuous = FollowedScope(
      providers ?? DataModelManager(), store: config.modelStore)
    self.config = config
    self.server = server
    self.cacheLimit = cacheLimit
    self.events = events
  }

  /// Makes the manager of a type.
  func add<E: Entity>(_ type: E.Type) throws {
    precondition(managers[ObjectIdentifier(type)] == nil, "\(E.modelTypeName) is named twice")
    try check(type)
    if E.self is any LocalEntity.Type, !(E.self is any PersistentEntity.Type) { try openMemory() }
    let stores = E.stores(
      with: StackConfiguration(
        cacheLimit: cacheLimit, diskStoreConfig: config, memoryStore: memoryStore, server: server))
    let manager = CoreManager(stores: stores, events: events, continuous: continuous)
    if let store = manager.stack.followedStore { stored.append((store, type)) }
    managers[ObjectIdentifier(type)] = manager
    continuous.add(manager, of: type)
    server?.register(type)
  }

  /// Opens the store of types that are never on disk.
  private func openMemory() throws {
    guard memoryStore == nil else { return }
    if let store = config.modelStore, store.isInMemory {
      memoryStore = store
      return
    }
    let store = try ModelStore.inMemory()
    try continuous.providers.follow(store)
    memoryStore = store
  }

  /// Adds the indexes that the types declare.
  func finish() throws {
    let stores = [config.modelStore, memoryStore === config.modelStore ? nil : memoryStore]
    for store in stores.compactMap({ $0 }) {
      if let events, config.isOwned || store !== config.modelStore {
        store.setScanHandler { events(ManagerEvent(.scannedQuery, $0.typeName, $0)) }
      }
      if !store.isReadOnly {
        try store.addIndexes(of: stored.filter { $0.store === store }.map(\.type))
      }
    }
  }

  /// Throws if no stored record of a type fits it.
  private func check<E: Entity>(_ type: E.Type) throws {
    guard let store = config.modelStore, E.self is any PersistentEntity.Type else { return }
    // A single record that does not fit is no error here.
    guard let record = try store.read({ try $0.incompatibility(of: type) }) else { return }
    throw ManagerError(
      .incompatibleEntity, E.modelTypeName,
      "nothing of what is stored fits the type any more; give a new field a default or its former "
        + "name (FieldHistory), or open the store with a Migration; nothing was changed",
      underlying: [record.error])
  }
}
