extension Entity {
  /// None: a type that is neither local nor remote has to say where it is kept.
  ///
  /// - Parameters:
  ///   - client: What carries requests.
  ///   - clientQueue: The queue of requests.
  ///   - cacheLimit: How many entities memory holds at most.
  ///   - diskStoreConfig: Where persistent entities live.
  /// - Returns: The stores.
  public static func stores(
    with client: (any APIClient)?, clientQueue: APIClientQueue?, cacheLimit: Int,
    diskStoreConfig: DiskStoreConfig
  ) -> [any Storing<Self>] {
    []
  }
}

extension LocalEntity {
  /// Memory, without limit: it is the only place.
  ///
  /// - Parameters:
  ///   - client: What carries requests.
  ///   - clientQueue: The queue of requests.
  ///   - cacheLimit: How many entities memory holds at most.
  ///   - diskStoreConfig: Where persistent entities live.
  /// - Returns: The stores.
  public static func stores(
    with client: (any APIClient)?, clientQueue: APIClientQueue?, cacheLimit: Int,
    diskStoreConfig: DiskStoreConfig
  ) -> [any Storing<Self>] {
    [InMemoryStore<Self>()]
  }
}

extension PersistentEntity {
  /// Memory before disk.
  ///
  /// - Parameters:
  ///   - client: What carries requests.
  ///   - clientQueue: The queue of requests.
  ///   - cacheLimit: How many entities memory holds at most.
  ///   - diskStoreConfig: Where persistent entities live.
  /// - Returns: The stores.
  public static func stores(
    with client: (any APIClient)?, clientQueue: APIClientQueue?, cacheLimit: Int,
    diskStoreConfig: DiskStoreConfig
  ) -> [any Storing<Self>] {
    diskStoreConfig.stores(of: Self.self, cacheLimit: cacheLimit)
  }
}

extension RemoteEntity {
  /// The server.
  ///
  /// - Parameters:
  ///   - client: What carries requests.
  ///   - clientQueue: The queue of requests.
  ///   - cacheLimit: How many entities memory holds at most.
  ///   - diskStoreConfig: Where persistent entities live.
  /// - Returns: The stores.
  public static func stores(
    with client: (any APIClient)?, clientQueue: APIClientQueue?, cacheLimit: Int,
    diskStoreConfig: DiskStoreConfig
  ) -> [any Storing<Self>] {
    remoteStores(clientQueue)
  }
}

extension LocalEntity where Self: RemoteEntity {
  /// Memory, without limit, and the server.
  ///
  /// - Parameters:
  ///   - client: What carries requests.
  ///   - clientQueue: The queue of requests.
  ///   - cacheLimit: How many entities memory holds at most.
  ///   - diskStoreConfig: Where persistent entities live.
  /// - Returns: The stores.
  public static func stores(
    with client: (any APIClient)?, clientQueue: APIClientQueue?, cacheLimit: Int,
    diskStoreConfig: DiskStoreConfig
  ) -> [any Storing<Self>] {
    [InMemoryStore<Self>()] + remoteStores(clientQueue)
  }
}

extension PersistentEntity where Self: RemoteEntity {
  /// Memory before disk, and the server.
  ///
  /// - Parameters:
  ///   - client: What carries requests.
  ///   - clientQueue: The queue of requests.
  ///   - cacheLimit: How many entities memory holds at most.
  ///   - diskStoreConfig: Where persistent entities live.
  /// - Returns: The stores.
  public static func stores(
    with client: (any APIClient)?, clientQueue: APIClientQueue?, cacheLimit: Int,
    diskStoreConfig: DiskStoreConfig
  ) -> [any Storing<Self>] {
    diskStoreConfig.stores(of: Self.self, cacheLimit: cacheLimit) + remoteStores(clientQueue)
  }
}

extension RemoteEntity {
  /// The server, if there is a way to it.
  fileprivate static func remoteStores(_ clientQueue: APIClientQueue?) -> [any Storing<Self>] {
    clientQueue.map { [RemoteStore<Self>(clientQueue: $0)] } ?? []
  }
}
