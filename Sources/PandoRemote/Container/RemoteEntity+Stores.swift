public import PandoManagers

extension RemoteEntity {
  /// The server.
  ///
  /// - Parameter configuration: The configuration of the container.
  /// - Returns: The stores.
  public static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
    remoteStores(configuration)
  }
}

extension LocalEntity where Self: RemoteEntity {
  /// Memory and the server.
  ///
  /// - Parameter configuration: The configuration of the container.
  /// - Returns: The stores.
  public static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
    configuration.memoryStores(of: Self.self) + remoteStores(configuration)
  }
}

extension PersistentEntity where Self: RemoteEntity {
  /// Memory before disk, and the server.
  ///
  /// - Parameter configuration: The configuration of the container.
  /// - Returns: The stores.
  public static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
    configuration.diskStoreConfig.stores(of: Self.self, cacheLimit: configuration.cacheLimit)
      + remoteStores(configuration)
  }
}

extension RemoteEntity {
  /// The server, if the container has a client.
  fileprivate static func remoteStores(_ configuration: StackConfiguration) -> [any Storing<Self>] {
    configuration.clientQueue.map { [RemoteStore<Self>(clientQueue: $0)] } ?? []
  }
}

extension StackConfiguration {
  /// The queue of requests, for a `RemoteStore`; `nil` without a client.
  public var clientQueue: APIClientQueue? { server as? APIClientQueue }

  /// The transport of requests; `nil` if the container has none.
  public var client: (any APIClient)? { clientQueue?.client }
}
