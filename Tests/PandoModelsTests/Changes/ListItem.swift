import PandoModels

/// An element of a list: without a name it is a value.
struct ListItem: SimpleModel, Equatable, CustomStringConvertible {
  var name: String?
  var contents = 0

  var modelIdentifier: String? { name }
  var description: String { "\(name ?? "-")\(contents)" }
}

/// The same, with a hash value.
struct HashableListItem: SimpleModel, Hashable, CustomStringConvertible {
  var name: String?
  var contents = 0

  init(_ item: ListItem) {
    name = item.name
    contents = item.contents
  }

  var modelIdentifier: String? { name }
  var description: String { "\(name ?? "-")\(contents)" }
}
