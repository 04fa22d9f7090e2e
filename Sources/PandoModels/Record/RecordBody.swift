/// What the store does to record bodies without decoding them.
///
/// A body is one CBOR item; `docs/format.md` draws it. All functions take any bytes at all: what is
/// no record body throws ``ModelError`` with the code `invalidRecord` or `nestingTooDeep`, and
/// memory stays within a small multiple of the body's size.
package enum RecordBody {
  /// How many levels of arrays, maps and tags a body or a tree of bodies may have when it is read.
  ///
  /// A few more than are written, because tags and what is in them count here.
  package static var maximumNestingDepth: Int {
    RecordLimits.maximumNestingDepth + 8
  }

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
    var scanner = RecordEdgeScanner(unsafe RecordCursor(body))
    return try RecordFault.asModelError { () throws(RecordFault) in try scanner.scan() }
  }
}
