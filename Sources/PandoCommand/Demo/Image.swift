import Pando

/// A picture; the demo's smallest model.
struct Image: Model, Codable, Equatable {
  let id: String
  var caption: String
  var width: Int
  var height: Int

  var modelIdentifier: String? { "Image:\(id)" }
}
