import PandoModels
public import PandoProviders
package import PandoStore
import PandoSystem

/// The core managers of a service, one for each entity type, over one store.
///
/// ```swift
/// let container = try CoreManagerContainer(
///   entities: Book.self, Author.self, cacheLimit: 512, diskStoreConfig: .path("data"))
/// let book = try await container[Book.self].get(byID: .remote("7"))
/// ```
/// With `import PandoRemote` it takes a client, too, and `.localOr(.remote())` asks a server.
///
/// Several containers may share an open `ModelStore`, with other types and other limits: each has a
/// memory of its own, and all see what any of them, a provider or a plain write changes.
///
/// - Note: Any thread.
public final class CoreManagerContainer: Sendable {
  /// Where the persistent entities of a container live.
  public typealias DiskStoreConfig = PandoManagers.DiskStoreConfig

  /// How many entities of a type memory holds where nothing else is said.
  public static let defaultCacheLimit = 1024

  /// Providers over the same store: they show what managers set, and the other way round.
  ///
  /// Beside a store on disk, entities of a type that is never on disk are shown here as managers set them.
  /// A provider writes such an entity to the store on disk, where no manager finds it.
  public let dataModelManager: DataModelManager

  /// Where the persistent entities live, with the store open.
  public let diskStoreConfig: DiskStoreConfig

  /// The way to the server of the entities; `nil` if there is none.
  package let server: (any ServerLink)?

  /// The store of types that are never on disk, if it is another one; it is closed with the container.
  let memoryStore: ModelStore?

  private let managers: [ObjectIdentifier: any ContainedManager]
  private let continuous: ContinuousScope
  var allManagers: [any ContainedManager] { Array(managers.values) }
  let isClosed = Locked(false)

  /// Opens a container: the store, the queue, and a manager for each entity type.
  ///
  /// Indexes that the types declare and the store lacks are made.
  ///
  /// *Precondition:* the cache limit is not negative, and no type is named twice.
  ///
  /// - Parameters:
  ///   - first: The first entity type.
  ///   - others: The other entity types.
  ///   - cacheLimit: How many entities of each persistent type memory holds before the disk at most; 0 for
  ///     no memory, which is faster for small entities of which less than every second get finds one there.
  ///     Types that are in memory only have no limit: it would lose entities. `LocalEntity` says how to set
  ///     one.
  ///   - diskStoreConfig: Where persistent entities live.
  ///   - events: Told what goes wrong behind the back of every caller.
  /// - Throws: ``ManagerError`` `incompatibleEntity` when nothing of what is stored of a type fits it any
  ///   more (one record that fits is enough to open); `StoreError` `typeCollision` when two types have
  ///   one name; what opening the store throws.
  /// - Complexity: Independent of the size of the store, unless it is verified or migrated, or lacks an index:
  ///   O(*n* log *n*) for *n* records of the type. Of each type records are read until one fits.
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

  /// Unavailable: a container without entity types can do nothing.
  ///
  /// - Parameters:
  ///   - cacheLimit: As of the form with types.
  ///   - diskStoreConfig: As of the form with types.
  ///   - events: As of the form with types.
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

  /// Opens a container with a way to a server.
  ///
  /// - Parameters:
  ///   - first: The first entity type.
  ///   - others: The other entity types.
  ///   - cacheLimit: How many entities of each persistent type memory holds before the disk at most.
  ///   - diskStoreConfig: Where persistent entities live.
  ///   - events: Told what goes wrong behind the back of every caller.
  ///   - makeServer: Makes the way to the server; it gets the open store, `nil` if there is none.
  /// - Throws: As the form without.
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

  /// How often the caches had what was asked for, by the name of the entity type.
  public var cacheCounters: [(typeName: String, counters: CacheCounters)] {
    allManagers.map { ($0.typeName, $0.cacheCounters) }
  }

  /// Has the age of answers counted by another clock, which gives milliseconds since 1970.
  package func setClock(_ now: @escaping @Sendable () -> Int64) { continuous.setClock(now) }

  /// Takes in what other processes have committed: for providers and continuous results; single reads
  /// see it anyway.
  ///
  /// - Throws: `StoreError` or `LMDBError` when the store can't be read.
  /// - Complexity: O(*c* + *f*) for *c* nodes that others have changed and *f* that are read again for who
  ///   follows, and the wait.
  public func refresh() async throws {
    guard let store = diskStoreConfig.modelStore else { return }
    try await dataModelManager.refresh()
    try await StoreHub.hub(of: store).refresh()
  }

  /// Ends the container: continuous results end, providers too, and the store is closed if the
  /// container has opened it.
  ///
  /// Requests that wait stay in the store. Closing twice is closing once.
  ///
  /// - Complexity: O(*t*) for *t* types, and the wait for what is under way: reads behind callers' backs,
  ///   requests, commits and callbacks.
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
