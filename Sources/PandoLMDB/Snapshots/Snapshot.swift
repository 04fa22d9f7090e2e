import CPandoLMDB

/// One committed version of an environment, as a reader sees it.
///
/// ```swift
/// let (age, count) = try environment.read { snapshot in
///   (try snapshot.value(forKey: "Ada", in: ages), try snapshot.count(of: ages))
/// }
/// ```
///
/// It can't leave its closure, and neither can bytes read from it: the compiler refuses. Later
/// commits do not change it.
///
/// - Note: One thread at a time uses a snapshot.
public struct Snapshot: ~Escapable {
  /// The transaction that it reads from.
  let handle: UnsafeSnapshotHandle

  /// Makes the snapshot of a transaction again.
  ///
  /// - Parameter unsafeHandle: A handle whose transaction lives as long as the result is used.
  @unsafe
  @_lifetime(immortal)
  package init(unsafeHandle: UnsafeSnapshotHandle) {
    handle = unsafeHandle
  }

  /// A token from which this snapshot can be made again while its transaction lives.
  package var unsafeHandle: UnsafeSnapshotHandle { handle }

  /// The number of the last commit in this snapshot.
  ///
  /// In a write transaction: the number of its commit.
  public var transactionID: UInt64 {
    UInt64(unsafe mdb_txn_id(handle.transaction))
  }

  /// Returns the bytes stored under a key.
  ///
  /// The bytes lie in the memory map; they live as long as this snapshot.
  ///
  /// - Parameters:
  ///   - key: An encoded key, 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Returns: The value's bytes, or `nil` if the key has none.
  /// - Throws: ``LMDBError`` with code `badKeySize` if `key` has another length, `badTable` if the
  ///   table was opened after this snapshot.
  /// - Complexity: O(log *n*) for *n* keys in the table; no copy, no allocation.
  /// - Note: LMDB: `mdb_get`.
  @_lifetime(copy self)
  public func bytes(
    forKey key: Span<UInt8>, in table: RawTable
  ) throws(LMDBError) -> Span<UInt8>? {
    guard let value = try unsafe handle.value(forKey: key, in: table) else { return nil }
    // The map holds the bytes until the transaction ends, which is the lifetime of this view.
    return unsafe _overrideLifetime(value.span, copying: self)
  }

  /// Tells whether a key has a value.
  ///
  /// - Parameters:
  ///   - key: An encoded key, 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Returns: `true` if the key has a value.
  /// - Throws: ``LMDBError`` with code `badKeySize` if `key` has another length.
  /// - Complexity: O(log *n*) for *n* keys in the table.
  public func contains(key: Span<UInt8>, in table: RawTable) throws(LMDBError) -> Bool {
    try unsafe handle.value(forKey: key, in: table) != nil
  }

  /// Returns how many keys a table has.
  ///
  /// - Parameter table: A table opened in this environment.
  /// - Returns: The number of keys.
  /// - Throws: ``LMDBError`` with code `badTable` if the table was opened after this snapshot.
  /// - Complexity: O(1).
  /// - Note: LMDB: `mdb_stat`.
  public func count(of table: RawTable) throws(LMDBError) -> Int {
    Int(try handle.statistics(of: table).ms_entries)
  }
}

extension Snapshot {
  /// Returns the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key; its encoding has 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Returns: The value, or `nil` if the key has none.
  /// - Throws: ``LMDBError`` with code `badKeySize` or `undecodable`, or the error of a codec.
  /// - Complexity: O(log *n*) for *n* keys in the table, and the decoding.
  public func value<Key, Value>(
    forKey key: Key, in table: Table<Key, Value>
  ) throws -> Value? {
    try table.withBytes(ofKey: key) { key in
      guard let bytes = try bytes(forKey: key, in: table.raw) else { return nil }
      return try table.values.decode(bytes)
    }
  }

  /// Tells whether a key has a value.
  ///
  /// - Parameters:
  ///   - key: The key; its encoding has 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Returns: `true` if the key has a value.
  /// - Throws: ``LMDBError`` with code `badKeySize`, or the error of a codec.
  /// - Complexity: O(log *n*) for *n* keys in the table; the value is not decoded.
  public func contains<Key, Value>(key: Key, in table: Table<Key, Value>) throws -> Bool {
    try table.withBytes(ofKey: key) { try contains(key: $0, in: table.raw) }
  }

  /// Returns how many keys a table has.
  ///
  /// - Parameter table: A table opened in this environment.
  /// - Returns: The number of keys.
  /// - Throws: ``LMDBError`` with code `badTable` if the table was opened after this snapshot.
  /// - Complexity: O(1).
  public func count<Key, Value>(of table: Table<Key, Value>) throws(LMDBError) -> Int {
    try count(of: table.raw)
  }

  /// Calls `body` for each key of a range, in key order.
  ///
  /// - Parameters:
  ///   - table: A table opened in this environment.
  ///   - range: The range of keys.
  ///   - reversed: Whether to visit the keys in descending order.
  ///   - body: Receives the entry, which decodes key and value on access; returns `false` to stop.
  /// - Throws: ``LMDBError``, or the error of a codec or of `body`.
  /// - Complexity: O(log *n* + *m*) for *m* visited keys; decodes on access only.
  public func scan<Key, Value>(
    _ table: Table<Key, Value>, in range: KeyRange<Key> = .all, reversed: Bool = false,
    _ body: (Entry<Key, Value>) throws -> Bool
  ) throws {
    let bytes = try range.encoded(with: table.keys)
    try scan(table.raw, from: bytes.lower, upTo: bytes.upper, reversed: reversed) { key, value in
      try body(Entry(key, value, table))
    }
  }
}
