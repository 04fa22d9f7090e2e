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
  init(_ cursor: inout RecordCursor) throws(ModelError) {
    let head = try cursor.head()
    switch head.major {
    case 0, 1: self = .integer
    case 2: self = .bytes
    case 3: self = .text
    case 4: self = .array
    case 5: self = .object
    case 6:
      switch head.argument {
      case RecordTag.requiredReference, RecordTag.optionalReference, RecordTag.optionalSlot,
        RecordTag.entries:
        self = .object
      default: self = .tagged(head.argument)
      }
    default:
      switch head.information {
      case 20, 21: self = .bool
      case 25: self.init(Double(Float16(bitPattern: UInt16(head.argument))))
      case 26: self.init(Double(Float(bitPattern: UInt32(head.argument))))
      case 27: self.init(Double(bitPattern: head.argument))
      default: self = .null
      }
    }
  }

  private init(_ number: Double) {
    self = number.rounded() == number && number.isFinite ? .integer : .fraction
  }

  /// Whether a type that had a value of another kind most likely decodes this one.
  ///
  /// A number that was a fraction may become an integer, which a `Double` reads; the other way
  /// round an `Int` could not.
  func fits(_ old: RecordValueKind) -> Bool {
    self == old || (self == .integer && old == .fraction)
  }
}
