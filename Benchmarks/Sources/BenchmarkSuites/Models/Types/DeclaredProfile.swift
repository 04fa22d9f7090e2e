import Pando

/// A ``Profile`` whose coding a macro makes.
@Embedded struct DeclaredProfile: SimpleModel, PersonContent {
  let identifier: String
  let name: String
  let email: String
  let about: String
  let age: Int
  let followerCount: Int
  let score: Double
  let isVerified: Bool

  static var modelTypeName: String { "Profile" }
  var modelIdentifier: String? { nil }

  init(_ profile: Profile) {
    identifier = profile.identifier
    name = profile.name
    email = profile.email
    about = profile.about
    age = profile.age
    followerCount = profile.followerCount
    score = profile.score
    isVerified = profile.isVerified
  }
}
