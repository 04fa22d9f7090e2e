/// Is told of every update and delete, also when it concerns no listener.
///
/// Called on the manager's delivery target, after the listeners whose trees the update changed. The
/// manager does not retain it.
public protocol ConsistencyManagerUpdatesListener: AnyObject, Sendable {
  /// Models were set or deleted.
  ///
  /// - Parameters:
  ///   - consistencyManager: The caller.
  ///   - update: What was set and deleted, and the context.
  func consistencyManager(
    _ consistencyManager: ConsistencyManager, processed update: ConsistencyManagerUpdate)
}
