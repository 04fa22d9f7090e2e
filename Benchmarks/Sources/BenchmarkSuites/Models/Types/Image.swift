import Pando

/// The image of a message.
struct Image: Model, Codable, Equatable {
  let identifier: String
  let url: String
  let width: Int
  let height: Int

  var modelIdentifier: String? { identifier }
}
