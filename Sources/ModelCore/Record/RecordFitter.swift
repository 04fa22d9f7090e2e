/// Copies a value into the slot of another body, with the kinds of slots, and if asked for the
/// types of children, that the shape of the old value tells.
struct RecordFitter: ~Escapable {
  var cursor: RecordCursor
  private let keepsTypes: Bool
  private(set) var output: [UInt8] = []

  @_lifetime(copy cursor)
  init(_ cursor: consuming RecordCursor, keepsTypes: Bool) {
    self.cursor = cursor
    self.keepsTypes = keepsTypes
  }

  /// Copies the item under the cursor.
  ///
  /// - Returns: Whether the item holds a reference.
  mutating func write(
    _ place: RecordPlace, shape: RecordShape?, depth: Int
  ) throws(ModelError) -> Bool {
    guard depth <= RecordBody.maximumNestingDepth else { throw RecordCursor.tooDeep }
    let start = cursor.position
    let head = try cursor.head()
    switch head.major {
    case 2, 3:
      _ = try cursor.content(head)
    case 4:
      return try writeArray(cursor.count(head), shape: shape, depth: depth)
    case 5:
      return try writeObject(
        cursor.count(head), place, isRequired: shape?.isRequired ?? true, shape, depth: depth)
    case 6:
      return try write(tag: head.argument, place, shape: shape, depth: depth)
    default:
      break
    }
    output.appendPart(of: cursor.bytes, start..<cursor.position)
    return false
  }

  private mutating func write(
    tag: UInt64, _ place: RecordPlace, shape: RecordShape?, depth: Int
  ) throws(ModelError) -> Bool {
    switch tag {
    case RecordTag.requiredReference, RecordTag.optionalReference:
      let reference = try cursor.reference()
      let isRequired = shape?.isRequired ?? (tag == RecordTag.requiredReference)
      let isOptional = place == .field && !isRequired
      output.appendHead(
        major: 6, isOptional ? RecordTag.optionalReference : RecordTag.requiredReference)
      output.appendHead(major: 4, 2)
      output.appendHead(major: 0, reference.node)
      let type = keepsTypes ? shape?.type ?? reference.type : reference.type
      output.appendHead(major: 0, UInt64(type))
      return true
    case RecordTag.optionalSlot:
      return try writeObject(
        cursor.mapCount(), place, isRequired: shape?.isRequired ?? false, shape, depth: depth)
    case RecordTag.entries:
      return try writeEntries(shape: shape, depth: depth)
    default:
      output.appendHead(major: 6, tag)
      return try write(place, shape: shape, depth: depth + 1)
    }
  }

  private mutating func writeArray(
    _ count: Int, shape: RecordShape?, depth: Int
  ) throws(ModelError) -> Bool {
    output.appendHead(major: 4, UInt64(count))
    var hasReference = false
    for _ in 0..<count {
      if try write(.element, shape: shape?.elements.first, depth: depth + 1) { hasReference = true }
    }
    return hasReference
  }

  private mutating func writeObject(
    _ count: Int, _ place: RecordPlace, isRequired: Bool, _ shape: RecordShape?, depth: Int
  ) throws(ModelError) -> Bool {
    let start = output.count
    output.appendHead(major: 5, UInt64(count))
    var hasReference = false
    for _ in 0..<count {
      let key = try cursor.skip()
      output.appendPart(of: cursor.bytes, key)
      var name: [UInt8] = []
      if let shape, !shape.fields.isEmpty { name.appendPart(of: cursor.bytes, key) }
      if try write(.field, shape: shape?.fields[name], depth: depth + 1) { hasReference = true }
    }
    if hasReference, place == .field, !isRequired {
      output.insertTag(RecordTag.optionalSlot, at: start)
    }
    return hasReference
  }

  private mutating func writeEntries(
    shape: RecordShape?, depth: Int
  ) throws(ModelError) -> Bool {
    let count = try cursor.mapCount()
    output.appendHead(major: 6, RecordTag.entries)
    output.appendHead(major: 5, UInt64(count))
    for _ in 0..<count {
      output.appendPart(of: cursor.bytes, try cursor.skip())
      _ = try write(.entry, shape: shape?.elements.first, depth: depth + 1)
    }
    return true
  }
}
