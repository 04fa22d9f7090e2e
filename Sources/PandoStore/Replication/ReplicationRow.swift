package import PandoLMDB

/// The position of a replicated store in its log: the row `replication` of the `meta` table.
///
/// ```
/// offset 0      16         24      40
///        ┌──────┬──────────┬───────┐
///        │ log  │ position │ chain │   position little endian, chain two integers, little endian
///        └──────┴──────────┴───────┘
/// ```
package struct ReplicationRow: Equatable, Sendable {
  package static let key = Array("replication".utf8)

  /// The identity of the log, 16 bytes.
  package var log: [UInt8]
  /// The position of the last applied entry.
  package var position: UInt64
  /// The hash of all entries up to that position.
  package var chain: EntryChain

  package init(log: [UInt8], position: UInt64, chain: EntryChain) {
    precondition(log.count == 16, "the identity of a log has 16 bytes, not \(log.count)")
    self.log = log
    self.position = position
    self.chain = chain
  }

  package init(_ bytes: Span<UInt8>) throws {
    var row = RowReader(bytes, "replication")
    (log, position) = (try row.take(16), try row.number())
    chain = EntryChain(try row.number(), try row.number())
    try row.end()
  }

  /// The history mark of commits from the log, equal for all stores that follow it from here.
  var history: UInt64 { max(chain.first, 1) }

  /// Writes the row for a log that continues from the store's contents, and begins a history there.
  package func beginAgain(
    in transaction: inout WriteTransaction, meta: RawTable, path: String
  ) throws {
    func read(_ key: [UInt8]) throws -> [UInt8]? {
      guard let row = try transaction.bytes(forKey: key.span, in: meta) else { return nil }
      return Array(copying: row)
    }
    var histories = try read(Histories.key).map { try Histories($0.span) } ?? Histories()
    let state = try read(StoreState.key).map { try StoreState($0.span, path: path) }
    histories.begin(history, at: (state?.commitNumber ?? 0) + 1)
    for (key, value) in [(Histories.key, histories.bytes), (Self.key, bytes)] {
      try transaction.put(value.span, forKey: key.span, in: meta)
    }
  }

  /// Gives the commits of a store the history of its log, where an earlier version has followed that and kept none.
  ///
  /// - Parameters:
  ///   - first: The first commit behind this row.
  ///   - transaction: Where to write.
  ///   - meta: The table of the row.
  /// - Throws: `LMDBError`.
  package func addHistory(
    from first: UInt64, in transaction: inout WriteTransaction, meta: RawTable
  ) throws {
    let key = Histories.key
    guard try transaction.bytes(forKey: key.span, in: meta) == nil else { return }
    var histories = Histories()
    histories.begin(history, at: first)
    let bytes = histories.bytes
    try transaction.put(bytes.span, forKey: key.span, in: meta)
  }

  package var bytes: [UInt8] { log + [UInt8](littleEndian: position, chain.first, chain.second) }
}

/// A hash of an entry and all before it: two XXH64, against mistakes, not against attacks.
package struct EntryChain: Equatable, Sendable {
  package var first: UInt64
  package var second: UInt64

  package init(_ first: UInt64 = 0, _ second: UInt64 = 0) {
    self.first = first
    self.second = second
  }
}

/// The last applied entry of one origin: a row of the `meta` table under `replication:` and the 16
/// bytes of the origin.
///
/// ```
/// offset 0         8          16
///        ┌─────────┬──────────┐
///        │ counter │ position │   little endian
///        └─────────┴──────────┘
/// ```
package struct OriginRow: Equatable, Sendable {
  static let prefix = Array("replication:".utf8)

  package var counter: UInt64
  package var position: UInt64

  package init(counter: UInt64, position: UInt64) {
    self.counter = counter
    self.position = position
  }

  init(_ bytes: Span<UInt8>) throws {
    var row = RowReader(bytes, "replication", "the row of an origin is malformed")
    (counter, position) = (try row.number(), try row.number())
    try row.end()
  }

  var bytes: [UInt8] { [UInt8](littleEndian: counter, position) }
}
