extension CoreManager {
  /// The hits and misses of the caches before the manager's local stores.
  public var cacheCounters: CacheCounters {
    let counters = stack.local.compactMap { ($0 as? CacheStore<E>)?.counters }
    return CacheCounters(
      hits: counters.reduce(0) { $0 + $1.hits }, misses: counters.reduce(0) { $0 + $1.misses })
  }
}
