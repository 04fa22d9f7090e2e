import Pando

/// Who has which book.
struct Loan: PersistentEntity, MutableEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Loan>
  var book: EntityIdentifier<Book>
  var reader: String

  static let endpoint: APIPath = "/loans"
  static let fields: [EntityField<Loan>] = [.indexed(\.book, "book")]
  static let relationships: [EntityRelationship<Loan>] = [.to(\.book, "book")]

  func withIdentifier(_ id: EntityIdentifier<Loan>) -> Loan {
    Loan(id: id, book: book, reader: reader)
  }
}
