import Pando

/// The fields of a ``Person``, without an identifier of its own: a list stores it as bytes.
struct Profile: SimpleModel, Codable, Equatable {
  let identifier: String
  let name: String
  let email: String
  let about: String
  let age: Int
  let followerCount: Int
  let score: Double
  let isVerified: Bool

  var modelIdentifier: String? { nil }

  init(_ person: Person) {
    identifier = person.identifier
    name = person.name
    email = person.email
    about = person.about
    age = person.age
    followerCount = person.followerCount
    score = person.score
    isVerified = person.isVerified
  }
}
