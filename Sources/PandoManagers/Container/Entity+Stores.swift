import PandoStore

extension Entity {
  /// Returns no store: a type that is neither local nor remote implements this method.
  ///
  /// - Parameter configuration: The options of the container.
  /// - Returns: No store.
  public static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
    []
  }
}

extension LocalEntity {
  /// Returns stores in memory, without a limit, because no other store has the entities.
  ///
  /// - Parameter configuration: The options of the container.
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
  /// Returns a memory before the disk.
  ///
  /// - Parameter configuration: The options of the container.
  /// - Returns: The stores.
  public static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
    configuration.diskStoreConfig.stores(of: Self.self, cacheLimit: configuration.cacheLimit)
  }
}
