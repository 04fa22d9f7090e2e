/// Receives the flushes and events of a store, for metrics, traces and logs of a service.
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
/// `StoreMetrics` of the product PandoMetrics is an observer that counts and prints for Prometheus.
///
/// - Note: Called on the threads that do the work, so it must be fast; it must not use the store.
public protocol StoreObserver: Sendable {
  /// Called after writes were committed together, or received from a log.
  ///
  /// A transaction without changes causes no call. The committing thread calls it after the commit,
  /// before the callers continue.
  ///
  /// - Parameter flush: The figures of the flush.
  func storeDidFlush(_ flush: StoreFlush)

  /// Called for an event that a service may want to log; `events` receives it, too.
  ///
  /// - Parameter event: The event.
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
  /// The number of writes with changes in the transaction, at least 1.
  public let writeCount: Int
  /// The time from the begin of the transaction to the end of the commit, with the flush.
  public let duration: Duration
  /// The number of queued writes.
  public let queuedWriteCount: Int
}
