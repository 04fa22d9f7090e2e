extension Entity {
  /// None: a type that is neither local nor remote has to say where it is kept.
  ///
  /// - Parameter configuration: What the container has been made with.
  /// - Returns: The stores.
  public static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
    []
  }
}

extension LocalEntity {
  /// Memory, without limit, whatever the configuration says: it is the only place.
  ///
  /// - Parameter configuration: What the container has been made with.
  /// - Returns: The stores.
  public static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
    [InMemoryStore<Self>()]
  }
}

extension PersistentEntity {
  /// Memory before disk.
  ///
  /// - Parameter configuration: What the container has been made with.
  /// - Returns: The stores.
  public static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
    configuration.diskStoreConfig.stores(of: Self.self, cacheLimit: configuration.cacheLimit)
  }
}
