import Foundation
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore

/// A book of the library's server.
struct Volume: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Volume>
  var title: String
  var writer: EntityIdentifier<Writer>?
  var edition: Int?

  static let endpoint: APIPath = "/volumes"
  static let fields: [Field<Volume>] = [.field(\.title, "title")]
  static let relationships: [EntityRelationship<Volume>] = [.to(\.writer, "writer")]

  func withIdentifier(_ id: EntityIdentifier<Volume>) -> Volume {
    var volume = self
    volume.id = id
    return volume
  }
}

/// Who wrote a book.
struct Writer: PersistentEntity, MutableEntity {
  var id: EntityIdentifier<Writer>
  var name: String

  static let endpoint: APIPath = "/writers"

  static func payload(for path: RemotePath<Writer>) -> RemotePayload<Writer> {
    if case .search = path { return .under("data", "writers") }
    return .under("writer")
  }

  func withIdentifier(_ id: EntityIdentifier<Writer>) -> Writer {
    Writer(id: id, name: name)
  }
}

/// A tree that holds a book as a child.
struct Bookcase: Model, Codable, Equatable {
  var modelIdentifier: String?
  var first: Volume
  var others: [Volume]
}

/// An entity that is on the server only.
struct Notice: MutableEntity {
  var id: EntityIdentifier<Notice>
  var text: String

  static let endpoint: APIPath = "/notices"

  func withIdentifier(_ id: EntityIdentifier<Notice>) -> Notice { Notice(id: id, text: text) }
}

/// An entity that the server alone can make.
struct Rule: RemoteEntity {
  var id: EntityIdentifier<Rule>

  static func request(for path: RemotePath<Rule>) throws -> APIRequest? {
    if case .get(let id) = path { return APIRequest(.get, "/rules/\(id)") }
    return nil
  }
}
