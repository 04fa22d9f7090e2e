import PandoModels
public import PandoProviders
package import PandoStore
import PandoSystem

/// The core managers of a service over one store, one for each entity type.
///
/// ```swift
/// let container = try CoreManagerContainer(
///   entities: Book.self, Author.self, cacheLimit: 512, diskStoreConfig: .path("data"))
/// let book = try await container[Book.self].get(byID: .remote("7"))
/// ```
/// With `import PandoRemote` it takes a client, and `.localOr(.remote())` reads from a server.
///
/// Several containers may share an open `ModelStore`, with other types and limits. Each has its own memory,
/// and sees all changes by the others, by providers and by plain writes.
///
/// - Note: Any thread.
public final class CoreManagerContainer: Sendable {
  /// Where the persistent entities of a container are stored.
  public typealias DiskStoreConfig = PandoManagers.DiskStoreConfig

  /// The default number of entities of a type in memory.
  public static let defaultCacheLimit = 1024

  /// Providers over the same store, in step with the managers.
  ///
  /// Beside a store on disk, entities of a type that is never on disk are shown here as managers set them.
  /// A provider writes such an entity to the store on disk, where no manager finds it.
  public let dataModelManager: DataModelManager

  /// The store of the persistent entities, open.
  public let diskStoreConfig: DiskStoreConfig

  /// The connection to the server of the entities; `nil` if there is none.
  package let server: (any ServerLink)?

  /// The store of types that are never on disk, if it is another one; it is closed with the container.
  package let memoryStore: ModelStore?

  private let managers: [ObjectIdentifier: any ContainedManager]
  private let continuous: FollowedScope
  var allManagers: [any ContainedManager] { Array(managers.values) }
  let isClosed = Locked(false)

  /// Opens a container: the store, the queue, and a manager for each entity type.
  ///
  /// It adds the indexes that the types declare and the store lacks.
  ///
  /// *Precondition:* the cache limit is not negative, and no type is named twice.
  ///
  /// - Parameters:
  ///   - first: The first entity type.
  ///   - others: The other entity types.
  ///   - cacheLimit: The largest number of entities of each persistent type in memory; 0 for no memory. Use 0
  ///     if memory would answer less than half of the gets of small entities. Types without a disk have no
  ///     limit, because it would lose entities; `LocalEntity` says how to set one.
  ///   - diskStoreConfig: Where persistent entities are stored.
  ///   - events: Receives errors that no caller receives.
  /// - Throws: ``ManagerError`` `incompatibleEntity` if no stored record of a type fits it; `StoreError`
  ///   `typeCollision` if two types have one name; the errors of opening the store.
  /// - Complexity: Independent of the size of the store, unless it is verified or migrated, or lacks an
  ///   index: O(*n* log *n*) for *n* records of the type. Reads records of each type until one fits.
  public convenience init<First: Entity, each Other: Entity>(
    entities first: First.Type, _ others: repeat (each Other).Type,
    cacheLimit: Int = CoreManagerContainer.defaultCacheLimit,
    diskStoreConfig: DiskStoreConfig = .none, events: ManagerEventHandler? = nil
  ) throws {
    try self.init(
      entities: first, repeat each others, cacheLimit: cacheLimit,
      diskStoreConfig: diskStoreConfig, events: events
    ) { _ in nil }
  }

  /// Unavailable: name the entity types.
  ///
  /// - Parameters:
  ///   - cacheLimit: As in the initializer with types.
  ///   - diskStoreConfig: As in the initializer with types.
  ///   - events: As in the initializer with types.
  /// - Throws: Nothing; it can't be called.
  /// - Complexity: O(1).
  @available(
    *, unavailable,
    message: "name the entity types: CoreManagerContainer(entities: Book.self, Author.self)"
  )
  public convenience init(
    cacheLimit: Int = CoreManagerContainer.defaultCacheLimit,
    diskStoreConfig: DiskStoreConfig = .none, events: ManagerEventHandler? = nil
  ) throws { preconditionFailure("a container without entity types is a compile error") }

