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
