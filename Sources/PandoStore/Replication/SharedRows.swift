package import PandoLMDB

/// Which rows of a store all replicas have alike; all others belong to one store alone.
package enum SharedRows {
  /// The tables; `meta` has others' rows beside.
  package static let tables = StoreTables.names
  /// What the keys of the rows of `meta` are, or begin with.
  package static let metaKeys = [NewestChanges.key, Histories.key, ReplicationRow.key]
  package static let metaPrefixes = [
    ChainRows.prefix, OriginRow.prefix, SchemaRow.prefix, DeletionRules.prefix,
  ]
  /// The row of the counters, which holds the store's own identifier as well, and where that lies.
  package static let countersKey = StoreState.key
  package static let identifierRange = 8..<24

  /// The keys of rows of this store alone that go with a node.
  package static func localKeys(of identifier: String) -> [[UInt8]] {
    [SequenceKey.row(identifier), SequenceKey.rank(identifier)]
  }
}

extension ModelStore {
  /// What the store's rows lie in.
  package var environment: Environment { core.environment }
}

extension EntryFlush {
  /// Lets a closure change rows as they lie there, the counters among them.
  ///
  /// The transaction knows the counters as they were: it does nothing besides.
  package mutating func replaceRows(_ body: (inout WriteTransaction) throws -> Void) throws {
    hasReplacedRows = true
    try session.withTransaction(body)
  }
}
