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
    guard bytes.count == 4 || bytes.count == 12,
      let version = ByteFields.littleEndian(bytes, at: 0, width: 4)
    else {
      throw StoreError.damaged("type \(typeName)", "the row of its schema version is malformed")
    }
    self.version = UInt32(version)
    if bytes.count == 12 { position = ByteFields.littleEndian(bytes, at: 4, width: 8) }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    ByteFields.append(UInt64(version), width: 4, to: &bytes)
    if let position { ByteFields.append(position, width: 8, to: &bytes) }
    return bytes
  }
}
