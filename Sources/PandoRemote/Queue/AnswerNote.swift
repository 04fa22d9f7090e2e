import FoundationEssentials
import PandoManagers
import PandoModels

/// The data for the reader of an answer, stored with the request.
struct AnswerNote: Codable {
  enum Kind: String, Codable {
    case create, update, remove
  }

  var kind: Kind
  /// The names that lead to the entities in the answer.
  var names: [String] = []
  /// Whether `payload(for:)` of the entity type reads the answer.
  var isReadByType = false
  /// Whether the entity type has made the request, which sends the entity as it is; `nil` for no, and is not stored.
  var sendsEntity: Bool?
  /// Whether the entity is stored otherwise than it is sent; `nil` for no, and is not stored.
  var isNotStored: Bool?
  /// Whether the write is in the context `.remote()`, so that nothing of it is stored before the answer; `nil` for no,
  /// and is not stored.
  var isServerOnly: Bool?

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
