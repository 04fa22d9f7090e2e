import PandoStore

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
  /// - Parameter configuration: The configuration of the container.
  /// - Returns: The stores.
  public static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
    configuration.memoryStores(of: Self.self)
  }
}

extension StackConfiguration {
  /// Makes the stores of a type that is never on disk.
  package func memoryStores<E: LocalEntity>(of type: E.Type) -> [any Storing<E>] {
    guard let memoryStore else { return [InMemoryStore<E>()] }
    return memoryStore.stores(of: type, cacheLimit: cacheLimit)
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
