import Pando

/// A ``Person`` whose coding a macro makes.
@Model("Person") struct DeclaredPerson: PersonContent {
  let identifier: String
  let name: String
  let email: String
  let about: String
  let age: Int
  let followerCount: Int
  let score: Double
  let isVerified: Bool

  var modelIdentifier: String { identifier }

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
