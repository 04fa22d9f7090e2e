/// The record that a ``TreeEncoder`` is writing.
struct TreeRecordWriter {
  var output: [UInt8] = []
  var edges: [RecordEdge] = []

  /// Appends a reference, tagged by how it is lost.
  mutating func append(_ reference: RecordReference, _ place: RecordPlace, isRequired: Bool) {
    let isOptional = place == .field && !isRequired
    output.appendHead(
      major: 6, isOptional ? RecordTag.optionalReference : RecordTag.requiredReference)
    output.appendHead(major: 4, 2)
    output.appendHead(major: 0, reference.node)
    output.appendHead(major: 0, UInt64(reference.type))
    edges.append(
      RecordEdge(child: reference, kinds: isOptional ? .optional : place.kindOfRequired))
  }

  /// Appends a value that holds no other.
  mutating func append(scalar value: TreeValue) {
    switch value {
    case .null: output.append(0xf6)
    case .bool(let value): output.append(value ? 0xf5 : 0xf4)
    case .integer(let value):
      if value < 0 {
        output.appendHead(major: 1, UInt64(bitPattern: ~value))
      } else {
        output.appendHead(major: 0, UInt64(value))
      }
    case .unsigned(let value): output.appendHead(major: 0, value)
    case .double(let value): output.appendDouble(value)
    case .string(let value): append(value)
    case .bytes(let value):
      output.appendHead(major: 2, UInt64(value.count))
      output.append(contentsOf: value)
    default: preconditionFailure("\(value) holds other values")
    }
  }

  /// Appends a text.
  mutating func append(_ text: String) {
    output.appendHead(major: 3, UInt64(text.utf8.count))
    output.append(contentsOf: text.utf8)
  }

  /// Appends an integer that is given as big endian bytes; up to 64 bits it has no tag.
  mutating func append(bigInteger bytes: [UInt8], tag: UInt64) {
    let significant = bytes.drop { $0 == 0 }
    if significant.count <= 8 {
      output.appendHead(major: tag == 2 ? 0 : 1, significant.reduce(0) { $0 << 8 | UInt64($1) })
    } else {
      output.appendHead(major: 6, tag)
      output.appendHead(major: 2, UInt64(significant.count))
      output.append(contentsOf: significant)
    }
  }
}
