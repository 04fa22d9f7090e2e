import PandoStore

extension DiskStoreConfig {
  /// Makes the default stores of a persistent type: a limited memory before the store.
  ///
  /// - Parameters:
  ///   - type: The entity type.
  ///   - cacheLimit: The largest number of entities in memory; 0 for no memory.
  /// - Returns: The stores; an ``InMemoryStore`` before a container has opened the store.
  public func stores<E: LocalEntity>(
    of type: E.Type, cacheLimit: Int
  ) -> [any Storing<E>] {
    modelStore?.stores(of: type, cacheLimit: cacheLimit) ?? [InMemoryStore<E>()]
  }
}

extension ModelStore {
  /// Makes a store of entities here, behind a limited memory.
  func stores<E: LocalEntity>(of type: E.Type, cacheLimit: Int) -> [any Storing<E>] {
    let disk = DiskStore<E>(modelStore: self)
    guard cacheLimit > 0 else { return [disk] }
    let cache = CacheStore<E>(disk) { follower in
      guard let follower else {
        return GivenCacheMemory(LRUStore(store: InMemoryStore(), limit: cacheLimit), nil)
      }
      return LimitedCacheMemory(limit: cacheLimit, follower)
    }
    return [cache]
  }
}
