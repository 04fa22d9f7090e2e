import PandoModels

/// How types conform to `Model`.
enum ModelTypes {
  /// A model as one that can hold others; `nil` if it can't.
  static func asModel(_ model: any SimpleModel) -> (any Model)? {
    modelType(type(of: model)).map { ModelBoxes.model(model, $0) }
  }

  /// A type as one whose models can hold others; `nil` if they can't.
  static func modelType(_ type: any SimpleModel.Type) -> (any Model.Type)? {
    ModelBoxes.modelType(type)
  }
}
