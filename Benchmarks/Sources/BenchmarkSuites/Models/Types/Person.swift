import Pando

/// A model of 8 fields, about 160 bytes when stored.
struct Person: Model, Codable, Equatable {
  let identifier: String
  let name: String
  let email: String
  let about: String
  let age: Int
  let followerCount: Int
  let score: Double
  let isVerified: Bool

  var modelIdentifier: String? { identifier }
}
