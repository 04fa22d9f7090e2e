package import PandoModels

/// Splits a tree of models into nodes and writes each as the body of a record.
///
/// A body is one deterministic CBOR item; `docs/format.md` draws it. A value with an identifier, in
/// a slot whose static type is a `Model`, becomes a record of its own, referenced from the slot.
/// Any other value is written in its place.
/// - Note: One thread at a time.
package struct RecordEncoder {
  private let sink: any RecordSink
  private let usesFields: Bool

  /// Makes an encoder.
  ///
  /// - Parameters:
  ///   - sink: Receives the nodes.
  ///   - usingFields: Whether types with their own field coding use it.
  package init(sink: any RecordSink, usingFields: Bool = true) {
    self.sink = sink
    usesFields = usingFields
  }

  /// Encodes a tree.
  ///
  /// - Parameter model: The root; it has an identifier.
  /// - Returns: The reference of the root from the sink.
  /// - Throws: `ModelError` `missingIdentifier`, `emptyIdentifier`, `cyclicModel`,
  ///   `nestingTooDeep`, `duplicateKey` or `codingFailed`; the error of the sink, which may have
  ///   received nodes.
  package func encode<Root: SimpleModel & Encodable>(_ model: Root) throws -> RecordReference {
    try encode(model, markingEnums: false)
  }

  /// The same, optionally with a tag before each value of an enum with payload.
  func encode<Root: SimpleModel & Encodable>(
    _ model: Root, markingEnums: Bool
  ) throws -> RecordReference {
    var session = EncodingSession.begin(
      .records(sink), usingFields: usesFields, markingEnums: markingEnums)
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

  /// Encodes a value that is no node, but may contain some.
  ///
  /// - Parameter value: Any value; its own identifier is ignored.
  /// - Returns: The bytes, and an edge for each distinct child.
  /// - Throws: Same as ``encode(_:)``.
  package func encodeValue(
    _ value: some Encodable
  ) throws -> (body: [UInt8], edges: [RecordEdge]) {
    try Self.encode(value, .records(sink), usingFields: usesFields)
  }

  /// Encodes a value as a whole: models inside are written in their places.
  ///
  /// - Parameters:
  ///   - value: Any value.
  ///   - usingFields: Whether types with their own field coding use it.
  /// - Returns: The bytes; there are no edges.
  /// - Throws: Same as ``encode(_:)``.
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

/// Receives the nodes of a tree while it is encoded.
package protocol RecordSink: AnyObject {
  /// Called at the beginning of a node, after the beginnings of its parents.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - identifier: Its identifier, not empty.
  ///   - value: The model itself; reading it copies it.
  /// - Returns: The numbers for references to the node.
  /// - Throws: Any error, to refuse the tree.
  func beginNode(
    _ type: any SimpleModel.Type, identifier: String, value: @autoclosure () -> any SimpleModel
  ) throws -> RecordReference

  /// Called with the complete body of a node, after those of its children.
  ///
  /// - Parameters:
  ///   - reference: The result of ``beginNode(_:identifier:value:)``.
  ///   - body: The record's bytes, valid during the call.
  ///   - edges: One for each distinct child, sorted by child.
  /// - Throws: Any error, to refuse the tree.
  func endNode(
    _ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) throws
}

/// The slot of an encoded value, which determines how the value can be removed.
enum EncodingSlot {
  /// The surrounding value requires this one.
  case required
  /// It can be null.
  case optional
  /// It can be removed from a list.
  case element
  /// It can be removed from a map.
  case entry

  /// The slot of the value inside an optional.
  var unwrapped: EncodingSlot { self == .required ? .optional : self }

  var edgeKinds: EdgeKinds {
    switch self {
    case .required: .required
    case .optional: .optional
    case .element: .element
    case .entry: .entry
    }
  }
}

/// The result of encoding a value.
enum EncodingOutcome {
  case written
  /// Nothing was written: the value requires a child that was removed.
  case lost
}
