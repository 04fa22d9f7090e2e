import PandoConsistency
import PandoSystem

extension DataModelManager {
  /// Waits until everything that is queued is committed and delivered.
  ///
  /// That is: writes to store and cache, fetches from the store, and callbacks of all providers. A `QueryDataProvider`
  /// that is not paused has shown what is committed in the store that its query follows, and told its delegate; the
  /// answer of a server is not waited for. What callbacks queue anew is not waited for. A callback or cache that never
  /// returns makes this wait for ever.
  ///
  /// *Precondition:* not called from a callback, which would wait for itself.
  ///
  /// - Complexity: O(*q*) for *q* query providers, and the wait for what is queued.
  public func drain() async {
    switch backing {
    case .store(let bridge):
      await bridge.drain()
      await bridge.loaded()  // what has waited for writes
    case .cache(let cache):
      await fetchedChanges.withLock { $0.last }?.value
      await consistencyManager.processed()  // what changes live trees goes on to the cache
      await cache.idle()
    case .memory: break
    }
    await consistencyManager.processed()
    await observed.catchUp()
    await consistencyManager.delivered()
    await withCheckedContinuation { continuation in
      reporter.afterReports { continuation.resume() }
    }
  }

  /// Ends the work in good order, as at a SIGTERM: what is queued is committed and delivered, later
  /// changes and fetches are refused with the error `closed`.
  ///
  /// The store is left open; close it afterwards. Closing twice is closing once.
  ///
  /// - Complexity: As ``drain()``, and O(*p*) for *p* providers that somebody iterates over.
  public func close() async {
    await fetchedChanges.withLock { $0.last }?.value
    isClosed.withLock { $0 = true }
    await drain()
    observed.finish()
  }

  /// Takes in what other processes have committed.
  ///
  /// Commits of this process are taken in by themselves. Without a store there is nothing to do.
  ///
  /// - Throws: `StoreError` or `LMDBError` when the store can't be read.
  /// - Complexity: The wait for updates that are queued, O(*c*) for *c* changes of the commits, and the reading of
  ///   those nodes among them that are live. Where the change log does not reach back that far, all that is live is
  ///   read.
  public func refresh() async throws {
    guard case .store(let bridge) = backing else { return }
    try await bridge.refresh().committed()
  }
}

extension ConsistencyManager {
  /// Waits until what is queued on the pipeline is worked out and published.
  func processed() async {
    await withCheckedContinuation { continuation in
      enqueue { _ in continuation.resume() }
    }
  }

  /// Waits until the callbacks that are queued have returned.
  func delivered() async {
    await withCheckedContinuation { continuation in
      deliverer.enqueue { continuation.resume() }
    }
  }
}
