/// Copies a value into the slot of another body, with the kinds of slots, and if asked for the
/// types of children, that the shape of the old value tells.
struct RecordFitter {
  private var cursor: RecordCursor
  private let keepsTypes: Bool

  init(_ cursor: RecordCursor, keepsTypes: Bool) {
    self.cursor = cursor
    self.keepsTypes = keepsTypes
  }

  /// Copies the item under the cursor.
  mutating func fit(
    _ place: RecordPlace, shape: RecordShape?, into output: inout CBORWriter
  ) throws(RecordFault) {
    _ = try copy(place, shape, to: &output, depth: 1)
  }

  /// Copies the next item.
  ///
  /// - Returns: Whether the item holds a reference.
  private mutating func copy(
    _ place: RecordPlace, _ shape: RecordShape?, to output: inout CBORWriter, depth: Int
  ) throws(RecordFault) -> Bool {
    guard depth <= RecordBody.maximumNestingDepth else { throw .nestingTooDeep }
    let start = cursor.position
    let head = try cursor.head()
    switch head.major {
    case .text, .bytes:
      unsafe cursor.content(head)
    case .array:
      return try copyArray(Int(head.argument), shape, to: &output, depth: depth)
    case .map:
      let isOptional = place == .field && shape?.isRequired == false
      return try copyObject(Int(head.argument), isOptional, shape, to: &output, depth: depth)
    case .tag:
      return try copy(tag: head.argument, place, shape, to: &output, depth: depth)
    case .unsigned, .negative, .simple:
      break
    }
    // The bytes outlive the cursor, and are copied at once.
    unsafe output.append(raw: cursor.slice(start..<cursor.position))
    return false
  }

  private mutating func copy(
    tag: UInt64, _ place: RecordPlace, _ shape: RecordShape?, to output: inout CBORWriter,
    depth: Int
  ) throws(RecordFault) -> Bool {
    switch tag {
    case RecordTag.requiredReference, RecordTag.optionalReference:
      let isRequired = shape?.isRequired ?? (tag == RecordTag.requiredReference)
      try copyReference(shape, isOptional: place == .field && !isRequired, to: &output)
      return true
    case RecordTag.optionalSlot:
      let isOptional = place == .field && shape?.isRequired != true
      return try copyObject(cursor.mapCount(), isOptional, shape, to: &output, depth: depth)
    case RecordTag.entries:
      return try copyEntries(cursor.mapCount(), shape, to: &output, depth: depth)
    default:
      output.append(tag: tag)
      return try copy(place, shape, to: &output, depth: depth + 1)
    }
  }

  private mutating func copyReference(
    _ shape: RecordShape?, isOptional: Bool, to output: inout CBORWriter
  ) throws(RecordFault) {
    let reference = try cursor.reference()
    let type = keepsTypes ? shape?.type ?? reference.type : reference.type
    output.append(
      reference: RecordReference(node: reference.node, type: type), isOptional: isOptional)
  }

  private mutating func copyArray(
    _ count: Int, _ shape: RecordShape?, to output: inout CBORWriter, depth: Int
  ) throws(RecordFault) -> Bool {
    output.append(arrayHead: count)
    var hasReference = false
    for _ in 0..<count {
      let element = shape?.elements.first
      if try copy(.element, element, to: &output, depth: depth + 1) { hasReference = true }
    }
    return hasReference
  }

  private mutating func copyEntries(
    _ count: Int, _ shape: RecordShape?, to output: inout CBORWriter, depth: Int
  ) throws(RecordFault) -> Bool {
    let start = output.count
    output.append(mapHead: count)
    var hasReference = false
    for _ in 0..<count {
      // As above.
      unsafe output.append(raw: cursor.slice(try cursor.skip()))
      let element = shape?.elements.first
      if try copy(.entry, element, to: &output, depth: depth + 1) { hasReference = true }
    }
    if hasReference { output.insertHead(.tag, RecordTag.entries, at: start) }
    return hasReference
  }

  private mutating func copyObject(
    _ count: Int, _ isOptional: Bool, _ shape: RecordShape?, to output: inout CBORWriter,
    depth: Int
  ) throws(RecordFault) -> Bool {
    let start = output.count
    output.append(mapHead: count)
    var hasReference = false
    for _ in 0..<count {
      // As above.
      let name = unsafe cursor.slice(try cursor.skip())
      unsafe output.append(raw: name)
      let field = shape.flatMap { unsafe $0.fields[Array(name)] }
      if try copy(.field, field, to: &output, depth: depth + 1) { hasReference = true }
    }
    if hasReference, isOptional { output.insertHead(.tag, RecordTag.optionalSlot, at: start) }
    return hasReference
  }
}
