/// Receives the changes of several providers in one callback.
///
/// ```swift
/// func batchDataProviderListenerHasUpdatedDataProviders(
///   _ batchListener: BatchDataProviderListener, dataProviders: [any AnyDataProvider],
///   context: (any Sendable)?
/// ) {
///   redraw()  // once for each update, for any number of changed providers
/// }
/// ```
///
/// It must not block the thread of the delivery target, because later callbacks wait for it.
///
/// Use the delegate of a single provider if each of them has its own view.
public protocol BatchDataProviderListenerDelegate: AnyObject, Sendable {
  /// Called once for each update, on the manager's delivery target.
  ///
  /// The providers' own delegates are called before.
  ///
  /// - Parameters:
  ///   - batchListener: The batch.
  ///   - dataProviders: The changed members, in the order of their callbacks.
  ///   - context: The context of the change.
  func batchDataProviderListenerHasUpdatedDataProviders(
    _ batchListener: BatchDataProviderListener, dataProviders: [any AnyDataProvider],
    context: (any Sendable)?)
}
