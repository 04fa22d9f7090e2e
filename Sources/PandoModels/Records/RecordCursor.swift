/// A ``CBORReader`` over a record body, for what looks at its structure without decoding it.
///
/// The body may hold any bytes at all: what is no record ends in a ``RecordFault``.
///
/// - Note: The bytes must outlive the cursor, as those of a reader must.
@safe struct RecordCursor {
  private let bytes: UnsafeRawBufferPointer
  private var reader: CBORReader

  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.bytes = bytes
    reader = unsafe CBORReader(bytes)
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

  /// Reads a head, and checks lengths and counts against the bytes that are left.
  mutating func head() throws(RecordFault) -> CBORHead {
    do {
      return try reader.head()
    } catch {
      throw .cbor(error)
    }
  }

  /// Reads the head of the next item without moving on.
  func nextHead() throws(RecordFault) -> CBORHead {
    var copy = self
    return try copy.head()
  }

  /// Reads the head of a map that must come next, inside of a tag, and returns its count.
  mutating func mapCount() throws(RecordFault) -> Int {
    let head = try head()
    guard head.major == .map else { throw damaged("a slot or entries without a map") }
    return Int(head.argument)
  }

  /// Moves past the content of a text or byte string whose head was read.
  @discardableResult
  mutating func content(_ head: CBORHead) -> UnsafeRawBufferPointer {
    unsafe reader.bytes(of: head)
  }

  /// Reads the content of a text whose head was read.
  mutating func text(_ head: CBORHead) throws(RecordFault) -> String {
    // The bytes outlive the cursor, and are copied at once. `String(validating:as:)` would do the
    // same, but is generic and many times slower.
    let content = unsafe Span<UInt8>(_unsafeBytes: content(head))
    guard let text = try? UTF8Span(validating: content) else {
      throw damaged("a text that is not UTF-8")
    }
    return String(copying: text)
  }

  /// Moves past the content of a text whose head was read, and checks that it is UTF-8.
  mutating func checkText(_ head: CBORHead) throws(RecordFault) {
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

  /// Reads the two numbers after a reference's tag.
  mutating func reference() throws(RecordFault) -> RecordReference {
    do {
      return try reader.reference()
    } catch {
      throw .cbor(error)
    }
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

/// Where in a record a value stands, which says how a reference there is lost.
enum RecordPlace {
  /// The body itself.
  case root
  /// The value of a field in an object.
  case field
  /// An element of an array.
  case element
  /// The value of an entry in a dictionary.
  case entry

  /// How a reference with the tag of a required one is lost at this place.
  var kindOfRequired: EdgeKinds {
    switch self {
    case .root, .field: .required
    case .element: .element
    case .entry: .entry
    }
  }
}

/// Walks a body and collects the references in it.
struct RecordEdgeScanner {
  private var cursor: RecordCursor
  private var edges: [RecordEdge] = []

  init(_ cursor: RecordCursor) {
    self.cursor = cursor
  }

  /// Walks the whole body.
  ///
  /// - Returns: One edge for each distinct reference.
  mutating func scan() throws(RecordFault) -> [RecordEdge] {
    try scan(.root, depth: 0)
    try cursor.finish()
    edges.normalize()
    return edges
  }

  private mutating func scan(_ place: RecordPlace, depth: Int) throws(RecordFault) {
    guard depth <= RecordBody.maximumNestingDepth else { throw .nestingTooDeep }
    let head = try cursor.head()
    switch head.major {
    case .text, .bytes:
      unsafe cursor.content(head)
    case .array:
      for _ in 0..<head.argument { try scan(.element, depth: depth + 1) }
    case .map:
      try scanFields(Int(head.argument), .field, depth: depth)
    case .tag:
      try scan(tag: head.argument, place, depth: depth)
    case .unsigned, .negative, .simple:
      break
    }
  }

  private mutating func scan(
    tag: UInt64, _ place: RecordPlace, depth: Int
  ) throws(RecordFault) {
    switch tag {
    case RecordTag.requiredReference:
      edges.append(RecordEdge(child: try cursor.reference(), kinds: place.kindOfRequired))
    case RecordTag.optionalReference:
      edges.append(RecordEdge(child: try cursor.reference(), kinds: .optional))
    case RecordTag.optionalSlot:
      try scanFields(cursor.mapCount(), .field, depth: depth)
    case RecordTag.entries:
      try scanFields(cursor.mapCount(), .entry, depth: depth)
    default:
      try scan(place, depth: depth + 1)
    }
  }

  private mutating func scanFields(
    _ count: Int, _ place: RecordPlace, depth: Int
  ) throws(RecordFault) {
    for _ in 0..<count {
      try cursor.skip()
      try scan(place, depth: depth + 1)
    }
  }
}
