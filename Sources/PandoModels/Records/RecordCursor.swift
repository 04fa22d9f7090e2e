/// What an item of a record is: the grammar of records, which all that walks over them shares.
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
/// `docs/format.md` says what each stands for. A dictionary that holds no reference looks like fields.
enum RecordItem {
  /// It holds no other item and has been read to its end.
  case scalar(CBORHead)
  /// A child, which has been read; optional if its slot can become null.
  case reference(RecordReference, isOptional: Bool)
  /// So many items follow.
  case list(count: Int)
  /// So many pairs of name and item follow; optional if they lie in a slot that can become null.
  case fields(count: Int, isOptional: Bool)
  /// So many pairs of key and item follow that can be removed one by one.
  case entries(count: Int)
  /// One item follows.
  case tagged(UInt64)
}

/// A ``CBORReader`` over a record body, for what looks at its structure without decoding it.
///
/// The body may hold any bytes at all: what is no record ends in a ``RecordFault``.
///
/// - Note: The bytes must outlive the cursor, as those of a reader must.
@safe struct RecordCursor {
  private let bytes: UnsafeRawBufferPointer
  private var reader: CBORReader
  /// Whether each head must be as short as it can be.
  private let isStrict: Bool

  init(_ bytes: UnsafeRawBufferPointer, isStrict: Bool = false) {
    unsafe self.bytes = bytes
    reader = unsafe CBORReader(bytes)
    self.isStrict = isStrict
  }

  /// A cursor at the beginning of a part of the same bytes.
  init(_ cursor: RecordCursor, at position: Int) {
    self = cursor
    reader = unsafe CBORReader(bytes)
    reader.advance(by: position)
  }

  /// How many bytes there are in all.
  var byteCount: Int { unsafe bytes.count }

  /// How many bytes have been read.
  var position: Int { reader.offset }

  /// Reads the next item, or as much of it as comes before the items inside it.
  ///
  /// - Parameter depth: How deep it lies.
  /// - Returns: What it is.
  /// - Throws: ``RecordFault`` when the bytes are no record, or it lies too deep.
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

  /// Reads a head, and checks lengths and counts against the bytes that are left.
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

  /// Reads the head of a map that must come next, inside of a tag, and returns its count.
  @inline(never)
  private mutating func mapCount() throws(RecordFault) -> Int {
    let head = try head()
    guard head.major == .map else { throw damaged("a slot or entries without a map") }
    return Int(head.argument)
  }

  /// Reads the two numbers after a reference's tag.
  @inline(never)
  private mutating func reference() throws(RecordFault) -> RecordReference {
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

  /// The content of the text or byte string that has just been read.
  func content(_ head: CBORHead) -> UnsafeRawBufferPointer {
    unsafe slice((position - Int(head.argument))..<position)
  }

  /// The text that has just been read.
  func text(_ head: CBORHead) throws(RecordFault) -> String {
    // `content` outlives this call. `String(validating:as:)` would do the same, but is generic and many
    // times slower.
    let content = unsafe Span<UInt8>(_unsafeBytes: content(head))
    guard let text = try? UTF8Span(validating: content) else {
      throw damaged("a text that is not UTF-8")
    }
    return String(copying: text)
  }

  /// Checks that the text that has just been read is UTF-8.
  func checkText(_ head: CBORHead) throws(RecordFault) {
    // As above.
    let content = unsafe Span<UInt8>(_unsafeBytes: content(head))
    guard (try? UTF8Span(validating: content)) != nil else {
      throw damaged("a text that is not UTF-8")
    }
  }

  /// Moves past one item and all it contains.
  ///
  /// - Returns: Where the item lies.
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

  /// Checks that the one item has been read and nothing follows.
  func finish() throws(RecordFault) {
    do {
      try reader.finish()
    } catch {
      throw .cbor(error)
    }
  }

  /// The bytes at a range; they live as long as those given to the cursor.
  func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
  }

  /// The byte at a position.
  subscript(position: Int) -> UInt8 {
    precondition(0..<byteCount ~= position, "no byte \(position) of \(byteCount)")
    return unsafe bytes[position]
  }

  /// The fault of an item that no record holds there.
  func damaged(_ what: StaticString) -> RecordFault {
    .misplaced(what, offset: position)
  }
}

/// The slot of a record that a value stands in, which says how a reference there is lost.
enum RecordSlot {
  /// The body itself.
  case root
  /// The value of a field in an object.
  case field
  /// An element of an array.
  case element
  /// The value of an entry in a dictionary.
  case entry

  /// How a reference with the tag of a required one is lost in this slot.
  var kindOfRequired: EdgeKinds {
    switch self {
    case .root, .field: .required
    case .element: .element
    case .entry: .entry
    }
  }
}
