public import PandoModels

/// Receives the replacements and mistakes of a consistency manager.
///
/// ```swift
/// final class MistakeLog: ConsistencyManagerDelegate {
///   func consistencyManager(_ manager: ConsistencyManager, found mistake: ConsistencyError) {
///     print(mistake)
///   }
/// }
/// ```
///
/// The manager calls it on a serial queue of its own and never on a caller's thread. A listener's
/// callback that never returns does not stop it. Use a ``ConsistencyManagerListener`` to receive
/// the changes of one tree.
public protocol ConsistencyManagerDelegate: AnyObject, Sendable, FormerConsistencyManagerDelegate {
  /// A model in a live tree is replaced by a newer one.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - model: The replaced model.
  ///   - newModel: The replacement, of the same type; `nil` if the model is deleted.
  ///   - context: The context of the update.
  func consistencyManager(
    _ consistencyManager: ConsistencyManager, willReplace model: any SimpleModel,
    with newModel: (any SimpleModel)?, context: (any Sendable)?)

  /// A mistake was found; the manager continues without the invalid part.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - mistake: The mistake, and its handling.
  func consistencyManager(
    _ consistencyManager: ConsistencyManager, found mistake: ConsistencyError)
}

extension ConsistencyManagerDelegate {
  /// Does nothing.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - model: The replaced model.
  ///   - newModel: The replacement.
  ///   - context: The context of the update.
  public func consistencyManager(
    _ consistencyManager: ConsistencyManager, willReplace model: any SimpleModel,
    with newModel: (any SimpleModel)?, context: (any Sendable)?
  ) {}

  /// Does nothing.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - mistake: The mistake.
  public func consistencyManager(
    _ consistencyManager: ConsistencyManager, found mistake: ConsistencyError
  ) {}
}
