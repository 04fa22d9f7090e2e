/// Copies a value to the slot of another body with the kinds of slots, and optionally the types of
/// children, of the old value's shape.
struct RecordFitter {
  private var cursor: RecordCursor
  private let keepsTypes: Bool

  init(_ cursor: RecordCursor, keepsTypes: Bool) {
    self.cursor = cursor
    self.keepsTypes = keepsTypes
  }

  /// Copies the item at the cursor.
  mutating func fit(
    _ slot: RecordSlot, shape: RecordShape?, into output: inout CBORWriter
  ) throws(RecordFault) {
    _ = try copy(slot, shape, to: &output, depth: 1)
  }

  /// Copies the next item.
  ///
  /// - Returns: Whether the item contains a reference.
  private mutating func copy(
    _ slot: RecordSlot, _ shape: RecordShape?, to output: inout CBORWriter, depth: Int
  ) throws(RecordFault) -> Bool {
    let start = cursor.position
    switch try cursor.item(atDepth: depth) {
    case .scalar:
      // The bytes outlive the cursor and are copied here.
      unsafe output.append(raw: cursor.slice(start..<cursor.position))
      return false
    case .reference(let child, let isOptional):
      let type = keepsTypes ? shape?.type ?? child.type : child.type
      output.append(
        reference: RecordReference(node: child.node, type: type),
        isOptional: slot == .field && !(shape?.isRequired ?? !isOptional))
      return true
    case .list(let count):
      return try copyElements(count, .array, shape, to: &output, depth: depth)
    case .entries(let count):
      return try copyElements(count, .map, shape, to: &output, depth: depth)
    case .fields(let count, let isOptional):
      return try copyFields(
        count, isOptional: slot == .field && !(shape?.isRequired ?? !isOptional), shape,
        to: &output, depth: depth)
    case .tagged(let tag):
      output.append(tag: tag)
      return try copy(slot, shape, to: &output, depth: depth + 1)
    }
  }

  @inline(never)
  private mutating func copyElements(
    _ count: Int, _ major: CBORHead.Major, _ shape: RecordShape?, to output: inout CBORWriter,
    depth: Int
  ) throws(RecordFault) -> Bool {
    let start = output.count
    output.append(head: major, UInt64(count))
    let slot = major == .map ? RecordSlot.entry : .element
    var hasReference = false
    for _ in 0..<count {
      // Same as above.
      if major == .map { unsafe output.append(raw: cursor.slice(try cursor.skip())) }
      let element = shape?.elements.first
      if try copy(slot, element, to: &output, depth: depth + 1) { hasReference = true }
    }
    if hasReference, major == .map { output.insertHead(.tag, RecordTag.entries, at: start) }
    return hasReference
  }

  @inline(never)
  private mutating func copyFields(
    _ count: Int, isOptional: Bool, _ shape: RecordShape?, to output: inout CBORWriter, depth: Int
  ) throws(RecordFault) -> Bool {
    let start = output.count
    output.append(mapHead: count)
    var hasReference = false
    for _ in 0..<count {
      // Same as above.
      let name = unsafe cursor.slice(try cursor.skip())
      unsafe output.append(raw: name)
      let field = shape.flatMap { unsafe $0.fields[Array(name)] }
      if try copy(.field, field, to: &output, depth: depth + 1) { hasReference = true }
    }
    if hasReference, isOptional { output.insertHead(.tag, RecordTag.optionalSlot, at: start) }
    return hasReference
  }
}

/// The kinds of slots in a value of a record, and the types of the children in them.
///
/// All elements of an array share one shape, as do all values of a dictionary, because they have
/// one static type.
struct RecordShape {
  /// The common value of all elements of an array, if any.
  private indirect enum Agreement<Value: Equatable> {
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

  /// The type number of all references here; `nil` if there are none, or several types.
  var type: UInt32? { types.value }

  /// Whether the slot is required; `nil` if unknown.
  var isRequired: Bool? { requirements.value }

  /// The shapes of the fields, by encoded name.
  var fields: [[UInt8]: RecordShape] = [:]

  /// The shape of the elements or values, if any is known.
  var elements: [RecordShape] = []

  /// Adds the shape of the field value at a cursor.
  mutating func absorb(_ cursor: RecordCursor) throws(RecordFault) {
    var cursor = cursor
    _ = try absorb(&cursor, .field, depth: 1)
  }

  /// Adds the shape of the item at a cursor, and skips it.
  ///
  /// - Returns: Whether the item contains a reference.
  private mutating func absorb(
    _ cursor: inout RecordCursor, _ slot: RecordSlot, depth: Int
  ) throws(RecordFault) -> Bool {
    switch try cursor.item(atDepth: depth) {
    case .scalar(let head):
      if head.isNull, slot == .field { requirements.add(false) }
      return false
    case .reference(let child, let isOptional):
      types.add(child.type)
      if slot == .field { requirements.add(!isOptional) }
      return true
    case .list(let count):
      return try absorbElements(count, &cursor, areEntries: false, depth: depth)
    case .entries(let count):
      return try absorbElements(count, &cursor, areEntries: true, depth: depth)
    case .fields(let count, let isOptional):
      if isOptional { requirements.add(false) }
      let hasReference = try absorbFields(count, &cursor, depth: depth)
      if hasReference, !isOptional, slot == .field { requirements.add(true) }
      return hasReference
    case .tagged:
      return try absorb(&cursor, slot, depth: depth + 1)
    }
  }

  @inline(never)
  private mutating func absorbFields(
    _ count: Int, _ cursor: inout RecordCursor, depth: Int
  ) throws(RecordFault) -> Bool {
    var hasReference = false
    for _ in 0..<count {
      // The bytes outlive the cursor and are copied here.
      let name = unsafe [UInt8](cursor.slice(try cursor.skip()))
      var shape = fields[name] ?? RecordShape()
      if try shape.absorb(&cursor, .field, depth: depth + 1) { hasReference = true }
      fields[name] = shape
    }
    return hasReference
  }

  @inline(never)
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
