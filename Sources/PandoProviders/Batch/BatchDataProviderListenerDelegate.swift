/// Hears of changes of several providers at once.
///
/// ```swift
/// func batchDataProviderListenerHasUpdatedDataProviders(
///   _ batchListener: BatchDataProviderListener, dataProviders: [any AnyDataProvider],
///   context: (any Sendable)?
/// ) {
///   redraw()  // once, however many providers have changed
/// }
/// ```
///
/// It must not block the thread of the delivery target: the calls behind it wait.
public protocol BatchDataProviderListenerDelegate: AnyObject, Sendable {
  /// Called once an update, after the providers' own delegates, on the manager's delivery target.
  ///
  /// - Parameters:
  ///   - batchListener: The caller.
  ///   - dataProviders: The members that were told, in the order in which they were.
  ///   - context: What the change was made with.
  func batchDataProviderListenerHasUpdatedDataProviders(
    _ batchListener: BatchDataProviderListener, dataProviders: [any AnyDataProvider],
    context: (any Sendable)?)
}
