import FoundationEssentials
import PandoManagers
import PandoModels

/// The data for the reader of an answer, stored with the request.
struct AnswerNote {
  enum Kind: String, Codable {
    case create, update, remove
  }

  var kind: Kind
  /// The names that lead to the entities in the answer.
  var names: [String] = []
  /// Whether `payload(for:)` of the entity type reads the answer.
  var isReadByType = false
  /// Whether the entity type has made the request, which sends the entity as it is.
  var sendsEntity = false
  /// Whether the entity is stored otherwise than it is sent.
  var isNotStored = false

  var text: String {
    get throws { String(decoding: try APIBody.makeEncoder().encode(self), as: UTF8.self) }
  }

  init(_ kind: Kind) { self.kind = kind }

  init<E: Entity>(_ kind: Kind, _ payload: RemotePayload<E>) {
    self.kind = kind
    names = payload.names
    isReadByType = payload.read != nil || !payload.inclusions.isEmpty
    sendsEntity = true
  }

  init?(_ text: String?) {
    guard let text, let note = try? JSONDecoder().decode(AnswerNote.self, from: Data(text.utf8))
    else { return nil }
    self = note
  }
}

extension AnswerNote: Codable {
  init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    kind = try row.get("kind")
    names = try row.get("names")
    isReadByType = try row.get("isReadByType")
    sendsEntity = try row.find("sendsEntity") ?? false
    isNotStored = try row.find("isNotStored") ?? false
  }

  func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(kind, forKey: TextKey("kind"))
    try row.encode(names, forKey: TextKey("names"))
    try row.encode(isReadByType, forKey: TextKey("isReadByType"))
    if sendsEntity { try row.encode(true, forKey: TextKey("sendsEntity")) }
    if isNotStored { try row.encode(true, forKey: TextKey("isNotStored")) }
  }
}
