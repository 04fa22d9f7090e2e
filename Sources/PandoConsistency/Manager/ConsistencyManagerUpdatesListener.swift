/// Receives all updates and deletes, also those that change no listener's tree.
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
/// The manager calls it on its delivery target, after the listeners whose trees the update changed.
/// It must not block the thread, because later callbacks wait for it. The manager does not retain
/// it.
///
/// Use a ``ConsistencyManagerListener`` for the changes of one tree.
public protocol ConsistencyManagerUpdatesListener: AnyObject, Sendable {
  /// Models were set or deleted.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - update: The models set and deleted, and the context.
  func consistencyManager(
    _ consistencyManager: ConsistencyManager, processed update: ConsistencyManagerUpdate)
}
