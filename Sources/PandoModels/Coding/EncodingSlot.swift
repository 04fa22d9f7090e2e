/// The place that a value is encoded into, which says how it can be lost.
enum EncodingSlot {
  /// What is around the value can't be without it.
  case required
  /// It can be null.
  case optional
  /// It can be removed from a list.
  case element
  /// It can be removed from a map.
  case entry

  /// The place of what an optional holds.
  var unwrapped: EncodingSlot { self == .required ? .optional : self }

  var edgeKinds: EdgeKinds {
    switch self {
    case .required: .required
    case .optional: .optional
    case .element: .element
    case .entry: .entry
    }
  }
}

/// What became of a value that was to be encoded.
enum EncodingOutcome {
  case written
  /// Nothing was written: it can't be without a child that was removed.
  case lost
}
