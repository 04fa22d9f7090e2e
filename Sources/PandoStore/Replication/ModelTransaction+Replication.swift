package import PandoModels

/// The reads and writes of a ``StoreReplicator`` in a transaction.
extension ModelTransaction {
  /// The number of last commits by which an entry can be judged.
  package static var judgedCommitCount: UInt64 { ChangeLogRetention.replicatedCommitCount }

  /// The position of the store in its log; `nil` if it has none.
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

  /// Marks the store as replicated from the next flush on; it has applied the log's first message.
  package func beginReplication(_ row: ReplicationRow) throws {
    try setReplicationRow(row)
    try setChain(EntryChain(), at: row.position - 1)
    try setChain(row.chain, at: row.position)
    var histories = try session.reading { try $0.sharedHistories() }
    histories.begin(row.history, at: session.nextCommitNumber)
    try session.put(histories)
    session.state.counters.isReplicated = true
  }

  /// The last applied entry of an origin; `nil` if there is none.
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

  /// Removes origins without entries since a position.
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

  /// The number of the last commit, without its history.
  package var commitValue: UInt64 { session.state.counters.commitNumber }
  /// The number of the next new node.
  package var nextNode: UInt64 { session.state.counters.nextNode }
  /// The number of the next new type.
  package var nextType: UInt64 { session.state.counters.nextType }

  /// Sets the number of the next new node, to that of the entry's origin.
  package func setNextNode(_ number: UInt64) { session.state.counters.nextNode = number }

  /// The names of the types from a number on, in numerical order.
  package func typeNames(from number: UInt64) throws -> [String] {
    try (number..<nextType).map { try session.typeName(UInt32($0)) }
  }

  /// The schema version of a type's records, 0 for an unknown type.
  package func schemaVersion(ofType name: String) throws -> UInt32 {
    try session.state.types[name]?.schemaVersion
      ?? session.reading { try $0.typeRow(named: name)?.schemaVersion ?? 0 }
  }

  /// The newest schema version that an entry has, and its position; `nil` if there is none.
  package func writtenSchema(
    ofType name: String
  ) throws -> (version: UInt32, position: UInt64)? {
    guard let row = try session.reading({ try $0.schemaRow(ofTypeNamed: name) }),
      let position = row.position
    else { return nil }
    return (row.version, position)
  }

  /// Records the schema versions that a flush has written to the log.
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

  /// Assigns a number to a type that has none.
  package func register(type name: String) throws { _ = try session.typeNumber(named: name) }

  /// The effects of the write that has just ended.
  ///
  /// - Throws: ``StoreError`` `replicated` if it also changed rows of this store alone.
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

  /// Applies the effects of a write of another store.
  ///
  /// - Throws: As ``WriteSession/apply(_:firstNode:position:)``.
  package func apply(_ effects: WriteEffects, firstNode: UInt64, position: UInt64) throws {
    try session.whole { try session.apply(effects, firstNode: firstNode, position: position) }
  }
}

extension ModelSnapshot {
  /// The position of the store in its log; `nil` if it has none.
  package var replicationRow: ReplicationRow? {
    get throws {
      let key = ReplicationRow.key
      guard
        let bytes = try reader.snapshot.bytes(forKey: key.span, in: reader.tables.meta)
      else { return nil }
      return try ReplicationRow(bytes)
    }
  }

  /// Whether the commits of the store have marks; an earlier version gave them none.
  package var hasHistories: Bool { get throws { try !reader.histories().parts.isEmpty } }

  /// The last commit, and the numbers of the next node and the next type.
  package var replicationStart: (commit: UInt64, nextNode: UInt64, nextType: UInt64) {
    get throws {
      guard let state = try reader.state(path: path) else { return (0, 1, 1) }
      return (state.commitNumber, state.nextNode, state.nextType)
    }
  }
}
