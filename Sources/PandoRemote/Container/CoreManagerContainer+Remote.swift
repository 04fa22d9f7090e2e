public import PandoManagers
import PandoStore
import PandoSystem

extension CoreManagerContainer {
  /// The queue of requests; `nil` without a client.
  public var clientQueue: APIClientQueue? { server as? APIClientQueue }

  /// Opens a container: the store, the queue, and a manager for each entity type.
  ///
  /// ```swift
  /// let container = try CoreManagerContainer(
  ///   entities: Book.self, Author.self, client: client, diskStoreConfig: .path("data"))
  /// let book = try await container[Book.self].get(byID: .remote("7"), in: .localOr(.remote()))
  /// ```
  /// It builds the indexes that the types declare and the store lacks, and sends the requests of an earlier run.
  ///
  /// *Precondition:* the cache limit is not negative, and no type is named twice.
  ///
  /// - Parameters:
  ///   - first: The first entity type.
  ///   - others: The other entity types.
  ///   - cacheLimit: The maximum number of entities of each persistent type in memory; 0 for none. Types that are only
  ///     in memory have no limit.
  ///   - client: The transport of requests; `nil` if no type is on a server.
  ///   - diskStoreConfig: Where persistent entities are stored.
  ///   - events: Called for failures that no call throws.
  /// - Throws: As the initializer without a client.
  public convenience init<First: Entity, each Other: Entity>(
    entities first: First.Type, _ others: repeat (each Other).Type,
    cacheLimit: Int = CoreManagerContainer.defaultCacheLimit,
    client: (any APIClient)?, diskStoreConfig: DiskStoreConfig = .none,
    events: ManagerEventHandler? = nil
  ) throws {
    try self.init(
      entities: first, repeat each others, cacheLimit: cacheLimit,
      diskStoreConfig: diskStoreConfig, events: events
    ) { store in
      guard let client else { return nil }
      guard let store else { return APIClientQueue(client: client) }
      return APIClientQueue.open(for: store, client: client)
    }
  }

  /// Unavailable: a container needs entity types.
  ///
  /// - Parameters:
  ///   - cacheLimit: Unused.
  ///   - client: Unused.
  ///   - diskStoreConfig: Unused.
  ///   - events: Unused.
  /// - Throws: Nothing; it can't be called.
  /// - Complexity: O(1).
  @available(
    *, unavailable,
    message: "name the entity types: CoreManagerContainer(entities: Book.self, Author.self)"
  )
  public convenience init(
    cacheLimit: Int = CoreManagerContainer.defaultCacheLimit, client: (any APIClient)?,
    diskStoreConfig: DiskStoreConfig = .none, events: ManagerEventHandler? = nil
  ) throws { preconditionFailure("a container without entity types is a compile error") }
}

extension APIClientQueue: ServerLink {
  package func beginUse() {
    state.withLock { $0.useCount += 1 }
    start()
  }

  package func endUse() async {
    let isLast = state.withLock { state in
      state.useCount -= 1
      return state.useCount == 0
    }
    if isLast { await close() }
  }
}
