import PandoLMDB
import PandoRecords

@testable import PandoStore

extension ModelStore {
  /// Writes rows past all rules of the store.
  func editRows(_ body: (inout WriteTransaction, StoreTables) throws -> Void) throws {
    try core.environment.write { try body(&$0, core.tables) }
  }

  /// The body of a record, as it lies in the file.
  func recordBody(_ key: RecordKey) throws -> [UInt8]? {
    try core.read { reader in
      guard let body = try reader.body(of: key) else { return nil }
      return Array(copying: body)
    }
  }
}

extension WriteTransaction {
  /// Moves the newest change sets to the table, as a flush with many does.
  mutating func moveNewestChanges(in tables: StoreTables) throws {
    let row = try value(NewestChanges.key, in: tables.meta)
    for (number, bytes) in try newestChanges(in: row) {
      try put(bytes, big(number), in: tables.changes)
    }
    try remove(NewestChanges.key, in: tables.meta)
  }

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

extension WriteTransaction {
  /// Replaces or adds a record in the row of its node, with an intact checksum.
  mutating func putRecord(
    _ key: RecordKey, _ body: [UInt8], commitNumber: UInt64 = 1, in nodes: RawTable
  ) throws {
    let old = try value(big(key.node), in: nodes)
    let row = try NodeRowBytes.row(
      NodeRow(old.span, node: key.node),
      with: NodeRowBytes.Record(type: key.type, commitNumber: commitNumber, body: body[...]))
    try put(row, big(key.node), in: nodes)
  }
}

/// The row of a node, with any records in any order.
func nodeRow(
  _ identifier: [UInt8], _ records: [(type: UInt32, body: [UInt8])], commitNumber: UInt64 = 1
) -> [UInt8] {
  var row: [UInt8] = [1, UInt8(records.count)] + little(UInt64(identifier.count), 4)
  for record in records {
    let header = record.body.withUnsafeBytes { RecordHeader(commitNumber: commitNumber, body: $0) }
    row += little(UInt64(record.type), 2) + [0, 0] + little(UInt64(record.body.count), 4)
    row += little(header.commitNumber) + little(header.checksum)
  }
  return row + identifier + records.flatMap(\.body)
}

/// A big-endian integer, as keys have them.
func big(_ value: UInt64) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
}

/// A little-endian integer, as values have them.
func little(_ value: UInt64, _ width: Int = 8) -> [UInt8] {
  (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

/// The numbers and bytes of change sets.
private func newestChanges(in row: [UInt8]) throws -> [(UInt64, [UInt8])] {
  let newest = try NewestChanges(row.span)
  return zip(newest.first..., newest.ranges).map { ($0, Array(newest.bytes[$1])) }
}
