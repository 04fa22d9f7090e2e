import PandoRecords

/// One element of a collection, as the bytes of the ordered list.
///
/// ```
/// offset 0    1            3               9
///        ┌────┬────────────┬───────────────┐
///        │ 1  │ type (2)   │ node (6)      │    a node, little endian
///        ├────┼────────────┴───────────────┤
///        │ 2  │ body (CBOR) …              │    a value without identifier
///        └────┴────────────────────────────┘
/// ```
enum CollectionElement: Equatable {
  case node(RecordReference)
  case value([UInt8])

  private static let nodeForm: UInt8 = 1
  private static let valueForm: UInt8 = 2

  init(_ bytes: Span<UInt8>, of cacheKey: String) throws {
    switch bytes.isEmpty ? 0 : bytes[0] {
    case Self.nodeForm:
      guard bytes.count == 9, let type = bytes.littleEndian(at: 1, width: 2),
        let node = bytes.littleEndian(at: 3, width: 6)
      else { throw StoreError.damaged(cacheKey, "an element is malformed") }
      self = .node(RecordReference(node: node, type: UInt32(type)))
    case Self.valueForm:
      self = .value(Array(copying: bytes.extracting(1..<bytes.count)))
    default: throw StoreError.damaged(cacheKey, "an element is of an unknown form")
    }
  }

  /// The node of an element; `nil` for a value, and for malformed bytes.
  static func node(_ bytes: Span<UInt8>) -> UInt64? {
    guard bytes.count == 9, bytes[0] == nodeForm else { return nil }
    // Type and node are the eight bytes after the form.
    return bytes.littleEndian(at: 1).map { $0 >> 16 }
  }

  /// Whether any of the items of a leaf may contain a node.
  ///
  /// If all items list nodes, as in most collections, they have the same length, and one loop over
  /// fixed offsets is enough.
  static func items(_ items: Span<UInt8>, count: Int, mayHold node: UInt64) -> Bool {
    let itemByteCount = 10
    guard items.count == count * itemByteCount else { return true }
    let start = UInt16(nodeForm) << 8 | UInt16(itemByteCount - 1)
    let bytes = unsafe items.bytes
    for index in 0..<count {
      // In bounds by the line above: the length of an element, its form, then type and node.
      let head = unsafe bytes.unsafeLoadUnaligned(
        fromByteOffset: index &* itemByteCount, as: UInt16.self)
      let reference = unsafe bytes.unsafeLoadUnaligned(
        fromByteOffset: index &* itemByteCount &+ 2, as: UInt64.self)
      if UInt16(littleEndian: head) != start || UInt64(littleEndian: reference) >> 16 == node {
        return true
      }
    }
    return false
  }

  /// The body of a value; `nil` for a node.
  @_lifetime(copy bytes)
  static func body(_ bytes: Span<UInt8>) -> Span<UInt8>? {
    guard !bytes.isEmpty, bytes[0] == valueForm else { return nil }
    return bytes.extracting(1..<bytes.count)
  }

  var bytes: [UInt8] {
    switch self {
    case .node(let reference):
      var bytes = [Self.nodeForm]
      bytes.append(littleEndian: UInt64(reference.type), width: 2)
      bytes.append(littleEndian: reference.node, width: 6)
      return bytes
    case .value(let body): return [Self.valueForm] + body
    }
  }

  /// The nodes that the element lists or contains.
  func children() throws -> Set<UInt64> {
    switch self {
    case .node(let reference): return [reference.node]
    case .value(let body): return try Set(RecordBody.edges(in: body.span).map(\.child.node))
    }
  }
}
