import Pando

/// The author of a message.
struct Author: Model, Codable, Equatable {
  let identifier: String
  let name: String
  let followerCount: Int

  var modelIdentifier: String? { identifier }
}
