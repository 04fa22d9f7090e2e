public import PandoModels

/// Anything with a current model that is told when the model changes elsewhere.
///
/// ```swift
/// final class View: ConsistencyManagerListener {
///   let message = Mutex<Message?>(nil)
///   func currentModel() -> (any Model)? { message.withLock { $0 } }
///   func modelUpdated(_ model: (any Model)?, updates: ModelUpdates, context: (any Sendable)?) {
///     message.withLock { $0 = model as? Message }
///   }
/// }
/// ```
///
/// The manager never retains a listener. It asks for the current model from its own threads, so a
/// listener guards its model by a lock or an actor's equivalent.
public protocol ConsistencyManagerListener: AnyObject, Sendable {
  /// Returns what the listener shows now; `nil` if nothing.
  ///
  /// Called from the manager's threads, outside every lock.
  ///
  /// - Returns: The root of a tree.
  func currentModel() -> (any Model)?

  /// The tree has changed; the listener shows `model` from now on.
  ///
  /// Called on the manager's delivery target, in the order of the updates.
  ///
  /// - Parameters:
  ///   - model: The new tree; `nil` if its root is deleted.
  ///   - updates: What changed in it.
  ///   - context: What the poster of the update passed along.
  func modelUpdated(
    _ model: (any Model)?, updates: ModelUpdates, context: (any Sendable)?)
}
