import PandoModels
import PandoRecords
import PandoSystem

/// The records that a commit wrote, as a row of the change log.
///
/// ```
/// [[identifier, type name, body, [[node, type, identifier, type name], …]], …]   CBOR, bodies as byte strings
/// ```
/// The innermost arrays name the children to which the body refers by number: a later reader may
/// find that the store no longer has them.
struct LoggedRecords: ~Copyable {
  private var writer = CBORWriter(minimumCapacity: 1024)
  private var count = 0

  /// Adds a record.
  mutating func append(
    identifier: String, typeName: String, body: Span<UInt8>,
    children: [(reference: RecordReference, identifier: String, typeName: String)]
  ) {
    count += 1
    writer.append(arrayHead: 4)
    writer.append(identifier)
    writer.append(typeName)
    // The bytes are copied during the call.
    unsafe body.withUnsafeBytes { unsafe writer.append(byteString: $0) }
    writer.append(arrayHead: children.count)
    for child in children {
      writer.append(arrayHead: 4)
      writer.append(child.reference.node)
      writer.append(UInt64(child.reference.type))
      writer.append(child.identifier)
      writer.append(child.typeName)
    }
  }

  /// The bytes of the row.
  consuming func encoded() -> [UInt8] {
    writer.insertHead(.array, UInt64(count), at: 0)
    return writer.bytes
  }

  /// Reads a row.
  static func decode(_ bytes: Span<UInt8>, commitNumber: UInt64) throws -> [TreeNode] {
    do {
      // The bytes are read during the call only.
      return try unsafe bytes.withUnsafeBytes { bytes in
        var reader = unsafe CBORReader(bytes)
        var records: [TreeNode] = []
        for _ in 0..<(try reader.arrayHead()) { records.append(try record(&reader)) }
        try reader.finish()
        return records
      }
    } catch let error where error is CBORError || error is ModelError {
      throw StoreError(
        .damaged, "commit \(commitNumber)", "its records can't be read", underlying: error)
    }
  }

  private static func record(_ reader: inout CBORReader) throws -> TreeNode {
    try expect(4, &reader)
    var node = TreeNode(try reader.text(), type: try reader.text())
    let body = unsafe try reader.byteString()
    var children: [(reference: RecordReference, record: TreeRecord)] = []
    for _ in 0..<(try reader.arrayHead()) {
      try expect(4, &reader)
      let number = try reader.unsigned()
      let type = UInt32(truncatingIfNeeded: try reader.unsigned())
      let record = unsafe TreeRecord(
        identifier: try reader.text(), typeName: try reader.text(), body: nil)
      children.append((RecordReference(node: number, type: type), record))
    }
    var decoder = TreeDecoder()
    node.fields = unsafe try decoder.value(of: body) { reference in
      guard let child = find(reference, children) else { throw reader.error(.wrongKind) }
      return child
    }
    return node
  }

  /// Finds a child among those of a body, which are sorted by number.
  private static func find(
    _ reference: RecordReference,
    _ children: [(reference: RecordReference, record: TreeRecord)]
  ) -> TreeRecord? {
    let place = children.partitioningIndex {
      ($0.reference.node, $0.reference.type) >= (reference.node, reference.type)
    }
    return place < children.count && children[place].reference == reference
      ? children[place].record : nil
  }

  private static func expect(_ count: Int, _ reader: inout CBORReader) throws {
    guard try reader.arrayHead() == count else { throw reader.error(.wrongKind) }
  }
}
