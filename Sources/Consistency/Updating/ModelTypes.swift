import Locking
import ModelCore

/// How types conform to `Model`: a look at a table, where a cast takes ten times as long.
enum ModelTypes {
  /// One entry for each type of models in the program that was met.
  private static let known = Locked<[ObjectIdentifier: (any Model.Type)?]>([:])

  /// A model as one that can hold others; `nil` if it can't.
  static func asModel(_ model: any SimpleModel) -> (any Model)? {
    modelType(type(of: model)).map { ModelBoxes.model(model, $0) }
  }

  /// A type as one whose models can hold others; `nil` if they can't.
  static func modelType(_ type: any SimpleModel.Type) -> (any Model.Type)? {
    known.withLock { known in
      if let model = known[ObjectIdentifier(type)] { return model }
      let model = type as? any Model.Type
      known[ObjectIdentifier(type)] = .some(model)
      return model
    }
  }
}
