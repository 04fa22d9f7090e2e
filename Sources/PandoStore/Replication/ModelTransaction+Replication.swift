package import PandoModels

/// What a ``StoreReplicator`` reads and writes in a transaction.
extension ModelTransaction {
  /// The commits behind which an entry can still be judged.
  package static var judgedCommitCount: UInt64 { ChangeLogRetention.replicatedCommitCount }

  /// How far the store has come in its log; `nil` if it has none.
  package var replicationRow: ReplicationRow? {
    get throws {
      try session.reading { reader in
        let key = ReplicationRow.key
        guard let bytes = try reader.snapshot.bytes(forKey: key.span, in: session.tables.meta)
        else { return nil }
        return try ReplicationRow(bytes)
      }
    }
  }

  package func setReplicationRow(_ row: ReplicationRow) throws {
    let (key, bytes) = (ReplicationRow.key, row.bytes)
    try session.put(bytes.span, forKey: key.span, in: session.tables.meta)
  }

  /// Marks the store: from the next flush on, its writes go through a log, whose first message it has taken in.
  ///
  /// - Throws: ``StoreError`` with code `replicated` for a store that is written with checkpoints: a power cut
  ///   would take commits that the log has, and move the numbers on.
  package func beginReplication(_ row: ReplicationRow) throws {
    if session.state.counters.formatVersion == StoreState.checkpointedFormatVersion {
      throw StoreError.relaxedReplica(session.core.path)
    }
    try setReplicationRow(row)
    try setChain(EntryChain(), at: row.position - 1)
    try setChain(row.chain, at: row.position)
    var histories = try session.reading { try $0.histories() }
    histories.begin(row.history, at: session.nextCommitNumber)
    try session.put(histories)
    session.state.counters.isReplicated = true
  }

  /// What was taken in last of an origin; `nil` if nothing.
  package func origin(_ identity: [UInt8]) throws -> OriginRow? {
    try session.reading { reader in
      let key = OriginRow.prefix + identity
      guard let bytes = try reader.snapshot.bytes(forKey: key.span, in: session.tables.meta)
      else { return nil }
      return try OriginRow(bytes)
    }
  }

  package func setOrigin(_ identity: [UInt8], _ row: OriginRow) throws {
    let (key, bytes) = (OriginRow.prefix + identity, row.bytes)
    try session.put(bytes.span, forKey: key.span, in: session.tables.meta)
  }

  /// Forgets origins of which nothing has come since a position.
  package func forgetOrigins(before position: UInt64) throws {
    var keys: [[UInt8]] = []
    try session.reading { reader in
      try reader.snapshot.scan(session.tables.meta, prefix: OriginRow.prefix) { key, value in
        if try OriginRow(value).position < position { keys.append(Array(copying: key)) }
        return true
      }
    }
    for key in keys { try session.deleteRow(key.span, in: session.tables.meta) }
  }

  /// The last commit.
  package var lastCommit: UInt64 { session.state.counters.commitNumber }
  /// The number that the next new node gets.
  package var nextNode: UInt64 { session.state.counters.nextNode }
  /// The number that the next new type gets.
  package var nextType: UInt64 { session.state.counters.nextType }

  /// Gives the next new node a number: where the entry's origin has come to.
  package func setNextNode(_ number: UInt64) { session.state.counters.nextNode = number }

  /// The names of the types from a number on, in their order.
  package func typeNames(from number: UInt64) throws -> [String] {
    try (number..<nextType).map { try session.typeName(UInt32($0)) }
  }

  /// The version that the records of a type have, 0 for one that is not known.
  package func schemaVersion(ofType name: String) throws -> UInt32 {
    try session.state.types[name]?.schemaVersion
      ?? session.reading { try $0.typeRow(named: name)?.schemaVersion ?? 0 }
  }

  /// The newest version that a program has written a type with, and where the log has told of it; `nil` if it has not.
  package func writtenSchema(
    ofType name: String
  ) throws -> (version: UInt32, position: UInt64)? {
    guard let row = try session.reading({ try $0.schemaRow(ofTypeNamed: name) }),
      let position = row.position
    else { return nil }
    return (row.version, position)
  }

  /// Notes what a flush has told the log of schema versions.
  package func setSchemas(_ schemas: [WriteEffects.Schema], at position: UInt64) throws {
    for schema in schemas where schema.migratedFrom == nil {
      try session.putSchema(schema, at: position)
    }
  }

  /// Whether a node has a record of a type.
  package func hasRecord(ofType typeName: String, _ identifier: String) throws -> Bool {
    try session.reading { reader in
      guard let type = try session.state.types[typeName] ?? reader.typeRow(named: typeName),
        let node = try reader.node(identifier), let row = try reader.summary(of: node)
      else { return false }
      return row.types.contains(type.number)
    }
  }

  /// Gives a type a number, if it has none.
  package func register(type name: String) throws { _ = try session.typeNumber(named: name) }

  /// What the write that has just ended has done.
  ///
  /// - Throws: ``StoreError`` `replicated` if it has also changed what belongs to this store alone.
  package func effects(
    of changeSet: ChangeSet?, firstNode: UInt64
  ) throws -> WriteEffects {
    let effects = try session.effects(of: changeSet, firstNode: firstNode)
    if !effects.isEmpty, session.state.notes?.hasLocalChanges == true {
      throw StoreError(
        .replicated, session.core.path,
        "a write of a replicated store changes models, or properties, cursors and other rows of this "
          + "store alone; use two writes")
    }
    return effects
  }

  /// Does what a write has done somewhere else.
  ///
  /// - Throws: As ``WriteSession/apply(_:firstNode:position:)``.
  package func apply(_ effects: WriteEffects, firstNode: UInt64, position: UInt64) throws {
    try session.whole { try session.apply(effects, firstNode: firstNode, position: position) }
  }
}

extension ModelSnapshot {
  /// How far the store has come in its log; `nil` if it has none.
  package var replicationRow: ReplicationRow? {
    get throws {
      let key = ReplicationRow.key
      guard
        let bytes = try reader.snapshot.bytes(forKey: key.span, in: reader.tables.meta)
      else { return nil }
      return try ReplicationRow(bytes)
    }
  }

  /// The last commit, and the numbers that the next node and the next type get.
  package var replicationStart: (commit: UInt64, nextNode: UInt64, nextType: UInt64) {
    get throws {
      guard let state = try reader.state(path: path) else { return (0, 1, 1) }
      return (state.commitNumber, state.nextNode, state.nextType)
    }
  }
}
