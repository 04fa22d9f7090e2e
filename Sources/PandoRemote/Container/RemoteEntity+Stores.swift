public import PandoManagers

extension RemoteEntity {
  /// The server.
  ///
  /// - Parameter configuration: What the container has been made with.
  /// - Returns: The stores.
  public static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
    remoteStores(configuration)
  }
}

extension LocalEntity where Self: RemoteEntity {
  /// Memory, without limit, whatever the configuration says, and the server.
  ///
  /// - Parameter configuration: What the container has been made with.
  /// - Returns: The stores.
  public static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
    configuration.memoryStores(of: Self.self) + remoteStores(configuration)
  }
}

extension PersistentEntity where Self: RemoteEntity {
  /// Memory before disk, and the server.
  ///
  /// - Parameter configuration: What the container has been made with.
  /// - Returns: The stores.
  public static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
    configuration.diskStoreConfig.stores(of: Self.self, cacheLimit: configuration.cacheLimit)
      + remoteStores(configuration)
  }
}

extension RemoteEntity {
  /// The server, if there is a way to it.
  fileprivate static func remoteStores(_ configuration: StackConfiguration) -> [any Storing<Self>] {
    configuration.clientQueue.map { [RemoteStore<Self>(clientQueue: $0)] } ?? []
  }
}

extension StackConfiguration {
  /// The queue of requests, for a `RemoteStore`; `nil` without a client.
  public var clientQueue: APIClientQueue? { server as? APIClientQueue }

  /// What carries requests; `nil` if the container has none.
  public var client: (any APIClient)? { clientQueue?.client }
}
