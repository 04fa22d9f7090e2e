import PandoLMDB

/// The state of the last write to a node; see ``SequenceNumber``.
package struct SequenceState: Equatable {
  /// The sequence number of the last valid write; 0 if there was none.
  package var sequenceNumber: UInt64 = 0
  /// Whether the node exists.
  package var isStored = false
  /// The last commit that changed the node; 0 if it does not exist.
  package var commit: UInt64 = 0
  /// Whether its content dates from before its commit and is unchanged since.
  package var isDated = false

  package init(sequenceNumber: UInt64 = 0) { self.sequenceNumber = sequenceNumber }
}

extension ModelSnapshot {
  /// Returns the sequence number of the last write to a node, including removals.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The number. For a node that never existed, or whose tombstone is gone, it is the
  ///   number up to which tombstones were discarded.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  package func sequenceState(of identifier: String) throws -> SequenceState {
    let row = try reader.sequenceRow(of: identifier)
    var state = SequenceState()
    if let commit = try reader.commitValue(of: identifier) {
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

  /// Returns the last commit that changed a node, as any type; `nil` if there is no such node.
  ///
  /// A change of a child does not change its parent. `write(expecting:context:_:)` takes the
  /// number.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The number of the commit.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func lastCommit(of identifier: String) throws -> CommitNumber? {
    try reader.commitValue(of: identifier).map { try reader.number($0) }
  }

  /// The same without the history.
  package func commitValue(of identifier: String) throws -> UInt64? {
    try reader.commitValue(of: identifier)
  }

  /// Returns the position of a node in the natural order: its rank, or else the order in which
  /// nodes were first stored.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The position, unique to the node; `nil` if there is no such node.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  package func naturalRank(of identifier: String) throws -> UInt64? {
    guard let node = try reader.node(identifier) else { return nil }
    let key = SequenceKey.rank(identifier)
    guard let bytes = try reader.snapshot.bytes(forKey: key.span, in: reader.tables.meta) else {
      return node
    }
    guard let rank = bytes.littleEndian(at: 0) else {
      throw StoreError.damaged(identifier, "its position in the natural order is malformed")
    }
    return rank
  }

  /// Whether the natural order of a type differs from the order in which its nodes were first stored.
  func isArranged(_ typeName: String) throws -> Bool {
    try reader.directory.catalog.type(named: typeName, in: reader).isArranged
  }
}

extension StoreReader {
  func sequenceRow(of identifier: String) throws -> SequenceRow? {
    let key = SequenceKey.row(identifier)
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.meta) else { return nil }
    return try SequenceRow(bytes, identifier: identifier)
  }

  func commitValue(of identifier: String) throws -> UInt64? {
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
