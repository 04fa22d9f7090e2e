import LMDB
@testable import StoreEngine

extension ModelStore {
  /// Writes rows past all rules of the store.
  func editRows(_ body: (inout WriteTransaction, StoreTables) throws -> Void) throws {
    try core.environment.write { try body(&$0, core.tables) }
  }

  /// The body of a record, as it lies in the file.
  func recordBody(_ key: RecordKey) throws -> [UInt8]? {
    try core.read { reader in
      guard let bytes = try reader.record(key) else { return nil }
      return Array(copying: bytes.extracting(16..<bytes.count))
    }
  }
}

extension WriteTransaction {
  mutating func put(_ value: [UInt8], _ key: [UInt8], in table: RawTable) throws {
    try put(value.span, forKey: key.span, in: table)
  }

  mutating func remove(_ key: [UInt8], in table: RawTable) throws {
    try delete(key: key.span, in: table)
  }

  /// A copy of a value that must be there.
  func value(_ key: [UInt8], in table: RawTable) throws -> [UInt8] {
    guard let bytes = try bytes(forKey: key.span, in: table) else {
      throw LMDBError(.notFound, function: "value")
    }
    return Array(copying: bytes)
  }
}

/// A big-endian integer, as keys have them.
func big(_ value: UInt64) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
}

/// A little-endian integer, as values have them.
func little(_ value: UInt64, _ width: Int = 8) -> [UInt8] {
  (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}
