import Pando

/// What a message shows.
struct Image: Model, Codable, Equatable {
  let identifier: String
  let url: String
  let width: Int
  let height: Int

  var modelIdentifier: String? { identifier }
}
