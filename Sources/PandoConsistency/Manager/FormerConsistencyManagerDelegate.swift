public import PandoModels

/// Former methods of a delegate, which the manager does not call.
///
/// A declaration of one is a compile error that shows the method to declare instead. Do not conform
/// to this protocol directly; ``ConsistencyManagerDelegate`` inherits it.
///
/// ```swift
/// final class MistakeLog: ConsistencyManagerDelegate {
///   func consistencyManager(_ manager: ConsistencyManager, found mistake: ConsistencyError) {
///     print(mistake)
///   }
/// }
/// ```
public protocol FormerConsistencyManagerDelegate {
  /// The type of a mistake in a declaration of the former method; `Never` without one.
  associatedtype FormerMistake
  /// The type of a replaced model in a declaration of the former method; `Never` without one.
  associatedtype FormerModel
  /// The type of a replacement in a declaration of the former method; `Never` without one.
  associatedtype FormerNewModel
  /// The type of a context in a declaration of the former method; `Never` without one.
  associatedtype FormerContext
  /// The type of a replaced model in the delegate's declaration.
  associatedtype ReplacedModel
  /// The type of a replacement in the delegate's declaration.
  associatedtype ReplacingModel
  /// The type of a replacement's context in the delegate's declaration.
  associatedtype ReplacingContext

  /// A former method, which is not called.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - error: The mistake.
  func consistencyManager(
    _ consistencyManager: ConsistencyManager, failedWithCriticalError error: FormerMistake)

  /// A former method, which is not called.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - model: The replaced model.
  ///   - newModel: The replacement.
  ///   - context: The context.
  func consistencyManager(
    _ consistencyManager: ConsistencyManager, willReplaceModel model: FormerModel,
    withModel newModel: FormerNewModel, context: FormerContext)

  /// The method of ``ConsistencyManagerDelegate``, or one with other types, which is not called.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - model: The replaced model.
  ///   - newModel: The replacement.
  ///   - context: The context.
  func consistencyManager(
    _ consistencyManager: ConsistencyManager, willReplace model: ReplacedModel,
    with newModel: ReplacingModel, context: ReplacingContext)

  /// Available unless a former method is declared.
  static var hasNoCriticalError: Void { get }
  /// Available unless a former method is declared.
  static var hasNoReplacedModel: Void { get }
  /// Available unless a method with other types is declared.
  static var hasReplacementOfSimpleModels: Void { get }
}

extension FormerConsistencyManagerDelegate {
  /// Is never called.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - error: Has no value.
  public func consistencyManager(
    _ consistencyManager: ConsistencyManager, failedWithCriticalError error: Never
  ) {}

  /// Is never called.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - model: Has no value.
  ///   - newModel: Has no value.
  ///   - context: Has no value.
  public func consistencyManager(
    _ consistencyManager: ConsistencyManager, willReplaceModel model: Never,
    withModel newModel: Never, context: Never
  ) {}

  /// Unavailable if a former method is declared.
  @available(
    *, unavailable,
    message: """
      declare 'func consistencyManager(_ consistencyManager: ConsistencyManager, \
      found mistake: ConsistencyError)' in place of '…failedWithCriticalError:'
      """
  )
  public static var hasNoCriticalError: Void { () }

  /// Unavailable if a former method is declared.
  @available(
    *, unavailable,
    message: """
      declare 'func consistencyManager(_ consistencyManager: ConsistencyManager, \
      willReplace model: any SimpleModel, with newModel: (any SimpleModel)?, \
      context: (any Sendable)?)' in place of '…willReplaceModel:withModel:context:'
      """
  )
  public static var hasNoReplacedModel: Void { () }

  /// Unavailable if a method with other types is declared.
  @available(
    *, unavailable,
    message: """
      declare 'func consistencyManager(_ consistencyManager: ConsistencyManager, \
      willReplace model: any SimpleModel, with newModel: (any SimpleModel)?, \
      context: (any Sendable)?)' with these types
      """
  )
  public static var hasReplacementOfSimpleModels: Void { () }
}

extension FormerConsistencyManagerDelegate where FormerMistake == Never {
  /// Available, because no former method is declared.
  public static var hasNoCriticalError: Void { () }
}

extension FormerConsistencyManagerDelegate where FormerModel == Never {
  /// Available, because no former method is declared.
  public static var hasNoReplacedModel: Void { () }
}

extension FormerConsistencyManagerDelegate
where
  ReplacedModel == any SimpleModel, ReplacingModel == (any SimpleModel)?,
  ReplacingContext == (any Sendable)?
{
  /// Available, because no method with other types is declared.
  public static var hasReplacementOfSimpleModels: Void { () }
}
