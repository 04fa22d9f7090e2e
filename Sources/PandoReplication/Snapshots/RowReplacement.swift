import PandoLMDB
import PandoStore

/// Replaces the rows that all replicas share in one store by those of another store.
///
/// The rows of that store alone stay.
///
/// Only differing rows are written. No thread may write the other store meanwhile.
struct RowReplacement {
  private let own: Environment
  private let other: Environment
  private let tables: [(own: RawTable, other: RawTable)]
  private let ownMeta: RawTable
  private let otherMeta: RawTable
  private let ownIdentifiers: RawTable
  private let types: (own: RawTable, other: RawTable)
  private let keepsHistories: Bool

  /// Opens the tables of both stores; call it outside of writes.
  ///
  /// - Parameters:
  ///   - own: The store.
  ///   - other: The other store.
  ///   - keepsHistories: Whether the marks of commits stay if the other store has none, because an earlier version
  ///     wrote it.
  /// - Throws: `LMDBError`.
  init(_ own: Environment, _ other: Environment, keepsHistories: Bool = false) throws {
    self.keepsHistories = keepsHistories
    (self.own, self.other) = (own, other)
    tables = try SharedRows.tables.filter { $0 != "meta" }.map {
      (try own.rawTable($0), try other.rawTable($0, create: false))
    }
    ownMeta = try own.rawTable("meta")
    otherMeta = try other.rawTable("meta", create: false)
    ownIdentifiers = try own.rawTable("identifiers")
    types = (try own.rawTable("types"), try other.rawTable("types", create: false))
  }

  /// Whether the types of the store have the same numbers in the other one.
  ///
  /// A running store keeps the numbers of its types in memory, and can't change them.
  func keepsTypes() throws -> Bool {
    var rows: [(name: [UInt8], number: [UInt8])] = []
    try own.read { snapshot in
      try snapshot.scan(types.own) { key, value in
        rows.append((Array(copying: key), Array(copying: value.extracting(first: 4))))
        return true
      }
    }
    return try other.read { snapshot in
      for row in rows {
        guard let found = try snapshot.bytes(forKey: row.name.span, in: types.other),
          Array(copying: found.extracting(first: 4)) == row.number
        else { return false }
      }
      return true
    }
  }

  /// Writes the differences.
  ///
  /// - Parameters:
  ///   - transaction: A transaction of the store.
  ///   - isContinued: Whether the history of the other store contains the commits of the store; else its cursors
  ///     expire.
  /// - Throws: `LMDBError`; the transaction must then be aborted.
  func apply(to transaction: inout WriteTransaction, isContinued: Bool) throws {
    try other.read { try apply(to: &transaction, $0) }
    if !isContinued { try SharedRows.expireCursors(in: &transaction, meta: ownMeta) }
  }

  private func apply(to transaction: inout WriteTransaction, _ other: borrowing Snapshot) throws {
    for table in tables {
      let gone = try make(table.own, table.other, &transaction, other) { _ in true }
      guard table.own == ownIdentifiers else { continue }
      for key in gone.flatMap({ SharedRows.localKeys(of: String(decoding: $0, as: UTF8.self)) }) {
        try transaction.delete(key: key.span, in: ownMeta)
      }
    }
    let histories = SharedRows.historiesKey
    let keepsHistories =
      try keepsHistories && other.bytes(forKey: histories.span, in: otherMeta) == nil
    _ = try make(ownMeta, otherMeta, &transaction, other) { key in
      if keepsHistories, key.isEqual(to: histories) { return false }
      return SharedRows.metaKeys.contains { key.isEqual(to: $0) }
        || SharedRows.metaPrefixes.contains { key.begins(with: $0) }
    }
    let key = SharedRows.countersKey
    guard let counters = try other.bytes(forKey: key.span, in: otherMeta) else { return }
    var bytes = Array(copying: counters)
    if let own = try transaction.bytes(forKey: key.span, in: ownMeta) {
      for index in SharedRows.identifierRange { bytes[index] = own[index] }
    }
    try transaction.put(bytes.span, forKey: key.span, in: ownMeta)
  }

  /// Makes one table equal to another one.
  ///
  /// - Returns: The removed keys; of the table of identifiers, the removed identifiers.
  private func make(
    _ own: RawTable, _ other: RawTable, _ transaction: inout WriteTransaction,
    _ snapshot: borrowing Snapshot, _ isShared: (Span<UInt8>) -> Bool
  ) throws -> [[UInt8]] {
    var gone: [[UInt8]] = []
    var next: [UInt8]?
    repeat {
      // Removals come first, in portions: a change makes a cursor invalid.
      var keys: [[UInt8]] = []
      try transaction.snapshot.scan(own, from: next) { key, _ in
        if isShared(key), try snapshot.bytes(forKey: key, in: other) == nil {
          keys.append(Array(copying: key))
        }
        return keys.count < Self.portion
      }
      for key in keys { try transaction.delete(key: key.span, in: own) }
      next = keys.count < Self.portion ? nil : keys.last
      gone += keys
    } while next != nil
    try snapshot.scan(other) { key, value in
      guard isShared(key) else { return true }
      if let known = try transaction.bytes(forKey: key, in: own), known.isEqual(to: value) {
        return true
      }
      try transaction.put(value, forKey: key, in: own)
      return true
    }
    return gone
  }

  private static let portion = 10_000
}

extension Span<UInt8> {
  fileprivate func begins(with prefix: [UInt8]) -> Bool {
    count >= prefix.count && prefix.indices.allSatisfy { self[$0] == prefix[$0] }
  }

  fileprivate func isEqual(to bytes: [UInt8]) -> Bool {
    count == bytes.count && begins(with: bytes)
  }

  fileprivate func isEqual(to other: Span<UInt8>) -> Bool {
    unsafe withUnsafeBytes { own in
      unsafe other.withUnsafeBytes { unsafe own.elementsEqual($0) }
    }
  }
}
