import PandoModels
import PandoRecords

/// Can't be stored when its text says so.
struct Brittle: Model, Codable, Equatable {
  static let modelTypeName = "Brittle"

  struct Failure: Error {}

  var id: Int
  var text = ""
  var modelIdentifier: String? { "Brittle:\(id)" }

  enum CodingKeys: CodingKey { case id, text }

  init(_ id: Int, _ text: String = "") {
    self.id = id
    self.text = text
  }

  func encode(to encoder: any Encoder) throws {
    if text == "fails" { throw Failure() }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(text, forKey: .text)
  }
}
