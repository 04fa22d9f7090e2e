/// What a value in a record tells of the slots in it: how each is lost, and of which type its
/// children are.
///
/// All elements of an array share one shape, and so do all values of a dictionary: they have one
/// static type.
struct RecordShape {
  /// The type number that references here carry.
  var type: UInt32?

  /// Whether the slot is required; `nil` when its value does not tell.
  var isRequired: Bool?

  /// The shapes of the fields, under their encoded names.
  var fields: [[UInt8]: RecordShape] = [:]

  /// The shape of the elements or values, if any is known.
  var elements: [RecordShape] = []

  /// Takes in what the item under a cursor tells, and moves past it.
  ///
  /// - Returns: Whether the item holds a reference.
  mutating func absorb(
    _ cursor: inout RecordCursor, _ place: RecordPlace, depth: Int
  ) throws(ModelError) -> Bool {
    guard depth <= RecordBody.maximumNestingDepth else { throw RecordCursor.tooDeep }
    let head = try cursor.head()
    switch head.major {
    case 2, 3:
      _ = try cursor.content(head)
    case 4:
      return try absorbElements(cursor.count(head), &cursor, areEntries: false, depth: depth)
    case 5:
      let hasReference = try absorbFields(cursor.count(head), &cursor, depth: depth)
      if hasReference, place == .field, isRequired == nil { isRequired = true }
      return hasReference
    case 6:
      return try absorb(tag: head.argument, &cursor, place, depth: depth)
    case 7 where head.information == 22:
      if place == .field { isRequired = false }
    default:
      break
    }
    return false
  }

  private mutating func absorb(
    tag: UInt64, _ cursor: inout RecordCursor, _ place: RecordPlace, depth: Int
  ) throws(ModelError) -> Bool {
    switch tag {
    case RecordTag.requiredReference, RecordTag.optionalReference:
      type = try cursor.reference().type
      if place == .field { isRequired = tag == RecordTag.requiredReference }
      return true
    case RecordTag.optionalSlot:
      isRequired = false
      return try absorbFields(cursor.mapCount(), &cursor, depth: depth)
    case RecordTag.entries:
      return try absorbElements(cursor.mapCount(), &cursor, areEntries: true, depth: depth)
    default:
      return try absorb(&cursor, place, depth: depth + 1)
    }
  }

  private mutating func absorbFields(
    _ count: Int, _ cursor: inout RecordCursor, depth: Int
  ) throws(ModelError) -> Bool {
    var hasReference = false
    for _ in 0..<count {
      var name: [UInt8] = []
      name.appendPart(of: cursor.bytes, try cursor.skip())
      var shape = fields[name] ?? RecordShape()
      if try shape.absorb(&cursor, .field, depth: depth + 1) { hasReference = true }
      fields[name] = shape
    }
    return hasReference
  }

  private mutating func absorbElements(
    _ count: Int, _ cursor: inout RecordCursor, areEntries: Bool, depth: Int
  ) throws(ModelError) -> Bool {
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
