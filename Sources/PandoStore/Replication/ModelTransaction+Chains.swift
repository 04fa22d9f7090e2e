/// The hashes at the last positions of the log: rows of `meta` under `replica-chain:`.
///
/// ```
/// key    0                14         22        value  0       8        16
///        ┌────────────────┬──────────┐                ┌───────┬────────┐
///        │ replica-chain: │ position │  big endian    │ first │ second │  little endian
///        └────────────────┴──────────┘                └───────┴────────┘
/// ```
/// The newest row is adjacent to the row `replication`, which each commit also writes.
package enum ChainRows {
  package static let prefix = Array("replica-chain:".utf8)
  /// How many positions are kept before the last one; some more may exist.
  package static var keptCount: UInt64 { ModelTransaction.judgedCommitCount }
  /// How many are removed at once.
  static let portion: UInt64 = 1000

  package static func key(_ position: UInt64) -> [UInt8] {
    var key = prefix
    key.append(bigEndian: position)
    return key
  }

  package static func bytes(_ chain: EntryChain) -> [UInt8] {
    [UInt8](littleEndian: chain.first, chain.second)
  }

  fileprivate static func chain(_ bytes: Span<UInt8>) throws -> EntryChain {
    var row = RowReader(bytes, "replication", "the row of a chain is malformed")
    let chain = EntryChain(try row.number(), try row.number())
    try row.end()
    return chain
  }
}

extension StoreReader {
  fileprivate func chain(at position: UInt64) throws -> EntryChain? {
    let key = ChainRows.key(position)
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.meta) else { return nil }
    return try ChainRows.chain(bytes)
  }

  fileprivate var firstChain: (position: UInt64, chain: EntryChain)? {
    get throws {
      var found: (position: UInt64, chain: EntryChain)?
      try snapshot.scan(tables.meta, prefix: ChainRows.prefix) { key, value in
        guard let position = key.bigEndian(at: ChainRows.prefix.count) else {
          throw StoreError.damaged("replication", "the key of a chain is malformed")
        }
        found = (position, try ChainRows.chain(value))
        return false
      }
      return found
    }
  }
}

extension ModelSnapshot {
  /// The hash of all entries up to a position; `nil` if it is not kept.
  package func chain(at position: UInt64) throws -> EntryChain? { try reader.chain(at: position) }

  /// The first position with a kept hash, and the hash; the empty hash at the begin of a history.
  package var firstChain: (position: UInt64, chain: EntryChain)? {
    get throws { try reader.firstChain }
  }
}

extension ModelTransaction {
  /// The hash of all entries up to a position; `nil` if it is not kept.
  package func chain(at position: UInt64) throws -> EntryChain? {
    try session.reading { try $0.chain(at: position) }
  }

  /// The first position with a kept hash, and the hash; the empty hash at the begin of a history.
  package var firstChain: (position: UInt64, chain: EntryChain)? {
    get throws { try session.reading { try $0.firstChain } }
  }

  /// Stores the hash at a position.
  package func setChain(_ chain: EntryChain, at position: UInt64) throws {
    let (key, bytes) = (ChainRows.key(position), ChainRows.bytes(chain))
    try session.put(bytes.span, forKey: key.span, in: session.tables.meta)
  }

  /// Makes sure that the kept hashes lead to the store's position.
  ///
  /// A program of an earlier version keeps none, so they begin again after it.
  package func beginChains(at row: ReplicationRow) throws {
    if try chain(at: row.position) == row.chain { return }
    try forgetChains(before: .max)
    try setChain(row.chain, at: row.position)
  }

  /// Removes the hashes at old positions, now and then.
  package func trimChains(from old: UInt64, to new: UInt64) throws {
    let (portion, kept) = (ChainRows.portion, ChainRows.keptCount)
    guard old / portion != new / portion, new / portion * portion > kept else { return }
    try forgetChains(before: new / portion * portion - kept)
  }

  private func forgetChains(before position: UInt64) throws {
    var keys: [[UInt8]] = []
    try session.reading { reader in
      try reader.snapshot.scan(session.tables.meta, prefix: ChainRows.prefix) { key, _ in
        guard key.bigEndian(at: ChainRows.prefix.count) ?? 0 < position else {
          return false
        }
        keys.append(Array(copying: key))
        return true
      }
    }
    for key in keys { try session.deleteRow(key.span, in: session.tables.meta) }
  }
}
