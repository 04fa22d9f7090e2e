public import PandoModels

/// Methods of a delegate in forms that the manager does not call: to declare one is a compile error that says
/// what to declare instead.
///
/// No type conforms to this protocol by itself; ``ConsistencyManagerDelegate`` has it.
///
/// ```swift
/// final class MistakeLog: ConsistencyManagerDelegate {
///   func consistencyManager(_ manager: ConsistencyManager, found mistake: ConsistencyError) {
///     print(mistake)
///   }
/// }
/// ```
public protocol FormerConsistencyManagerDelegate {
  /// What a mistake is in a declaration of the former form; `Never` without one.
  associatedtype FormerMistake
  /// What is replaced in a declaration of the former form; `Never` without one.
  associatedtype FormerModel
  /// What replaces it in a declaration of the former form; `Never` without one.
  associatedtype FormerNewModel
  /// The context in a declaration of the former form; `Never` without one.
  associatedtype FormerContext
  /// What is replaced, as the delegate declares it.
  associatedtype ReplacedModel
  /// What replaces it, as the delegate declares it.
  associatedtype ReplacingModel
  /// The context of a replacement, as the delegate declares it.
  associatedtype ReplacingContext

  /// A form that is not called.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - error: What was wrong.
  func consistencyManager(
    _ consistencyManager: ConsistencyManager, failedWithCriticalError error: FormerMistake)

  /// A form that is not called.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - model: The model that is replaced.
  ///   - newModel: What replaces it.
  ///   - context: The context.
  func consistencyManager(
    _ consistencyManager: ConsistencyManager, willReplaceModel model: FormerModel,
    withModel newModel: FormerNewModel, context: FormerContext)

  /// The form of ``ConsistencyManagerDelegate``, or one of other types, which is not called.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - model: The model that is replaced.
  ///   - newModel: What replaces it.
  ///   - context: The context.
  func consistencyManager(
    _ consistencyManager: ConsistencyManager, willReplace model: ReplacedModel,
    with newModel: ReplacingModel, context: ReplacingContext)

  /// There unless a former form is declared.
  static var hasNoCriticalError: Void { get }
  /// There unless a former form is declared.
  static var hasNoReplacedModel: Void { get }
  /// There unless a form of other types is declared.
  static var hasReplacementOfSimpleModels: Void { get }
}

extension FormerConsistencyManagerDelegate {
  /// Is never called.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - error: There is none.
  public func consistencyManager(
    _ consistencyManager: ConsistencyManager, failedWithCriticalError error: Never
  ) {}

  /// Is never called.
  ///
  /// - Parameters:
  ///   - consistencyManager: The manager.
  ///   - model: There is none.
  ///   - newModel: There is none.
  ///   - context: There is none.
  public func consistencyManager(
    _ consistencyManager: ConsistencyManager, willReplaceModel model: Never,
    withModel newModel: Never, context: Never
  ) {}

  /// Unavailable where a former form is declared.
  @available(
    *, unavailable,
    message: """
      declare 'func consistencyManager(_ consistencyManager: ConsistencyManager, \
      found mistake: ConsistencyError)' in place of '…failedWithCriticalError:'
      """
  )
  public static var hasNoCriticalError: Void { () }

  /// Unavailable where a former form is declared.
  @available(
    *, unavailable,
    message: """
      declare 'func consistencyManager(_ consistencyManager: ConsistencyManager, \
      willReplace model: any SimpleModel, with newModel: (any SimpleModel)?, \
      context: (any Sendable)?)' in place of '…willReplaceModel:withModel:context:'
      """
  )
  public static var hasNoReplacedModel: Void { () }

  /// Unavailable where a form of other types is declared.
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
  /// There, as no former form is declared.
  public static var hasNoCriticalError: Void { () }
}

extension FormerConsistencyManagerDelegate where FormerModel == Never {
  /// There, as no former form is declared.
  public static var hasNoReplacedModel: Void { () }
}

extension FormerConsistencyManagerDelegate
where
  ReplacedModel == any SimpleModel, ReplacingModel == (any SimpleModel)?,
  ReplacingContext == (any Sendable)?
{
  /// There, as no form of other types is declared.
  public static var hasReplacementOfSimpleModels: Void { () }
}
