/// Receives the changes of a batch's members in one callback.
///
/// ```swift
/// func batchListener(
///   _ batchListener: BatchListener, hasUpdated listeners: [any ConsistencyManagerListener],
///   updates: ModelUpdates, context: (any Sendable)?
/// ) {
///   redraw()  // once for each update, for any number of changed members
/// }
/// ```
/// Called on the manager's delivery target. It must not block the thread, because later callbacks
/// wait for it.
///
/// Use ``ConsistencyManagerListener`` alone if each listener redraws its own view.
public protocol BatchListenerDelegate: AnyObject, Sendable {
  /// Called once for each update, after the members were called.
  ///
  /// - Parameters:
  ///   - batchListener: The batch.
  ///   - listeners: The changed members, in the order of their registration.
  ///   - updates: The union of the changes.
  ///   - context: The context of the update.
  func batchListener(
    _ batchListener: BatchListener, hasUpdated listeners: [any ConsistencyManagerListener],
    updates: ModelUpdates, context: (any Sendable)?)
}