  /// Opens a container with a connection to a server.
  ///
  /// - Parameters:
  ///   - first: The first entity type.
  ///   - others: The other entity types.
  ///   - cacheLimit: The largest number of entities of each persistent type in memory.
  ///   - diskStoreConfig: Where persistent entities are stored.
  ///   - events: Receives errors that no caller receives.
  ///   - makeServer: Makes the connection; its argument is the open store, `nil` if there is none.
  /// - Throws: As the initializer without a server.
  package init<First: Entity, each Other: Entity>(
    entities first: First.Type, _ others: repeat (each Other).Type, cacheLimit: Int,
    diskStoreConfig: DiskStoreConfig, events: ManagerEventHandler?,
    server makeServer: (ModelStore?) -> (any ServerLink)?
  ) throws {
    precondition(cacheLimit >= 0, "a container can't have the cache limit \(cacheLimit)")
    let config = try diskStoreConfig.opened()
    do {
      let builder = try ContainerBuilder(
        config, makeServer(config.modelStore), cacheLimit: cacheLimit, events)
      try builder.add(first)
      for type in repeat each others { try builder.add(type) }
      try builder.finish()
      dataModelManager = builder.continuous.providers
      managers = builder.managers
      continuous = builder.continuous
      server = builder.server
      memoryStore = builder.memoryStore === config.modelStore ? nil : builder.memoryStore
    } catch {
      if config.isOwned { config.modelStore?.close() }
      throw error
    }
    self.diskStoreConfig = config
    server?.beginUse()
  }

  /// The manager of an entity type.
  ///
  /// *Precondition:* the container was made with the type.
  ///
  /// - Parameter type: The entity type.
  public subscript<E: Entity>(type: E.Type) -> CoreManager<E> {
    guard let manager = manager(of: type) else {
      preconditionFailure(
        "the container has no \(E.modelTypeName); name the type where the container is made")
    }
    return manager
  }

  /// Returns the manager of an entity type.
  ///
  /// - Parameter type: The entity type.
  /// - Returns: The manager; `nil` if the container was made without the type.
  public func manager<E: Entity>(of type: E.Type) -> CoreManager<E>? {
    managers[ObjectIdentifier(type)] as? CoreManager<E>
  }

  /// The hits and misses of the caches, by the name of the entity type.
  public var cacheCounters: [(typeName: String, counters: (hits: Int, misses: Int))] {
    allManagers.map { ($0.typeName, $0.cacheCounters) }
  }

  /// Sets the clock for the ages of answers, in milliseconds since 1970.
  package func setClock(_ now: @escaping @Sendable () -> Int64) { continuous.setClock(now) }

  /// Publishes commits of other processes to providers and continuous results; other reads see them anyway.
  ///
  /// - Throws: `StoreError` or `LMDBError` if the store can't be read.
  /// - Complexity: O(*c* + *f*) for *c* nodes that others have changed and *f* nodes read again for
  ///   followers, and the wait.
  public func refresh() async throws {
    guard let store = diskStoreConfig.modelStore else { return }
    try await dataModelManager.refresh()
    try await StoreHub.hub(of: store).refresh()
  }

  /// Ends the continuous results and the providers, and closes the store if the container has opened it.
  ///
  /// Waiting requests stay in the store. A second call does nothing.
  ///
  /// - Complexity: O(*t*) for *t* types, and the wait for background reads, requests, commits and callbacks.
  public func close() async {
    let wasClosed = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return isClosed
    }
    guard !wasClosed else { return }
    for manager in managers.values { await manager.drain() }
    continuous.close()
    await server?.endUse()
    await dataModelManager.close()
    if diskStoreConfig.isOwned { await diskStoreConfig.modelStore?.close() }
    await memoryStore?.close()
  }
}
