import Pando

/// A ``Profile`` that reads and writes its fields itself.
struct FieldProfile: SimpleModel, FieldCodable, Equatable, PersonContent {
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

  init(fields: inout FieldSource) throws {
    identifier = try fields.read("identifier")
    name = try fields.read("name")
    email = try fields.read("email")
    about = try fields.read("about")
    age = try fields.read("age")
    followerCount = try fields.read("followerCount")
    score = try fields.read("score")
    isVerified = try fields.read("isVerified")
  }

  func write(to fields: inout FieldSink) throws {
    fields.write("identifier", identifier)
    fields.write("name", name)
    fields.write("email", email)
    fields.write("about", about)
    fields.write("age", age)
    fields.write("followerCount", followerCount)
    fields.write("score", score)
    fields.write("isVerified", isVerified)
  }
}
