/// Hears of what goes wrong.
///
/// ```swift
/// final class FailureLog: DataModelManagerDelegate {
///   func dataModelManager(_ manager: DataModelManager, hasEvent event: DataModelEvent) {
///     print(event)
///   }
/// }
/// ```
///
/// Called on a serial queue of its own, on no thread of a caller, so that a callback of a provider that never
/// returns does not silence it.
public protocol DataModelManagerDelegate: AnyObject, Sendable {
  /// Called for each event, one after another.
  ///
  /// - Parameters:
  ///   - manager: The manager.
  ///   - event: What has happened.
  func dataModelManager(_ manager: DataModelManager, hasEvent event: DataModelEvent)
}
