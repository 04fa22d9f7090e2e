public import PandoModels
import PandoRecords

/// Several models as one: its listener receives one call for each update of all of them.
///
/// ```swift
/// func currentModel() -> (any Model)? { BatchUpdateModel(models: [header, footer]) }
///
/// func modelUpdated(_ model: (any Model)?, updates: ModelUpdates, context: (any Sendable)?) {
///   guard let batch = model as? BatchUpdateModel else { return }
///   header = batch.models[0] as? Header
///   footer = batch.models[1] as? Footer
/// }
/// ```
/// If a model is deleted, its position becomes `nil`, and the other models keep their positions. As
/// an update it sets all its models in one step, like
/// ``ConsistencyManager/updateModels(_:context:)``. It can't be stored.
///
/// Use a ``BatchListener`` instead if several listeners show the models.
///
/// - Note: A value; any thread may use it.
public struct BatchUpdateModel: Model {
  /// The models; `nil` at a position without a model.
  public let models: [(any Model)?]
  /// The identifier of the batch itself; `nil` if it has none.
  public let modelIdentifier: String?

  /// Makes one model of several.
  ///
  /// - Parameters:
  ///   - models: The models; `nil` at a position without a model.
  ///   - modelIdentifier: The identifier of the batch itself, which most batches do not need. An
  ///     update of the batch replaces it in each tree that contains the identifier.
  public init(models: [(any Model)?], modelIdentifier: String? = nil) {
    self.models = models
    self.modelIdentifier = modelIdentifier
  }

  /// Returns a copy with each model replaced.
  ///
  /// - Parameter transform: Returns the replacement of a model; `nil` to remove it.
  /// - Returns: A batch with the same count of positions; never `nil`.
  public func map(_ transform: (any Model) -> (any Model)?) -> BatchUpdateModel? {
    BatchUpdateModel(
      models: models.map { $0.flatMap(transform) }, modelIdentifier: modelIdentifier)
  }

  /// Calls a closure with each model, in order.
  ///
  /// - Parameter visit: Called once for each position that has a model.
  public func forEach(_ visit: (any Model) -> Void) {
    for case let model? in models { visit(model) }
  }

  /// Returns true if another batch has equal models at the same positions.
  ///
  /// - Parameter other: A model of any type.
  /// - Returns: `false` if it is not a batch, or has another identifier.
  public func isEqual(to other: any SimpleModel) -> Bool {
    guard let other = other as? BatchUpdateModel, other.models.count == models.count,
      ListenerHolder.sameText(modelIdentifier, other.modelIdentifier)
    else { return false }
    return zip(models, other.models).allSatisfy { model, other in
      guard let model, let other else { return model == nil && other == nil }
      return model.isEqual(to: other)
    }
  }
}
