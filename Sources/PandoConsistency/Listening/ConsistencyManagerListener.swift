public import PandoModels

/// An object with a current model that receives changes of this model.
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
/// The manager never retains a listener. It calls `currentModel()` on its own threads, so a
/// listener must guard its model with a lock or an equivalent.
///
/// Use a `DataProvider` instead if the model comes from a `DataModelManager`.
public protocol ConsistencyManagerListener: AnyObject, Sendable {
  /// Returns the current model; `nil` if there is none.
  ///
  /// Called on the manager's threads, outside every lock.
  ///
  /// - Returns: The root of a tree.
  func currentModel() -> (any Model)?

  /// The tree has changed; the listener shows `model` from now on.
  ///
  /// Called on the manager's delivery target, in the order of the updates.
  ///
  /// - Parameters:
  ///   - model: The new tree; `nil` if its root is deleted.
  ///   - updates: The changes in the tree.
  ///   - context: The context of the update.
  func modelUpdated(
    _ model: (any Model)?, updates: ModelUpdates, context: (any Sendable)?)
}
