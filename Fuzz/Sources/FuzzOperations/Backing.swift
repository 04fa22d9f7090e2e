/// Where the stores of a run keep their pages, for the reference of the store's tests.
enum Backing {
  case folder
  case memory

  static let current = Backing.folder
}
