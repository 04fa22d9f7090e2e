import Pando

/// An entity with three indexes; its identifier is found without one.
@Model struct Book: PersistentEntity {
  var id: EntityIdentifier<Book>
  @Indexed var title: String
  @Indexed var year: Int
  @Indexed var shelf: Int
  var rating: Double
  var isLent: Bool
}
