/// Splits a tree of models into nodes and writes each as the body of a record.
///
/// A body is one deterministic CBOR item; `docs/format.md` draws it. A value in a slot whose static
/// type is a ``Model`` becomes a record of its own if it has an identifier, and a reference stands in
/// its place; all else is written where it is.
///
/// - Note: One thread at a time.
package struct RecordEncoder {
  private let sink: any RecordSink
  private let usesFields: Bool

  /// Makes an encoder.
  ///
  /// - Parameters:
  ///   - sink: Receives the nodes.
  ///   - usingFields: Whether types that write their fields themselves do so.
  package init(sink: any RecordSink, usingFields: Bool = true) {
    self.sink = sink
    usesFields = usingFields
  }

  /// Encodes a tree.
  ///
  /// - Parameter model: The root; it has an identifier.
  /// - Returns: The reference that the sink gave the root.
  /// - Throws: ``ModelError`` `missingIdentifier`, `emptyIdentifier`, `cyclicModel`, `nestingTooDeep`,
  ///   `duplicateKey` or `codingFailed`; what the sink throws. The sink may have got nodes before.
  package func encode<Root: SimpleModel & Encodable>(_ model: Root) throws -> RecordReference {
    var session = EncodingSession.begin(.records(sink), usingFields: usesFields)
    defer { EncodingSession.end(&session) }
    let traits = unsafe TypeTable.traits(of: Root.self)
    let reference = try unsafe session.encodeNode(
      model, as: Root.self, traits, in: nil, to: sink, level: 0,
      splits: traits.pointee.model != nil)
    guard let reference else {
      throw ModelError(
        .missingIdentifier, typeName: Root.modelTypeName,
        reason: "has no modelIdentifier, so it can't be stored by itself")
    }
    return reference
  }

  /// Encodes a value that is no node itself, but may hold some.
  ///
  /// - Parameter value: Any value; its own identifier does not count.
  /// - Returns: The bytes, and an edge for each distinct child.
  /// - Throws: As ``encode(_:)``.
  package func encodeValue(
    _ value: some Encodable
  ) throws -> (body: [UInt8], edges: [RecordEdge]) {
    try Self.encode(value, .records(sink), usingFields: usesFields)
  }

  /// Encodes a value as a whole: models inside are written where they stand.
  ///
  /// - Parameters:
  ///   - value: Any value.
  ///   - usingFields: Whether types that write their fields themselves do so.
  /// - Returns: The bytes; there are no edges.
  /// - Throws: As ``encode(_:)``.
  package static func encodeValue(
    _ value: some Encodable, usingFields: Bool = true
  ) throws -> (body: [UInt8], edges: [RecordEdge]) {
    try encode(value, .whole, usingFields: usingFields)
  }

  private static func encode<Value: Encodable>(
    _ value: Value, _ mode: EncodingSession.Mode, usingFields: Bool = true
  ) throws -> (body: [UInt8], edges: [RecordEdge]) {
    var session = EncodingSession.begin(mode, usingFields: usingFields)
    defer { EncodingSession.end(&session) }
    let traits = unsafe TypeTable.traits(of: Value.self)
    var splits = unsafe !traits.pointee.isWhole
    if case .whole = mode { splits = false }
    let frame = try session.makeFrame(in: nil, slot: .required, level: 0, splits: splits)
    do {
      if unsafe traits.pointee.encodable != nil {
        _ = try unsafe frame.encode(value, traits, slot: .required, level: 0)
      } else {
        _ = try frame.encodeInline(value, slot: .required, level: 0, splits: splits)
      }
    } catch {
      throw ModelError(coding: error) ?? error
    }
    unsafe frame.edges.normalize()
    let result = unsafe (body: frame.writer.bytes, edges: frame.edges)
    session.recycle(frame)
    return result
  }
}
