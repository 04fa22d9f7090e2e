/// Splits untyped trees into records.
///
/// The bytes are those that `RecordEncoder` makes of a Swift value with the same content.
package struct TreeEncoder: ~Copyable {
  private let sink: any TreeSink
  /// The nodes around the one that is being encoded, to refuse cycles.
  private var openIdentifiers: [String] = []

  /// Makes an encoder.
  ///
  /// - Parameter sink: What takes the records.
  package init(sink: any TreeSink) {
    self.sink = sink
  }

  /// Encodes a node and all it holds.
  ///
  /// - Parameter node: The node.
  /// - Returns: The numbers of the node.
  /// - Throws: ``ModelError`` with code `emptyIdentifier`, `cyclicModel`, `nestingTooDeep` or
  ///   `typeMismatch`, or what the sink throws. The sink may have taken nodes by then.
  package mutating func encode(_ node: TreeNode) throws -> RecordReference {
    try encode(node, depth: 0)
  }

  /// Encodes a value that belongs to no node, and all nodes it holds.
  ///
  /// - Parameter value: The value, for instance an element of a collection.
  /// - Returns: The bytes of the value, and the children they refer to.
  /// - Throws: As for a node.
  package mutating func encodeValue(
    _ value: TreeValue
  ) throws -> (body: [UInt8], edges: [RecordEdge]) {
    var record = TreeRecordWriter()
    _ = try write(value, .root, to: &record, depth: 0)
    record.edges.normalize()
    return (record.output, record.edges)
  }

  private mutating func encode(_ node: TreeNode, depth: Int) throws -> RecordReference {
    try check(node.identifier, typeName: node.typeName)
    let reference = try sink.beginNode(identifier: node.identifier, typeName: node.typeName)
    openIdentifiers.append(node.identifier)
    var record = TreeRecordWriter()
    do {
      _ = try write(node.fields, .root, to: &record, depth: depth)
    } catch let error as ModelError {
      throw error.about(identifier: node.identifier, typeName: node.typeName)
    }
    openIdentifiers.removeLast()
    record.edges.normalize()
    let edges = record.edges
    // The sink reads the body during the call only.
    unsafe try record.output.withUnsafeBytes { body in
      unsafe try sink.endNode(reference, body: body, edges: edges)
    }
    return reference
  }

  private func check(_ identifier: String, typeName: String) throws(ModelError) {
    guard !identifier.isEmpty else {
      throw ModelError(
        .emptyIdentifier, typeName: typeName, reason: "a node has an empty identifier")
    }
    guard !openIdentifiers.contains(where: { $0.hasSameBytes(as: identifier) }) else {
      throw ModelError(
        .cyclicModel, identifier: identifier, typeName: typeName,
        reason: "the node is inside of itself")
    }
  }

  /// Writes a value.
  ///
  /// - Returns: Whether the value holds a reference.
  private mutating func write(
    _ value: TreeValue, _ place: RecordPlace, to record: inout TreeRecordWriter, depth: Int
  ) throws -> Bool {
    guard depth <= RecordBody.maximumNestingDepth else { throw RecordCursor.tooDeep }
    var value = value
    var isRequired = false
    while case .required(let inner) = value {
      value = inner
      isRequired = true
    }
    switch value {
    case .array(let values):
      return try writeElements(values, to: &record, depth: depth)
    case .object(let fields):
      let start = record.output.count
      let hasReference = try writeFields(fields, to: &record, depth: depth)
      if hasReference, place == .field, !isRequired {
        record.output.insertTag(RecordTag.optionalSlot, at: start)
      }
      return hasReference
    case .entries(let entries):
      return try writeEntries(entries, to: &record, depth: depth)
    case .tagged(let tag, let value):
      try writeTagged(tag, value, to: &record, depth: depth)
      return false
    case .node(let node):
      let reference = try encode(node, depth: depth + 1)
      record.append(reference, place, isRequired: isRequired)
      return true
    case .reference(let identifier, let typeName):
      try check(identifier, typeName: typeName)
      let reference = try sink.reference(identifier: identifier, typeName: typeName)
      record.append(reference, place, isRequired: isRequired)
      return true
    default:
      record.append(scalar: value)
      return false
    }
  }

  private mutating func writeElements(
    _ values: [TreeValue], to record: inout TreeRecordWriter, depth: Int
  ) throws -> Bool {
    var hasReference = false
    record.output.appendHead(major: 4, UInt64(values.count))
    for value in values {
      if try write(value, .element, to: &record, depth: depth + 1) { hasReference = true }
    }
    return hasReference
  }

  private mutating func writeFields(
    _ fields: [String: TreeValue], to record: inout TreeRecordWriter, depth: Int
  ) throws -> Bool {
    var hasReference = false
    record.output.appendHead(major: 5, UInt64(fields.count))
    for (name, value) in fields.sorted(by: { $0.key.isEncoded(before: $1.key) }) {
      record.append(name)
      if try write(value, .field, to: &record, depth: depth + 1) { hasReference = true }
    }
    return hasReference
  }

  private mutating func writeEntries(
    _ entries: [TreeValue: TreeValue], to record: inout TreeRecordWriter, depth: Int
  ) throws -> Bool {
    var encoded: [(key: [UInt8], value: TreeValue)] = []
    for (key, value) in entries {
      var keyRecord = TreeRecordWriter()
      guard try !write(key, .element, to: &keyRecord, depth: depth + 1) else {
        throw ModelError(.typeMismatch, reason: "the key of an entry holds a node")
      }
      encoded.append((keyRecord.output, value))
    }
    encoded.sort { $0.key.lexicographicallyPrecedes($1.key) }
    for (first, second) in zip(encoded, encoded.dropFirst()) where first.key == second.key {
      throw ModelError(.typeMismatch, reason: "two entries have the same key")
    }
    let start = record.output.count
    var hasReference = false
    record.output.appendHead(major: 5, UInt64(encoded.count))
    for (key, value) in encoded {
      record.output.append(contentsOf: key)
      if try write(value, .entry, to: &record, depth: depth + 1) { hasReference = true }
    }
    if hasReference { record.output.insertTag(RecordTag.entries, at: start) }
    return hasReference
  }

  private mutating func writeTagged(
    _ tag: UInt64, _ value: TreeValue, to record: inout TreeRecordWriter, depth: Int
  ) throws {
    guard !RecordTag.isPrivate(tag) else {
      throw ModelError(.typeMismatch, reason: "the tag \(tag) is one that records use themselves")
    }
    if case .bytes(let bytes) = value, tag == 2 || tag == 3 {
      return record.append(bigInteger: bytes, tag: tag)
    }
    record.output.appendHead(major: 6, tag)
    guard try !write(value, .element, to: &record, depth: depth + 1) else {
      throw ModelError(.typeMismatch, reason: "a value with the tag \(tag) holds a node")
    }
  }
}

extension String {
  /// Whether the encoded text comes before another one: shorter ones first, then by bytes.
  fileprivate func isEncoded(before other: String) -> Bool {
    utf8.count != other.utf8.count ? utf8.count < other.utf8.count : hasBytes(before: other)
  }
}
