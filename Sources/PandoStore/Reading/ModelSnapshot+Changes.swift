public import PandoModels
import FoundationEssentials
import PandoLMDB

extension ModelSnapshot {
  /// Returns what was committed after a version.
  ///
  /// - Parameter commitNumber: The last commit that the caller knows; 0 for everything.
  /// - Returns: The change sets of the later commits, in commit order; empty if there are none.
  /// - Throws: ``StoreError`` `changesExpired` when the log no longer reaches back that far: read
  ///   afresh what you show. `damaged` when a row of the log is missing or unreadable.
  /// - Complexity: O(log *n*) and the size of the change sets.
  public func changes(since commitNumber: UInt64) throws -> [ChangeSet] {
    guard let state = try reader.state(path: path), commitNumber < state.commitNumber else {
      return []
    }
    guard commitNumber + 1 >= state.oldestChange else {
      throw StoreError(
        .changesExpired, "commit \(commitNumber)",
        "the change log begins at commit \(state.oldestChange); read the data afresh, or open the "
          + "store with a larger changeLogLimit")
    }
    var found: [ChangeSet] = []
    let start = IntegerKey(commitNumber + 1)
    try reader.snapshot.scan(reader.tables.changes, from: Array(copying: start.bytes.span)) {
      key, value in
      let number = ByteFields.bigEndian(key, at: 0) ?? 0
      guard number == commitNumber + 1 + UInt64(found.count) else {
        throw StoreError.damaged("change log", "commit \(commitNumber + 1) is missing")
      }
      found.append(try ChangeLog.decode(value, commitNumber: number))
      return true
    }
    return found
  }
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
