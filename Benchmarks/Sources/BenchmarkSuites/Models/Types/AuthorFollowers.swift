import Pando

/// An ``Author`` as a counter reads it: a projection with one of its fields.
struct AuthorFollowers: Model, Codable, Equatable {
  let identifier: String
  let followerCount: Int

  var modelIdentifier: String? { identifier }
}
