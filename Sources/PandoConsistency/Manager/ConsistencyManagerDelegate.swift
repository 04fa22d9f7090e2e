public import PandoModels

/// Is told what a consistency manager does and of every mistake it finds.
///
/// ```swift
/// final class MistakeLog: ConsistencyManagerDelegate {
///   func consistencyManager(_ manager: ConsistencyManager, found mistake: ConsistencyError) {
///     print(mistake)
///   }
/// }
/// ```
///
/// Called on a serial queue of its own, on no thread of a caller, so that a listener whose callback never
/// returns does not silence it.
public protocol ConsistencyManagerDelegate: AnyObject, Sendable, FormerConsistencyManagerDelegate {
  /// A model in a listener's tree is replaced by a newer one.
  ///
  /// - Parameters:
  ///   - consistencyManager: The caller.
  ///   - model: The model that is replaced.
  ///   - newModel: What replaces it, of the same type; `nil` if it is deleted.
  ///   - context: What the poster of the update passed along.
  func consistencyManager(
    _ consistencyManager: ConsistencyManager, willReplace model: any SimpleModel,
    with newModel: (any SimpleModel)?, context: (any Sendable)?)

  /// A mistake was found; the manager goes on without what was wrong.
  ///
  /// - Parameters:
  ///   - consistencyManager: The caller.
  ///   - mistake: What was wrong, and what was done instead.
  func consistencyManager(
    _ consistencyManager: ConsistencyManager, found mistake: ConsistencyError)
}

extension ConsistencyManagerDelegate {
  /// Does nothing.
  ///
  /// - Parameters:
  ///   - consistencyManager: The caller.
  ///   - model: The model that is replaced.
  ///   - newModel: What replaces it.
  ///   - context: What the poster of the update passed along.
  public func consistencyManager(
    _ consistencyManager: ConsistencyManager, willReplace model: any SimpleModel,
    with newModel: (any SimpleModel)?, context: (any Sendable)?
  ) {}

  /// Does nothing.
  ///
  /// - Parameters:
  ///   - consistencyManager: The caller.
  ///   - mistake: What was wrong.
  public func consistencyManager(
    _ consistencyManager: ConsistencyManager, found mistake: ConsistencyError
  ) {}
}
