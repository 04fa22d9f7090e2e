import FoundationEssentials
import PandoLMDB
public import PandoModels

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

/// What is known of the last write to a node; see ``SequenceNumber``.
package struct SequenceState: Equatable {
  /// The sequence number of the last write that counts; 0 if there was none.
  package var sequenceNumber: UInt64 = 0
  /// Whether the node is there.
  package var isStored = false
  /// The commit that changed the node last; 0 if it is not there.
  package var commit: UInt64 = 0
  /// Whether its content was known before the commit that brought it, and is unchanged since.
  package var isDated = false

  package init(sequenceNumber: UInt64 = 0) { self.sequenceNumber = sequenceNumber }
}

extension ModelSnapshot {
  /// Returns the sequence number of the last write to a node, removals included.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The number; for a node that never was, or whose tombstone is gone, the number up to which
  ///   tombstones are forgotten.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  package func sequenceState(of identifier: String) throws -> SequenceState {
    let row = try reader.sequenceRow(of: identifier)
    var state = SequenceState()
    if let commit = try reader.lastCommit(of: identifier) {
      state.isStored = true
      state.commit = commit
      state.sequenceNumber = SequenceNumber.of(commit: commit)
      if let row, row.kind != .tombstone, row.commit == commit {
        state.sequenceNumber = row.sequenceNumber
        state.isDated = row.kind == .dated
      }
    } else if let row, row.kind == .tombstone {
      state.sequenceNumber = row.sequenceNumber
    } else {
      state.sequenceNumber = try reader.tombstones().forgottenSequenceNumber
    }
    return state
  }

  /// Returns the commit that changed a node last, as whatever type; `nil` if there is no such node.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The number of the commit.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  package func lastCommit(of identifier: String) throws -> UInt64? {
    try reader.lastCommit(of: identifier)
  }

  /// Returns the position of a node in the natural order: the rank it was given, else the order in
  /// which the store first saw the nodes.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The position, which no other node has; `nil` if there is no such node.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  package func naturalRank(of identifier: String) throws -> UInt64? {
    guard let node = try reader.node(identifier) else { return nil }
    let key = SequenceKey.rank(identifier)
    guard let bytes = try reader.snapshot.bytes(forKey: key.span, in: reader.tables.meta) else {
      return node
    }
    guard let rank = ByteFields.littleEndian(bytes, at: 0, width: 8) else {
      throw StoreError.damaged(identifier, "its position in the natural order is malformed")
    }
    return rank
  }
}

extension StoreReader {
  func sequenceRow(of identifier: String) throws -> SequenceRow? {
    let key = SequenceKey.row(identifier)
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.meta) else { return nil }
    return try SequenceRow(bytes, identifier: identifier)
  }

  func lastCommit(of identifier: String) throws -> UInt64? {
    guard let node = try node(identifier),
      let newest = try recordKey(node: node, preferring: nil)
    else { return nil }
    return try header(of: newest).commitNumber
  }

  func tombstones() throws -> Tombstones {
    let key = SequenceKey.tombstones
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.meta) else {
      return Tombstones()
    }
    return try Tombstones(bytes)
  }
}
