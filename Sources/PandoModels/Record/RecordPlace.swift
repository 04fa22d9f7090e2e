/// Where in a record a value stands, which says how a reference there is lost.
enum RecordPlace {
  /// The body itself.
  case root
  /// The value of a field in an object.
  case field
  /// An element of an array.
  case element
  /// The value of an entry in a dictionary.
  case entry

  /// How a reference with the tag of a required one is lost at this place.
  var kindOfRequired: EdgeKinds {
    switch self {
    case .root, .field: .required
    case .element: .element
    case .entry: .entry
    }
  }
}
