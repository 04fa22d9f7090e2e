/// Is told of every update and delete, also when it concerns no listener.
///
/// ```swift
/// final class UpdateLog: ConsistencyManagerUpdatesListener {
///   func consistencyManager(
///     _ manager: ConsistencyManager, processed update: ConsistencyManagerUpdate
///   ) {
///     print(update.changes.map(\.modelIdentifier), update.deletedModelIdentifiers)
///   }
/// }
/// ```
///
/// Called on the manager's delivery target, after the listeners whose trees the update changed. It must not
/// block the thread there: the calls behind it wait. The manager does not retain it.
public protocol ConsistencyManagerUpdatesListener: AnyObject, Sendable {
  /// Models were set or deleted.
  ///
  /// - Parameters:
  ///   - consistencyManager: The caller.
  ///   - update: What was set and deleted, and the context.
  func consistencyManager(
    _ consistencyManager: ConsistencyManager, processed update: ConsistencyManagerUpdate)
}
