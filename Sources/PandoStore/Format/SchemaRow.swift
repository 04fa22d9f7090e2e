/// The newest schema version that has written a type: a row of the `meta` table under `schema:` and
/// the type name.
///
/// It exists if that version is above 1 and above the last migration's, which is in the row of the
/// type. The value is the version (4), little-endian. In a replicated store, the log position that
/// brought it (8) follows.
struct SchemaRow: Equatable {
  static let prefix = Array("schema:".utf8)

  static func key(_ typeName: String) -> [UInt8] { prefix + Array(typeName.utf8) }

  static func bytes(_ version: UInt32) -> [UInt8] { SchemaRow(version: version).bytes }

  var version: UInt32
  /// `nil` if no log brought it: other machines may not have it.
  var position: UInt64?

  init(version: UInt32, position: UInt64? = nil) {
    (self.version, self.position) = (version, position)
  }

  init(_ bytes: Span<UInt8>, _ typeName: String) throws {
    var row = RowReader(bytes, "type \(typeName)", "the row of its schema version is malformed")
    version = UInt32(try row.number(width: 4))
    if row.restByteCount > 0 { position = try row.number() }
    try row.end()
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: UInt64(version), width: 4)
    if let position { bytes.append(littleEndian: position) }
    return bytes
  }
}
