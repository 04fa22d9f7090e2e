import Pando

/// Something to read; its author is another entity.
struct Book: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Book>
  var title: String
  var author: EntityIdentifier<Author>

  static let endpoint: APIPath = "/books"
  static let fields: [EntityField<Book>] = [
    .indexed(\.title, "title"), .indexed(\.author, "author"),
  ]
  static let relationships: [EntityRelationship<Book>] = [.to(\.author, "author")]

  func withIdentifier(_ id: EntityIdentifier<Book>) -> Book {
    Book(id: id, title: title, author: author)
  }
}

extension Book: CustomStringConvertible {
  var description: String { "\(title) (\(id.number))" }
}
