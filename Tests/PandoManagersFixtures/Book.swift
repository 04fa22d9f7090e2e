import Foundation
import PandoManagers
import PandoModels
import PandoRemote

/// A book of the tests: every kind of field that a filter can name.
struct Book: PersistentEntity, RemoteEntity {
  var id: EntityIdentifier<Book>
  var title = ""
  var year: Int?
  var price = 0.0
  var isLent = false
  var genre = Genre.novel
  var added = Date(timeIntervalSinceReferenceDate: 0)
  var shelf: UUID?
  var summary: Lazy<String> = .unrequested
  var author: EntityIdentifier<Author>?

  static let fields: [Field<Book>] = [
    .indexed(\.title, "title"), .indexed(\.year, "year"), .field(\.price, "price"),
    .field(\.isLent, "isLent"), .indexed(\.genre, "genre"), .indexed(\.added, "added"),
    .field(\.shelf, "shelf"), .field(\.summary, "summary"), .indexed(\.author, "author"),
  ]
  static let relationships: [EntityRelationship<Book>] = [.to(\.author, "author")]
}

enum Genre: String, Codable, QueryRepresentable, CaseIterable {
  case novel, poetry, science
}

struct Author: PersistentEntity, RemoteEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Author>
  var name: String
}
