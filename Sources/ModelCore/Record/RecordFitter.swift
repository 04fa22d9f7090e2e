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
      output.append(arrayHead: Int(head.argument))
      var hasReference = false
      for _ in 0..<head.argument {
        let element = shape?.elements.first
        if try copy(.element, element, to: &output, depth: depth + 1) { hasReference = true }
      }
      return hasReference
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
      let reference = try cursor.reference()
      let isRequired = shape?.isRequired ?? (tag == RecordTag.requiredReference)
      let type = keepsTypes ? shape?.type ?? reference.type : reference.type
      output.append(
        reference: RecordReference(node: reference.node, type: type),
        isOptional: place == .field && !isRequired)
      return true
    case RecordTag.optionalSlot:
      let isOptional = place == .field && shape?.isRequired != true
      return try copyObject(cursor.mapCount(), isOptional, shape, to: &output, depth: depth)
    case RecordTag.entries:
      let count = try cursor.mapCount()
      output.append(tag: RecordTag.entries)
      output.append(mapHead: count)
      for _ in 0..<count {
        // As above.
        unsafe output.append(raw: cursor.slice(try cursor.skip()))
        _ = try copy(.entry, shape?.elements.first, to: &output, depth: depth + 1)
      }
      return true
    default:
      output.append(tag: tag)
      return try copy(place, shape, to: &output, depth: depth + 1)
    }
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
