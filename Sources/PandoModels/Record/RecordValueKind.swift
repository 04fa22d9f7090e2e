/// What a value is, as far as the type that decodes it must expect it.
enum RecordValueKind: Equatable {
  case null
  case bool
  case integer
  /// A floating-point number that no integer equals.
  case fraction
  case bytes
  case text
  case array
  /// An object, a dictionary or a child: a child without identifier is an object in its slot.
  case object
  case tagged(UInt64)

  /// Looks at the item under a cursor.
  init(_ cursor: RecordCursor) throws(RecordFault) {
    let head = try cursor.nextHead()
    switch head.major {
    case .unsigned, .negative: self = .integer
    case .bytes: self = .bytes
    case .text: self = .text
    case .array: self = .array
    case .map: self = .object
    case .tag: self = RecordTag.isPrivate(head.argument) ? .object : .tagged(head.argument)
    case .simple:
      if let number = head.double {
        self = number.rounded() == number && number.isFinite ? .integer : .fraction
      } else {
        self = head.bool == nil ? .null : .bool
      }
    }
  }

  /// Whether a type that had a value of another kind most likely decodes this one.
  ///
  /// A number that was a fraction may become an integer, which a `Double` reads; the other way
  /// round an `Int` could not.
  func fits(_ old: RecordValueKind) -> Bool {
    self == old || (self == .integer && old == .fraction)
  }
}
