import CPandoLMDB

/// The one write transaction of an environment at a time.
///
/// It reads its own changes; others see them when the closure of ``Environment/write(_:)`` has
/// returned and the commit is done. An error that leaves the closure leaves nothing behind.
///
/// - Note: It stays on the thread of its closure, as LMDB demands.
public struct WriteTransaction: ~Copyable {
  /// The transaction.
  let handle: UnsafeSnapshotHandle
  /// The first failure that makes the whole transaction unusable.
  var failure: LMDBError?
  /// Whether it has been neither committed nor aborted.
  var isOpen = true

  init(_ handle: UnsafeSnapshotHandle) {
    self.handle = handle
  }

  /// The transaction's own state, for code that only reads.
  public var snapshot: Snapshot {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(Snapshot(unsafeHandle: handle), borrowing: self) }
  }

  /// The number this transaction's commit will have.
  public var transactionID: UInt64 { snapshot.transactionID }

  /// Returns the bytes stored under a key.
  ///
  /// The bytes live until the next change in this transaction; the compiler sees to it.
  ///
  /// - Parameters:
  ///   - key: An encoded key, 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Returns: The value's bytes, or `nil` if the key has none.
  /// - Throws: ``LMDBError`` with code `badKeySize` if `key` has another length.
  /// - Complexity: O(log *n*) for *n* keys in the table; no copy, no allocation.
  @_lifetime(borrow self)
  public func bytes(
    forKey key: Span<UInt8>, in table: RawTable
  ) throws(LMDBError) -> Span<UInt8>? {
    try snapshot.bytes(forKey: key, in: table)
  }

  /// Tells whether a key has a value.
  ///
  /// - Parameters:
  ///   - key: An encoded key, 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Returns: `true` if the key has a value.
  /// - Throws: ``LMDBError`` with code `badKeySize` if `key` has another length.
  public func contains(key: Span<UInt8>, in table: RawTable) throws(LMDBError) -> Bool {
    try snapshot.contains(key: key, in: table)
  }

  /// Returns how many keys a table has.
  ///
  /// - Parameter table: A table opened in this environment.
  /// - Returns: The number of keys.
  /// - Throws: ``LMDBError`` if the table is unknown to this transaction.
  /// - Complexity: O(1).
  public func count(of table: RawTable) throws(LMDBError) -> Int {
    try snapshot.count(of: table)
  }
}

extension WriteTransaction {
  /// The handle from which code that keeps the borrow in mind rebuilds ``snapshot``.
  package var unsafeHandle: UnsafeSnapshotHandle { handle }
}
