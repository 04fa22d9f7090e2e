import Pando

/// An ``Image`` that reads and writes its fields itself.
struct FieldImage: Model, FieldCodable, Equatable, ImageContent {
  let identifier: String
  let url: String
  let width: Int
  let height: Int

  static var modelTypeName: String { "Image" }
  var modelIdentifier: String? { identifier }

  init(_ image: Image) {
    identifier = image.identifier
    url = image.url
    width = image.width
    height = image.height
  }

  init(fields: inout FieldSource) throws {
    identifier = try fields.read("identifier")
    url = try fields.read("url")
    width = try fields.read("width")
    height = try fields.read("height")
  }

  func write(to fields: inout FieldSink) throws {
    fields.write("identifier", identifier)
    fields.write("url", url)
    fields.write("width", width)
    fields.write("height", height)
  }
}
