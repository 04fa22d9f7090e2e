/// An item of a record, by the grammar that all functions on records share.
///
/// ```
/// item      = scalar / reference / list / fields / entries / tagged
/// scalar    = number / bytes / text / simple
/// reference = 20545 or 20546 ([node, type])
/// list      = [* item]
/// fields    = {* name: item} / 20547 ({* name: item})
/// entries   = 20548 ({* key: item})
/// tagged    = any other tag (item)
/// ```
/// `docs/format.md` explains them. A dictionary without references has the same form as fields.
enum RecordItem {
  /// An item without inner items, which has been read completely.
  case scalar(CBORHead)
  /// A child, which has been read; optional if its slot can become null.
  case reference(RecordReference, isOptional: Bool)
  /// The number of items that follow.
  case list(count: Int)
  /// The number of pairs of name and item that follow; optional if their slot can become null.
  case fields(count: Int, isOptional: Bool)
  /// The number of removable pairs of key and item that follow.
  case entries(count: Int)
  /// One item follows.
  case tagged(UInt64)
}

/// A ``CBORReader`` for the structure of a record body, without decoding.
///
/// The body may have any bytes: if they are no record, the result is a ``RecordFault``.
///
/// - Note: The bytes must outlive the cursor, as for a reader.
@safe struct RecordCursor {
  private let bytes: UnsafeRawBufferPointer
  private var reader: CBORReader
  /// Whether each head must have its shortest form.
  private let isStrict: Bool
  /// Whether references carry names, which are passed over.
  private let isNamed: Bool

  init(_ bytes: UnsafeRawBufferPointer, isStrict: Bool = false, isNamed: Bool = false) {
    unsafe self.bytes = bytes
    reader = unsafe CBORReader(bytes)
    self.isStrict = isStrict
    self.isNamed = isNamed
  }

  /// Makes a cursor at a position in the same bytes.
  init(_ cursor: RecordCursor, at position: Int) {
    self = cursor
    reader = unsafe CBORReader(bytes)
    reader.advance(by: position)
  }

  /// The number of all bytes.
  var byteCount: Int { unsafe bytes.count }

  /// The number of bytes read.
  var position: Int { reader.offset }

  /// Reads the next item up to its inner items.
  ///
  /// - Parameter depth: The depth of the item.
  /// - Returns: The item.
  /// - Throws: ``RecordFault`` if the bytes are no record, or the item is too deep.
  @inline(__always)
  mutating func item(atDepth depth: Int) throws(RecordFault) -> RecordItem {
    guard depth <= RecordBody.maximumNestingDepth else { throw .nestingTooDeep }
    let head = try head()
    switch head.major {
    case .unsigned, .negative, .simple: return .scalar(head)
    case .bytes, .text:
      unsafe _ = reader.bytes(of: head)
      return .scalar(head)
    case .array: return .list(count: Int(head.argument))
    case .map: return .fields(count: Int(head.argument), isOptional: false)
    case .tag: break
    }
    switch head.argument {
    case RecordTag.requiredReference: return .reference(try reference(), isOptional: false)
    case RecordTag.optionalReference: return .reference(try reference(), isOptional: true)
    case RecordTag.optionalSlot: return .fields(count: try mapCount(), isOptional: true)
    case RecordTag.entries: return .entries(count: try mapCount())
    default: return .tagged(head.argument)
    }
  }

  /// Reads a head, and checks lengths and counts against the remaining bytes.
  mutating func head() throws(RecordFault) -> CBORHead {
    let head: CBORHead
    do {
      head = try reader.head()
    } catch {
      throw .cbor(error)
    }
    if isStrict { try checkLength(of: head) }
    return head
  }

  @inline(never)
  private func checkLength(of head: CBORHead) throws(RecordFault) {
    guard head.isShortest else {
      throw damaged("a number or length that is not in its shortest form")
    }
  }

  /// Reads the head of the map that must follow in a tag, and returns its count.
  @inline(never)
  private mutating func mapCount() throws(RecordFault) -> Int {
    let head = try head()
    guard head.major == .map else { throw damaged("a slot or entries without a map") }
    return Int(head.argument)
  }

  /// Reads the two numbers after a reference's tag.
  @inline(never)
  private mutating func reference() throws(RecordFault) -> RecordReference {
    if isNamed {
      try skip()
      return RecordReference(node: 0, type: 0)
    }
    if isStrict {
      var copy = self
      for _ in 0..<3 { _ = try copy.head() }
    }
    do {
      return try reader.reference()
    } catch {
      throw .cbor(error)
    }
  }

  /// The content of the last text or byte string.
  func content(_ head: CBORHead) -> UnsafeRawBufferPointer {
    unsafe slice((position - Int(head.argument))..<position)
  }

  /// The last text.
  func text(_ head: CBORHead) throws(RecordFault) -> String {
    // `content` outlives this call. `String(validating:as:)` has the same result, but is generic
    // and many times slower.
    let content = unsafe Span<UInt8>(_unsafeBytes: content(head))
    guard let text = try? UTF8Span(validating: content) else {
      throw damaged("a text that is not UTF-8")
    }
    return String(copying: text)
  }

  /// Checks that the last text is UTF-8.
  func checkText(_ head: CBORHead) throws(RecordFault) {
    // As above.
    let content = unsafe Span<UInt8>(_unsafeBytes: content(head))
    guard (try? UTF8Span(validating: content)) != nil else {
      throw damaged("a text that is not UTF-8")
    }
  }

  /// Skips one item with all its contents.
  ///
  /// - Returns: The range of the item.
  @discardableResult
  mutating func skip() throws(RecordFault) -> Range<Int> {
    let start = position
    do {
      try reader.skip()
    } catch {
      throw .cbor(error)
    }
    return start..<position
  }

  /// Checks that the one item has been read completely and nothing follows.
  func finish() throws(RecordFault) {
    do {
      try reader.finish()
    } catch {
      throw .cbor(error)
    }
  }

  /// The bytes in a range; they live as long as those of the cursor.
  func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
  }

  /// The byte at a position.
  subscript(position: Int) -> UInt8 {
    precondition(0..<byteCount ~= position, "no byte \(position) of \(byteCount)")
    return unsafe bytes[position]
  }

  /// The fault for an item that records do not have at the position.
  func damaged(_ what: StaticString) -> RecordFault {
    .misplaced(what, offset: position)
  }
}

/// The slot of a value in a record, which determines how a reference there is lost.
enum RecordSlot {
  /// The body itself.
  case root
  /// The value of a field in an object.
  case field
  /// An element of an array.
  case element
  /// The value of an entry in a dictionary.
  case entry

  /// The kind of loss of a reference with the tag of a required one in this slot.
  var kindOfRequired: EdgeKinds {
    switch self {
    case .root, .field: .required
    case .element: .element
    case .entry: .entry
    }
  }
}
