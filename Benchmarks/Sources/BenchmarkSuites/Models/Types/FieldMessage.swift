import Pando

/// A ``Message`` that reads and writes its fields itself, as do its children.
struct FieldMessage: Model, FieldCodable, Equatable, MessageContent {
  let identifier: String
  let text: String
  let sentAt: Int
  let likeCount: Int
  let author: FieldAuthor
  let image: FieldImage?

  static var modelTypeName: String { "Message" }
  var modelIdentifier: String? { identifier }

  init(_ message: Message) {
    identifier = message.identifier
    text = message.text
    sentAt = message.sentAt
    likeCount = message.likeCount
    author = FieldAuthor(message.author)
    image = message.image.map { FieldImage($0) }
  }

  init(fields: inout FieldSource) throws {
    identifier = try fields.read("identifier")
    text = try fields.read("text")
    sentAt = try fields.read("sentAt")
    likeCount = try fields.read("likeCount")
    author = try fields.read("author")
    image = try fields.read("image")
  }

  func write(to fields: inout FieldSink) throws {
    fields.write("identifier", identifier)
    fields.write("text", text)
    fields.write("sentAt", sentAt)
    fields.write("likeCount", likeCount)
    try fields.write("author", author)
    try fields.write("image", image)
  }
}
