/// Is told once an update, after the members of a batch have been told.
///
/// ```swift
/// func batchListener(
///   _ batchListener: BatchListener, hasUpdated listeners: [any ConsistencyManagerListener],
///   updates: ModelUpdates, context: (any Sendable)?
/// ) {
///   redraw()  // once, however many members the update has changed
/// }
/// ```
/// Called on the manager's delivery target, whose thread it must not block: the calls behind it wait.
public protocol BatchListenerDelegate: AnyObject, Sendable {
  /// Members of the batch were updated.
  ///
  /// Called on the manager's delivery target.
  ///
  /// - Parameters:
  ///   - batchListener: The caller.
  ///   - listeners: The members that were told, in the order of their registration.
  ///   - updates: The union of what changed.
  ///   - context: What the poster of the update passed along.
  func batchListener(
    _ batchListener: BatchListener, hasUpdated listeners: [any ConsistencyManagerListener],
    updates: ModelUpdates, context: (any Sendable)?)
}
