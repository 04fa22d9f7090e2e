import Pando

/// What a counter knows of an ``Author``: a projection with one of its fields.
struct AuthorFollowers: Model, Codable, Equatable {
  let identifier: String
  let followerCount: Int

  var modelIdentifier: String? { identifier }
}
