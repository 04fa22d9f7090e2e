extension CoreManager {
  /// How often the caches before the manager's local stores had what was asked for.
  public var cacheCounters: CacheCounters {
    stack.local.reduce(into: CacheCounters()) { sum, store in
      guard let counters = (store as? CacheStore<E>)?.counters else { return }
      sum.hits += counters.hits
      sum.misses += counters.misses
    }
  }
}
