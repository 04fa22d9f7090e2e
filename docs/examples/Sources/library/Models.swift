import Pando
import PandoURLSession

/// Something to read; its author is another entity.
struct Book: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Book>
  var title: String
  var author: EntityIdentifier<Author>

  static let endpoint: APIPath = "/books"
  static let fields: [Field<Book>] = [
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

/// Who writes books.
struct Author: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Author>
  var name: String

  static let endpoint: APIPath = "/authors"
  static let fields: [Field<Author>] = [.indexed(\.name, "name")]

  func withIdentifier(_ id: EntityIdentifier<Author>) -> Author { Author(id: id, name: name) }
}

extension Author: CustomStringConvertible {
  var description: String { "\(name) (\(id.number))" }
}

extension EntityIdentifier where E.RemoteID == Int {
  /// The server's number, or that it has given none yet.
  var number: String { remoteID.map { "no. \($0)" } ?? "new" }
}

/// Who has which book.
struct Loan: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Loan>
  var book: EntityIdentifier<Book>
  var reader: String

  static let endpoint: APIPath = "/loans"
  static let fields: [Field<Loan>] = [.indexed(\.book, "book")]
  static let relationships: [EntityRelationship<Loan>] = [.to(\.book, "book")]

  func withIdentifier(_ id: EntityIdentifier<Loan>) -> Loan {
    Loan(id: id, book: book, reader: reader)
  }
}
