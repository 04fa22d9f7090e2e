/// A position in a record body, which may hold any bytes at all.
///
/// Every read is checked against what is left, and nothing is allocated, so bytes that are no
/// record end in an error. Shared by all that looks at the structure of a body without decoding it.
struct RecordCursor: ~Escapable {
  /// The head of a CBOR item: its major type and its argument (RFC 8949, section 3).
  struct Head {
    let major: UInt8
    /// The low five bits of the first byte: how the argument was written.
    let information: UInt8
    let argument: UInt64
  }

  let bytes: Span<UInt8>
  var position = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { position == bytes.count }

  /// Reads a head. Indefinite lengths and reserved arguments are refused.
  mutating func head() throws(ModelError) -> Head {
    guard position < bytes.count else { throw damaged("the record ends too early") }
    let first = bytes[position]
    let information = first & 0x1f
    position += 1
    if information < 24 {
      return Head(major: first >> 5, information: information, argument: UInt64(information))
    }
    guard information < 28 else {
      throw damaged("a length or argument that is not definite")
    }
    let byteCount = 1 << Int(information - 24)
    guard bytes.count - position >= byteCount else { throw damaged("the record ends too early") }
    var argument: UInt64 = 0
    for _ in 0..<byteCount {
      argument = argument << 8 | UInt64(bytes[position])
      position += 1
    }
    return Head(major: first >> 5, information: information, argument: argument)
  }

  /// Reads the head of the next item without moving on.
  func nextHead() throws(ModelError) -> Head {
    var copy = self
    return try copy.head()
  }

  /// How many items an array or map has; never more than bytes are left for.
  func count(_ head: Head) throws(ModelError) -> Int {
    let itemsPerElement = head.major == 5 ? 2 : 1
    guard head.argument <= UInt64((bytes.count - position) / itemsPerElement) else {
      throw damaged("a container announces more items than there are bytes")
    }
    return Int(head.argument)
  }

  /// Reads the head of a map that must come next, inside of a tag, and returns its count.
  mutating func mapCount() throws(ModelError) -> Int {
    let head = try head()
    guard head.major == 5 else { throw damaged("a slot or entries without a map") }
    return try count(head)
  }

  /// Moves past the content of a byte string or text.
  ///
  /// - Returns: Where the content lies.
  mutating func content(_ head: Head) throws(ModelError) -> Range<Int> {
    guard head.argument <= UInt64(bytes.count - position) else {
      throw damaged("a text or byte string is longer than the record")
    }
    let start = position
    position += Int(head.argument)
    return start..<position
  }

  /// Moves past one item and all it contains.
  ///
  /// - Returns: Where the item lies.
  @discardableResult
  mutating func skip() throws(ModelError) -> Range<Int> {
    let start = position
    var remaining = 1
    while remaining > 0 {
      let head = try head()
      remaining -= 1
      switch head.major {
      case 2, 3: _ = try content(head)
      // Both sums stay below twice the number of bytes.
      case 4: remaining += try count(head)
      case 5: remaining += try 2 * count(head)
      case 6: remaining += 1
      default: break
      }
    }
    return start..<position
  }

  /// Reads the two numbers after a reference's tag.
  mutating func reference() throws(ModelError) -> RecordReference {
    let array = try head()
    let node = try head()
    let type = try head()
    guard array.major == 4, array.argument == 2, node.major == 0, type.major == 0,
      let typeNumber = UInt32(exactly: type.argument)
    else {
      throw damaged("a reference that is not a pair of numbers")
    }
    return RecordReference(node: node.argument, type: typeNumber)
  }

  /// Reads the text at a place that holds one.
  func text(at range: Range<Int>) throws(ModelError) -> String {
    do {
      return String(copying: try UTF8Span(validating: bytes.extracting(range)))
    } catch {
      throw damaged("a text that is not UTF-8")
    }
  }

  /// The error for bytes that are no record.
  func damaged(_ reason: String) -> ModelError {
    ModelError(.invalidRecord, reason: "\(reason) (at byte \(position))")
  }

  static var tooDeep: ModelError {
    ModelError(
      .nestingTooDeep,
      reason: "nested deeper than \(RecordBody.maximumNestingDepth) levels")
  }
}
