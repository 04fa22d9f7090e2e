/// A record that a ``TreeEncoder`` is writing.
final class TreeRecordWriter {
  var output = CBORWriter()
  var edges: [RecordEdge] = []

  /// Forgets what was written and keeps the room for it.
  func reset() {
    output.removeAll()
    edges.removeAll(keepingCapacity: true)
  }

  /// Appends a reference, tagged by how it is lost.
  func append(_ reference: RecordReference, _ place: RecordPlace, isRequired: Bool) {
    let isOptional = place == .field && !isRequired
    output.append(reference: reference, isOptional: isOptional)
    edges.append(
      RecordEdge(child: reference, kinds: isOptional ? .optional : place.kindOfRequired))
  }

  /// Appends a value that holds no other.
  func append(scalar value: TreeValue) {
    switch value {
    case .null: output.appendNull()
    case .bool(let value): output.append(value)
    case .integer(let value): output.append(value)
    case .unsigned(let value): output.append(value)
    case .double(let value): output.append(value)
    case .string(let value): output.append(value)
    case .bytes(let value): output.append(byteString: value)
    default: preconditionFailure("\(value) holds other values")
    }
  }

  /// Appends an integer that is given as big endian bytes; up to 64 bits it has no tag.
  func append(bigInteger bytes: [UInt8], tag: UInt64) {
    let significant = bytes.drop { $0 == 0 }
    if significant.count <= 8 {
      let argument = significant.reduce(0) { $0 << 8 | UInt64($1) }
      output.append(head: tag == RecordTag.negativeBignum ? .negative : .unsigned, argument)
    } else {
      output.append(tag: tag)
      output.append(byteString: Array(significant))
    }
  }
}
