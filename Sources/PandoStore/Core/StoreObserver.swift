/// Is told what a store does: for the metrics, traces and logs of a service.
///
/// ```swift
/// struct FlushSpans: StoreObserver {
///   func storeDidFlush(_ flush: StoreFlush) {
///     print("\(flush.writeCount) writes took \(flush.duration)")
///   }
/// }
/// var configuration = ModelStore.Configuration()
/// configuration.observer = FlushSpans()
/// ```
///
/// `StoreMetrics` of the product PandoMetrics is one that counts, and prints what Prometheus reads.
///
/// - Note: Called on the threads that do the work, so what it does has to be short; it must not use the store.
public protocol StoreObserver: Sendable {
  /// Writes have been committed together, or taken in from a log.
  ///
  /// Of a transaction that has changed nothing nobody is told.
  /// Called after the commit and before its callers go on, on the thread that has committed.
  ///
  /// - Parameter flush: What the flush was like.
  func storeDidFlush(_ flush: StoreFlush)

  /// Something has happened that a service may want to log; `events` of the configuration is told too.
  ///
  /// - Parameter event: What has happened.
  func storeDidReport(_ event: StoreEvent)
}

extension StoreObserver {
  /// Does nothing.
  public func storeDidFlush(_ flush: StoreFlush) {}
  /// Does nothing.
  public func storeDidReport(_ event: StoreEvent) {}
}

/// Writes that were committed together.
///
/// ```swift
/// func storeDidFlush(_ flush: StoreFlush) {
///   let start = ContinuousClock.now - flush.duration  // of a span that ends now
/// }
/// ```
public struct StoreFlush: Sendable {
  /// How many writes that have changed something shared the transaction, at least 1.
  public let writeCount: Int
  /// How long it took from the begin of the transaction to the end of the commit, with the flush to the disk.
  public let duration: Duration
  /// How many writes wait behind it.
  public let queuedWriteCount: Int
}
