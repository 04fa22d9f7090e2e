import FoundationEssentials
import PandoModels
import PandoRecords

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
  /// Written by hand, because each write has one, and the generic coding takes longer than many a
  /// write. The bytes are the same.
  static func encode(_ changeSet: ChangeSet) -> [UInt8] {
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
    writer.append(arrayHead: changeSet.collections.count)
    for update in changeSet.collections { append(update, to: &writer) }
    writer.append("commitNumber")
    writer.append(changeSet.commitNumber.value)
    return writer.bytes
  }

  private static func append(_ update: CollectionUpdate, to writer: inout CBORWriter) {
    writer.append(mapHead: 2)
    writer.append("change")
    writer.append(mapHead: 1)
    switch update.change {
    case .reset:
      writer.append("reset")
      writer.append(mapHead: 0)
    case .changes(let steps):
      writer.append("changes")
      writer.append(mapHead: 1)
      writer.append("_0")
      writer.append(arrayHead: steps.count)
      for step in steps { append(step, to: &writer) }
    }
    writer.append("cacheKey")
    writer.append(update.cacheKey)
  }

  private static func append(
    _ step: CollectionChangeInformation, to writer: inout CBORWriter
  ) {
    func append(_ kind: String, _ index: Int) {
      writer.append(mapHead: 1)
      writer.append(kind)
      writer.append(mapHead: 1)
      writer.append("index")
      writer.append(Int64(index))
    }
    switch step {
    case .update(let index): append("update", index)
    case .delete(let index): append("delete", index)
    case .insert(let index): append("insert", index)
    case .move(let source, let target):
      writer.append(mapHead: 1)
      writer.append("move")
      writer.append(mapHead: 2)
      writer.append("to")
      writer.append(Int64(target))
      writer.append("from")
      writer.append(Int64(source))
    }
  }

  private static func append(
    _ key: String, _ identifiers: [String], to writer: inout CBORWriter
  ) {
    writer.append(key)
    writer.append(arrayHead: identifiers.count)
    for identifier in identifiers { writer.append(identifier) }
  }

  static func decode(_ bytes: Span<UInt8>, number: CommitNumber) throws -> ChangeSet {
    try decoding(number) {
      try unsafe bytes.withUnsafeBytes { bytes in
        try unsafe RecordDecoder.decodeValue(ChangeSet.self, from: bytes)
      }
    }
  }

  /// Reads a change set, with the changes of the requested lists only; the others are marked as
  /// changed.
  ///
  /// It serves readers that are far behind: the changes of a list may be long.
  static func decode(
    _ bytes: Span<UInt8>, number: CommitNumber, wanting wantsList: (ByteString) -> Bool
  ) throws -> ChangeSet {
    try decoding(number) {
      // The bytes are read during the call only.
      try unsafe bytes.withUnsafeBytes { bytes in
        try unsafe read(bytes, wantsList)
          ?? RecordDecoder.decodeValue(ChangeSet.self, from: bytes)
      }
    }
  }

  /// - Returns: `nil` if the bytes differ from those of ``encode(_:)``.
  private static func read(
    _ bytes: UnsafeRawBufferPointer, _ wantsList: (ByteString) -> Bool
  ) throws -> ChangeSet? {
    var reader = unsafe CBORReader(bytes)
    guard try reader.mapHead() == 7, try reader.text() == "date" else { return nil }
    let date = try unsafe RecordDecoder.decodeValue(Double.self, from: reader.item())
    guard try reader.text() == "author" else { return nil }
    let author = reader.takeNull() ? nil : try reader.text()
    guard let deleted = try names("deleted", &reader), let updated = try names("updated", &reader),
      let inserted = try names("inserted", &reader), try reader.text() == "collections"
    else { return nil }
    var lists: [CollectionUpdate] = []
    for _ in 0..<(try reader.arrayHead()) {
      guard try reader.mapHead() == 2, try reader.text() == "change" else { return nil }
      let change = unsafe try reader.item()
      guard try reader.text() == "cacheKey" else { return nil }
      let cacheKey = try reader.text()
      lists.append(
        CollectionUpdate(
          cacheKey: cacheKey,
          change: wantsList(ByteString(cacheKey))
            ? try unsafe RecordDecoder.decodeValue(CollectionChange.self, from: change) : .reset))
    }
    guard try reader.text() == "commitNumber" else { return nil }
    let number = try reader.unsigned()
    try reader.finish()
    return ChangeSet(
      commitNumber: CommitNumber(value: number), updated: updated, inserted: inserted,
      deleted: deleted,
      collections: lists, author: author, date: Date(timeIntervalSinceReferenceDate: date))
  }

  private static func names(_ key: String, _ reader: inout CBORReader) throws -> [String]? {
    guard try reader.text() == key else { return nil }
    let count = try reader.arrayHead()
    var names: [String] = []
    names.reserveCapacity(count)
    for _ in 0..<count { names.append(try reader.text()) }
    return names
  }

  private static func decoding(
    _ number: CommitNumber, _ body: () throws -> ChangeSet
  ) throws -> ChangeSet {
    do {
      let found = try body()
      return found.commitNumber.value == number.value ? found.with(number) : found
    } catch let error where error is ModelError || error is CBORError {
      throw StoreError(
        .damaged, "commit \(number.value)", "its change set can't be read", underlying: error)
    }
  }
}
