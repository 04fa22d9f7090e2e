/// A value of the `types` table, whose key is the type name in UTF-8.
///
/// ```
/// offset 0        4                8            16
///        ┌────────┬────────────────┬─────────────┐
///        │ number │ schema version │ record count│   little endian
///        └────────┴────────────────┴─────────────┘
/// ```
struct TypeRow: Equatable {
  /// The number in record keys, from 1.
  var number: UInt32
  /// The version that the last migration of this type reached, 0 at first.
  var schemaVersion: UInt32 = 0
  /// How many records of the type the store holds.
  var recordCount: UInt64 = 0

  init(number: UInt32) { self.number = number }

  init(_ bytes: Span<UInt8>, name: String) throws {
    guard bytes.count == 16, let number = ByteFields.littleEndian(bytes, at: 0, width: 4),
      let version = ByteFields.littleEndian(bytes, at: 4, width: 4),
      let count = ByteFields.littleEndian(bytes, at: 8, width: 8), number > 0,
      number <= RecordKey.typeMaximum
    else { throw StoreError.damaged("type \(name)", "its row is malformed") }
    self.number = UInt32(number)
    schemaVersion = UInt32(version)
    recordCount = count
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    ByteFields.append(UInt64(number), width: 4, to: &bytes)
    ByteFields.append(UInt64(schemaVersion), width: 4, to: &bytes)
    ByteFields.append(recordCount, width: 8, to: &bytes)
    return bytes
  }
}
