import Pando
import PandoURLSession

/// Something to read; its author is another entity.
@Model struct Book: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Book>
  @Indexed var title: String
  @Indexed var author: EntityIdentifier<Author>

  static let endpoint: APIPath = "/books"
}

extension Book: CustomStringConvertible {
  var description: String { "\(title) (\(id.number))" }
}

/// An author of books.
@Model struct Author: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Author>
  @Indexed var name: String

  static let endpoint: APIPath = "/authors"
}

extension Author: CustomStringConvertible {
  var description: String { "\(name) (\(id.number))" }
}

extension EntityIdentifier where E.RemoteID == Int {
  /// The server's number, or that it has given none yet.
  var number: String { remoteID.map { "no. \($0)" } ?? "new" }
}

/// A loan: a book and its reader.
@Model struct Loan: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Loan>
  @Indexed var book: EntityIdentifier<Book>
  var reader: String

  static let endpoint: APIPath = "/loans"
}
