import Pando

/// An entity with three indexes; its identifier is found without one.
struct Book: PersistentEntity {
  var id: EntityIdentifier<Book>
  var title: String
  var year: Int
  var shelf: Int
  var rating: Double
  var isLent: Bool

  static let fields: [Field<Book>] = [
    .indexed(\.title, "title"), .indexed(\.year, "year"), .indexed(\.shelf, "shelf"),
    .field(\.rating, "rating"), .field(\.isLent, "isLent"),
  ]
}
