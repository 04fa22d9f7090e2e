import FoundationEssentials
import PandoModels

/// The keys of the `changes` table.
///
/// ```
/// offset 0         8
///        ┌─────────┐        commit number, big endian: its change set
///        ┌─────────┬───┐
///        │ commit  │ 1 │    the records that the commit has written, if they are kept
///        └─────────┴───┘
/// ```
enum ChangeLogKey {
  static func changeSet(_ commitNumber: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: commitNumber >> (56 - 8 * UInt64($0))) }
  }

  static func records(_ commitNumber: UInt64) -> [UInt8] { changeSet(commitNumber) + [1] }

  static func isOfRecords(_ key: Span<UInt8>) -> Bool { key.count == 9 && key[8] == 1 }
}

/// The bytes of a change set in the `changes` table: its own coding, as CBOR.
enum ChangeLog {
  /// Writes a change set.
  ///
  /// By hand, because each write has one and its own coding takes longer than many a write. The bytes
  /// are the same.
  static func encode(_ changeSet: ChangeSet) throws -> [UInt8] {
    var writer = CBORWriter(minimumCapacity: 1024)
    // In the order of the encoded keys: the shorter first.
    writer.append(mapHead: 7)
    writer.append("date")
    writer.append(changeSet.date.timeIntervalSinceReferenceDate)
    writer.append("author")
    if let author = changeSet.author { writer.append(author) } else { writer.appendNull() }
    append("deleted", changeSet.deleted, to: &writer)
    append("updated", changeSet.updated, to: &writer)
    append("inserted", changeSet.inserted, to: &writer)
    writer.append("collections")
    if changeSet.collections.isEmpty {
      writer.append(arrayHead: 0)
    } else {
      try writer.append(raw: RecordEncoder.encodeValue(changeSet.collections).body[...])
    }
    writer.append("commitNumber")
    writer.append(changeSet.commitNumber)
    return writer.bytes
  }

  private static func append(
    _ key: String, _ identifiers: [String], to writer: inout CBORWriter
  ) {
    writer.append(key)
    writer.append(arrayHead: identifiers.count)
    for identifier in identifiers { writer.append(identifier) }
  }

  static func decode(_ bytes: Span<UInt8>, commitNumber: UInt64) throws -> ChangeSet {
    do {
      return try unsafe bytes.withUnsafeBytes { bytes in
        try unsafe RecordDecoder.decodeValue(ChangeSet.self, from: bytes)
      }
    } catch let error as ModelError {
      throw StoreError(
        .damaged, "commit \(commitNumber)", "its change set can't be read", underlying: error)
    }
  }
}
