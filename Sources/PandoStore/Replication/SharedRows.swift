package import PandoLMDB

/// The rows that are equal in all replicas; all others belong to one store alone.
package enum SharedRows {
  /// The tables; `meta` also has rows of one store alone.
  package static let tables = StoreTables.names
  /// The row with the histories of the commits.
  package static let historiesKey = Histories.key
  /// The keys of such rows of `meta`, or their prefixes.
  package static let metaKeys = [NewestChanges.key, Histories.key, ReplicationRow.key]
  package static let metaPrefixes = [
    ChainRows.prefix, OriginRow.prefix, SchemaRow.prefix, DeletionRules.prefix,
  ]
  /// The row of the counters, and the range of the store's own identifier in it.
  package static let countersKey = StoreState.key
  package static let identifierRange = 8..<24

  /// The keys of rows of this store alone that belong to a node.
  package static func localKeys(of identifier: String) -> [[UInt8]] {
    [SequenceKey.row(identifier), SequenceKey.rank(identifier)]
  }
}

extension SharedRows {
  /// Has the cursors of a store expire, because other commits took the place of those that they have come to.
  ///
  /// - Parameters:
  ///   - transaction: A transaction of the store.
  ///   - meta: Its table `meta`.
  /// - Throws: `LMDBError`; ``StoreError`` where a row is damaged.
  package static func expireCursors(
    in transaction: inout WriteTransaction, meta: RawTable
  ) throws {
    var rows: [(key: [UInt8], bytes: [UInt8])] = []
    try transaction.snapshot.scan(meta, prefix: CursorState.prefix) { key, value in
      rows.append((Array(copying: key), Array(copying: value)))
      return true
    }
    for row in rows {
      var bytes = Array(row.bytes.prefix(16))
      bytes.append(littleEndian: Histories.newMark())
      try transaction.put(bytes.span, forKey: row.key.span, in: meta)
    }
  }
}

extension SharedRows {
  /// The mark of the newest history that all replicas have; 0 if there is none.
  package static func newestHistory(
    in transaction: borrowing WriteTransaction, meta: RawTable
  ) throws -> UInt64 {
    let key = historiesKey
    guard let bytes = try transaction.bytes(forKey: key.span, in: meta) else { return 0 }
    return try Histories(bytes).newest
  }

  /// Gives all commits of a store a mark of its own, because a copy has other commits under the numbers of some.
  ///
  /// - Parameters:
  ///   - transaction: A transaction of the store, after the rows of the copy were written.
  ///   - meta: Its table `meta`.
  ///   - path: The store, for errors.
  /// - Throws: `LMDBError`; ``StoreError`` if the row of the counters is damaged.
  package static func beginOwnHistory(
    in transaction: inout WriteTransaction, meta: RawTable, path: String
  ) throws {
    var counters: [UInt8] = []
    if let bytes = try transaction.bytes(forKey: countersKey.span, in: meta) {
      counters = Array(copying: bytes)
    }
    let last = try StoreState(counters.span, path: path).commitNumber
    let (key, bytes) = (OwnHistory.key, OwnHistory(mark: Histories.newMark(), last: last).bytes)
    try transaction.put(bytes.span, forKey: key.span, in: meta)
  }
}

extension ModelStore {
  /// The environment of the store's rows.
  package var environment: Environment { core.environment }
}

extension EntryFlush {
  /// Calls a closure to change rows directly, including the counters.
  ///
  /// The transaction does not see the changed counters, so it must do nothing else.
  package mutating func replaceRows(_ body: (inout WriteTransaction) throws -> Void) throws {
    hasReplacedRows = true
    try session.withTransaction(body)
  }
}
