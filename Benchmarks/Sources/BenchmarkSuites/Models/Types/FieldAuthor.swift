import Pando

/// An ``Author`` that reads and writes its fields itself.
struct FieldAuthor: Model, FieldCodable, Equatable, AuthorContent {
  let identifier: String
  let name: String
  let followerCount: Int

  static var modelTypeName: String { "Author" }
  var modelIdentifier: String? { identifier }

  init(_ author: Author) {
    identifier = author.identifier
    name = author.name
    followerCount = author.followerCount
  }

  init(fields: inout FieldSource) throws {
    identifier = try fields.read("identifier")
    name = try fields.read("name")
    followerCount = try fields.read("followerCount")
  }

  func write(to fields: inout FieldSink) throws {
    fields.write("identifier", identifier)
    fields.write("name", name)
    fields.write("followerCount", followerCount)
  }
}
