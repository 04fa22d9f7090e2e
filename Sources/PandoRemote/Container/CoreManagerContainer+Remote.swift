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
  /// Indexes that the types declare and the store lacks are made. Requests that an earlier run has left
  /// are sent.
  ///
  /// *Precondition:* the cache limit is not negative, and no type is named twice.
  ///
  /// - Parameters:
  ///   - first: The first entity type.
  ///   - others: The other entity types.
  ///   - cacheLimit: How many entities of each persistent type memory holds before the disk at most; 0 for
  ///     no memory. Types that are in memory only have no limit.
  ///   - client: What carries requests; `nil` if no type is on a server.
  ///   - diskStoreConfig: Where persistent entities live.
  ///   - events: Told what goes wrong behind the back of every caller.
  /// - Throws: As the form without a client.
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

  /// Unavailable: a container without entity types can do nothing.
  ///
  /// - Parameters:
  ///   - cacheLimit: As of the form with types.
  ///   - client: As of the form with types.
  ///   - diskStoreConfig: As of the form with types.
  ///   - events: As of the form with types.
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
