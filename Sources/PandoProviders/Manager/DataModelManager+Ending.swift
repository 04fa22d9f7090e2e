import PandoConsistency
import PandoSystem

extension DataModelManager {
  /// Waits until all queued work is committed and delivered.
  ///
  /// Queued work is: writes to store and cache, fetches from the store, and callbacks of all
  /// providers. A `QueryDataProvider` that is not paused has then shown the commits of its store
  /// and called its delegate. This call does not wait for answers of a server, for reads of a custom
  /// cache, or for work that callbacks queue. It waits forever if a callback or the cache never returns.
  ///
  /// *Precondition:* It is not called from a callback, which would wait for itself.
  ///
  /// - Complexity: O(*q*) for *q* query providers, and the wait for queued work.
  public func drain() async {
    switch backing {
    case .store(let bridge):
      await bridge.drain()
      await bridge.line.loaded()  // loads that have waited for writes
    case .cache(let cache):
      await fetchedChanges.withLock { $0.last }?.value
      await consistencyManager.processed()  // the pipeline passes changes on to the cache
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

  /// Ends the manager in good order, for example after SIGTERM.
  ///
  /// Queued work is committed and delivered. Later changes and fetches are refused with the error
  /// `closed`. The store stays open; close it afterwards. A second call has no effect.
  ///
  /// - Complexity: As ``drain()``, and O(*p*) for *p* providers with observers.
  public func close() async {
    await fetchedChanges.withLock { $0.last }?.value
    isClosed.withLock { $0 = true }
    await drain()
    observed.finish()
  }

  /// Shows the commits of other processes.
  ///
  /// Commits of this process are shown without this call. Without a store it does nothing.
  ///
  /// - Throws: `StoreError` or `LMDBError` if the store can't be read.
  /// - Complexity: The wait for queued updates, O(*c*) for *c* changes of the commits, and the read
  ///   of the live nodes among them. If the change log does not reach back that far, all live data
  ///   are read.
  public func refresh() async throws {
    guard case .store(let bridge) = backing else { return }
    try await bridge.refresh().committed()
  }
}

extension ConsistencyManager {
  /// Waits until the queued work of the pipeline is published.
  func processed() async {
    await withCheckedContinuation { continuation in
      enqueue { _ in continuation.resume() }
    }
  }

  /// Waits until the queued callbacks have returned.
  func delivered() async {
    await withCheckedContinuation { continuation in
      deliverer.enqueue { continuation.resume() }
    }
  }
}
