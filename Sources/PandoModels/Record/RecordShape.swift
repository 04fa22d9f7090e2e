/// What a value in a record tells of the slots in it: how each is lost, and of which type its
/// children are.
///
/// All elements of an array share one shape, and so do all values of a dictionary: they have one
/// static type.
struct RecordShape {
  /// What all elements of an array say, if they say the same.
  private enum Agreement<Value: Equatable> {
    case nothing
    case one(Value)
    case several

    mutating func add(_ value: Value) {
      switch self {
      case .nothing: self = .one(value)
      case .one(let known): self = known == value ? self : .several
      case .several: break
      }
    }

    var value: Value? {
      if case .one(let value) = self { value } else { nil }
    }
  }

  private var types = Agreement<UInt32>.nothing
  private var requirements = Agreement<Bool>.nothing

  /// The type number that references here carry; `nil` when there are none, or several.
  var type: UInt32? { types.value }

  /// Whether the slot is required; `nil` when its value does not tell.
  var isRequired: Bool? { requirements.value }

  /// The shapes of the fields, under their encoded names.
  var fields: [[UInt8]: RecordShape] = [:]

  /// The shape of the elements or values, if any is known.
  var elements: [RecordShape] = []

  /// Takes in what the value of a field tells, which lies at a cursor.
  mutating func absorb(_ cursor: RecordCursor) throws(RecordFault) {
    var cursor = cursor
    _ = try absorb(&cursor, .field, depth: 1)
  }

  /// Takes in what the item under a cursor tells, and moves past it.
  ///
  /// - Returns: Whether the item holds a reference.
  private mutating func absorb(
    _ cursor: inout RecordCursor, _ place: RecordPlace, depth: Int
  ) throws(RecordFault) -> Bool {
    guard depth <= RecordBody.maximumNestingDepth else { throw .nestingTooDeep }
    let head = try cursor.head()
    switch head.major {
    case .text, .bytes:
      unsafe cursor.content(head)
    case .array:
      return try absorbElements(Int(head.argument), &cursor, areEntries: false, depth: depth)
    case .map:
      let hasReference = try absorbFields(Int(head.argument), &cursor, depth: depth)
      if hasReference, place == .field { requirements.add(true) }
      return hasReference
    case .tag:
      return try absorb(tag: head.argument, &cursor, place, depth: depth)
    case .simple:
      if head.isNull, place == .field { requirements.add(false) }
    case .unsigned, .negative:
      break
    }
    return false
  }

  private mutating func absorb(
    tag: UInt64, _ cursor: inout RecordCursor, _ place: RecordPlace, depth: Int
  ) throws(RecordFault) -> Bool {
    switch tag {
    case RecordTag.requiredReference, RecordTag.optionalReference:
      types.add(try cursor.reference().type)
      if place == .field { requirements.add(tag == RecordTag.requiredReference) }
      return true
    case RecordTag.optionalSlot:
      requirements.add(false)
      return try absorbFields(cursor.mapCount(), &cursor, depth: depth)
    case RecordTag.entries:
      return try absorbElements(cursor.mapCount(), &cursor, areEntries: true, depth: depth)
    default:
      return try absorb(&cursor, place, depth: depth + 1)
    }
  }

  private mutating func absorbFields(
    _ count: Int, _ cursor: inout RecordCursor, depth: Int
  ) throws(RecordFault) -> Bool {
    var hasReference = false
    for _ in 0..<count {
      // The bytes outlive the cursor, and are copied here.
      let name = unsafe [UInt8](cursor.slice(try cursor.skip()))
      var shape = fields[name] ?? RecordShape()
      if try shape.absorb(&cursor, .field, depth: depth + 1) { hasReference = true }
      fields[name] = shape
    }
    return hasReference
  }

  private mutating func absorbElements(
    _ count: Int, _ cursor: inout RecordCursor, areEntries: Bool, depth: Int
  ) throws(RecordFault) -> Bool {
    var hasReference = false
    var shape = elements.first ?? RecordShape()
    for _ in 0..<count {
      if areEntries { try cursor.skip() }
      if try shape.absorb(&cursor, .element, depth: depth + 1) { hasReference = true }
    }
    if hasReference { elements = [shape] }
    return hasReference
  }
}
