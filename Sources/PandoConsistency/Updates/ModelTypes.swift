import PandoModels
import PandoRecords

/// Conversions of models and types to `Model`.
enum ModelTypes {
  /// Returns a model as a `Model`, which can have children; `nil` if it does not conform.
  static func asModel(_ model: any SimpleModel) -> (any Model)? {
    modelType(type(of: model)).map { ModelBoxes.model(model, $0) }
  }

  /// Returns a type as a `Model` type; `nil` if it does not conform.
  static func modelType(_ type: any SimpleModel.Type) -> (any Model.Type)? {
    ModelBoxes.modelType(type)
  }
}
