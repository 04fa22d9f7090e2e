/// The newest schema version that has written a type: a row of the `meta` table under `schema:` and the
/// type's name.
///
/// It is there where that is above 1 and above what a migration has reached, which the row of the type
/// says. The value is the version (4), little endian.
enum SchemaRow {
  static func key(_ typeName: String) -> [UInt8] { Array("schema:".utf8) + Array(typeName.utf8) }

  static func bytes(_ version: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    ByteFields.append(UInt64(version), width: 4, to: &bytes)
    return bytes
  }
}
