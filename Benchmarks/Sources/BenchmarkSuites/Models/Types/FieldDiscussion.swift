import Pando

/// A ``Discussion`` that reads and writes its fields itself, as do its children.
struct FieldDiscussion: Model, FieldCodable, Equatable, DiscussionContent {
  let identifier: String
  let title: String
  let messages: [FieldMessage]

  static var modelTypeName: String { "Discussion" }
  var modelIdentifier: String? { identifier }

  init(_ discussion: Discussion) {
    identifier = discussion.identifier
    title = discussion.title
    messages = discussion.messages.map { FieldMessage($0) }
  }

  init(fields: inout FieldSource) throws {
    identifier = try fields.read("identifier")
    title = try fields.read("title")
    messages = try fields.read("messages")
  }

  func write(to fields: inout FieldSink) throws {
    fields.write("identifier", identifier)
    fields.write("title", title)
    try fields.write("messages", messages)
  }
}
