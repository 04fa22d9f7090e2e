/// What the store does to record bodies without decoding them.
///
/// A body is one CBOR item; `docs/format.md` draws it. All functions take any bytes at all: what is
/// no record body throws ``ModelError`` with the code `invalidRecord` or `nestingTooDeep`, and
/// memory stays within a small multiple of the body's size.
package enum RecordBody {
  /// How many levels of arrays, maps, tags and nodes a body or a tree of bodies may have.
  ///
  /// What is deeper is refused before it can exhaust a thread's stack: walking this many levels
  /// takes less than 512 KiB, which is the least a thread has where Pando runs, also in a debug
  /// build.
  package static var maximumNestingDepth: Int { 128 }

  /// Returns the children a body refers to.
  ///
  /// - Parameter body: A record body; read during the call only.
  /// - Returns: One edge for each distinct reference, in the order of node and type number; its
  ///   kinds are those of all places where the reference stands.
  /// - Throws: ``ModelError`` when the bytes are no record body.
  /// - Complexity: O(*n* + *e* log *e*) for *n* bytes and *e* references; it allocates only when
  ///   there are references.
  package static func edges(in body: UnsafeRawBufferPointer) throws(ModelError) -> [RecordEdge] {
    // Read during the call only.
    var scanner = RecordEdgeScanner(RecordCursor(unsafe Span(_unsafeBytes: body)))
    try scanner.scan(.root, depth: 0)
    guard scanner.cursor.isAtEnd else { throw scanner.cursor.damaged("more than one item") }
    var edges = scanner.edges
    edges.normalize()
    return edges
  }
}

/// Walks a body and collects the references in it.
struct RecordEdgeScanner: ~Escapable {
  var cursor: RecordCursor
  private(set) var edges: [RecordEdge] = []

  @_lifetime(copy cursor)
  init(_ cursor: consuming RecordCursor) {
    self.cursor = cursor
  }

  mutating func scan(_ place: RecordPlace, depth: Int) throws(ModelError) {
    guard depth <= RecordBody.maximumNestingDepth else { throw RecordCursor.tooDeep }
    let head = try cursor.head()
    switch head.major {
    case 2, 3:
      _ = try cursor.content(head)
    case 4:
      for _ in 0..<(try cursor.count(head)) { try scan(.element, depth: depth + 1) }
    case 5:
      try scanFields(cursor.count(head), .field, depth: depth)
    case 6:
      try scan(tag: head.argument, place, depth: depth)
    default:
      break
    }
  }

  private mutating func scan(
    tag: UInt64, _ place: RecordPlace, depth: Int
  ) throws(ModelError) {
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
  ) throws(ModelError) {
    for _ in 0..<count {
      try cursor.skip()
      try scan(place, depth: depth + 1)
    }
  }
}
