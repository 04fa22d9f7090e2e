import Pando

/// Who writes books.
struct Author: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Author>
  var name: String

  static let endpoint: APIPath = "/authors"
  static let fields: [EntityField<Author>] = [.indexed(\.name, "name")]

  func withIdentifier(_ id: EntityIdentifier<Author>) -> Author { Author(id: id, name: name) }
}

extension Author: CustomStringConvertible {
  var description: String { "\(name) (\(id.number))" }
}

extension EntityIdentifier where E.RemoteID == Int {
  /// The server's number, or that it has given none yet.
  var number: String { remoteID.map { "no. \($0)" } ?? "new" }
}
