extension CoreManager {
  /// How many reads by identifier the caches in memory, and how many the stores behind them answered.
  ///
  /// ```swift
  /// let (hits, misses) = container[Book.self].cacheCounters
  /// print(hits, "of", hits + misses, "reads came from memory")
  /// ```
  public var cacheCounters: (hits: Int, misses: Int) {
    let counters = stack.local.compactMap { ($0 as? CacheStore<E>)?.counters }
    return (
      counters.reduce(0) { $0 + $1.hits }, counters.reduce(0) { $0 + $1.misses }
    )
  }
}
