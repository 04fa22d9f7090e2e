public import PandoModels

/// Several models as one: what listens to it hears of all of them with one call an update.
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
/// A place whose model is deleted becomes `nil`, and the others keep theirs. As an update it sets all
/// its models in one step, like ``ConsistencyManager/updateModels(_:context:)``. It can't be stored.
///
/// - Note: A value; any thread may use it.
public struct BatchUpdateModel: Model {
  /// The models, `nil` where there is none.
  public let models: [(any Model)?]
  /// What names the batch itself; `nil` if nothing does.
  public let modelIdentifier: String?

  /// Makes one model of several.
  ///
  /// - Parameters:
  ///   - models: The models, `nil` where there is none.
  ///   - modelIdentifier: What names the batch itself, which most batches need not: then an update of
  ///     the batch replaces it wherever it is shown.
  public init(models: [(any Model)?], modelIdentifier: String? = nil) {
    self.models = models
    self.modelIdentifier = modelIdentifier
  }

  /// Returns a copy with every model replaced.
  ///
  /// - Parameter transform: Returns what replaces a model; `nil` to remove it.
  /// - Returns: Never `nil`; as many places as before.
  public func map(_ transform: (any Model) -> (any Model)?) -> BatchUpdateModel? {
    BatchUpdateModel(
      models: models.map { $0.flatMap(transform) }, modelIdentifier: modelIdentifier)
  }

  /// Calls a closure with every model, in order.
  ///
  /// - Parameter visit: Called once for each place that has a model.
  public func forEach(_ visit: (any Model) -> Void) {
    for case let model? in models { visit(model) }
  }

  /// Whether another batch has equal models in the same places.
  ///
  /// - Parameter other: A model of any type.
  /// - Returns: `false` if it is no batch, or has another identifier.
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
