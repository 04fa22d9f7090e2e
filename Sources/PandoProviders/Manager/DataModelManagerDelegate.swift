/// Receives failures and other events of a manager.
///
/// ```swift
/// final class FailureLog: DataModelManagerDelegate {
///   func dataModelManager(_ manager: DataModelManager, hasEvent event: DataModelEvent) {
///     print(event)
///   }
/// }
/// ```
///
/// Pando calls it on a serial queue of its own and never on a caller's thread. A provider's
/// callback that never returns does not stop it.
public protocol DataModelManagerDelegate: AnyObject, Sendable {
  /// Called for each event, one after another.
  ///
  /// - Parameters:
  ///   - manager: The manager.
  ///   - event: The event.
  func dataModelManager(_ manager: DataModelManager, hasEvent event: DataModelEvent)
}
