import LMDB
import ModelCore

extension StoreReader {
  /// The record that shows a node as a type: the type's own, else the node's newest.
  ///
  /// - Returns: `nil` if the node has no record at all.
  func recordKey(node: UInt64, preferring type: UInt32?) throws -> RecordKey? {
    if let type {
      let own = RecordKey(type: type, node: node)
      if try record(own) != nil { return own }
    }
    return try newestRecord(of: node)
  }

  /// The record of a node with the highest commit number; of two from one commit, the one of the
  /// lower type number.
  func newestRecord(of node: UInt64) throws -> RecordKey? {
    guard let row = try nodeRow(node) else { return nil }
    var newest: (key: RecordKey, commit: UInt64)?
    for type in row.types {
      let key = RecordKey(type: type, node: node)
      let commit = try header(of: key).commitNumber
      if let found = newest, found.commit >= commit { continue }
      newest = (key, commit)
    }
    return newest?.key
  }

  /// The header of a record that must be there.
  func header(of key: RecordKey) throws -> RecordHeader {
    guard let bytes = try record(key), let header = RecordHeader(bytes) else {
      throw damagedRecord(key, "it is missing or shorter than its header")
    }
    return header
  }

  /// The body of a record, its checksum checked; `nil` if there is no such record.
  @_lifetime(copy self)
  func body(of key: RecordKey) throws -> Span<UInt8>? {
    guard let bytes = try record(key) else { return nil }
    guard let header = RecordHeader(bytes), header.isIntact(bytes) else {
      throw damagedRecord(key, "its checksum does not fit its bytes")
    }
    return bytes.extracting(RecordHeader.byteCount..<bytes.count)
  }

  /// The body of the record that shows a node as a type, found with one search where the type has a
  /// record of its own; `nil` if the node has no record at all.
  @_lifetime(copy self)
  func body(ofNode node: UInt64, preferring type: UInt32?) throws -> Span<UInt8>? {
    if let type, let own = try body(of: RecordKey(type: type, node: node)) { return own }
    guard let newest = try newestRecord(of: node) else { return nil }
    return try body(of: newest)
  }

  /// Whether a record is stored with exactly this body.
  func body(of key: RecordKey, equals body: ArraySlice<UInt8>) throws -> Bool {
    guard let stored = try self.body(of: key) else { return false }
    return stored.hasSameBytes(as: body.span)
  }

  /// The error for a damaged record, which names the node and the type as well as it can.
  func damagedRecord(_ key: RecordKey, _ reason: String) -> StoreError {
    let identifier = (try? identifier(of: key.node)) ?? "node \(key.node)"
    let type = (try? directory.name(ofTypeNumber: key.type, in: self)) ?? "type \(key.type)"
    return .damaged(identifier, "the record as \(type) can't be read: \(reason)")
  }
}
