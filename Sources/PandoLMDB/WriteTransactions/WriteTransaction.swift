import CPandoLMDB

/// The write transaction of an environment; there is one at a time.
///
/// ```swift
/// try environment.write { transaction in
///   let age = try transaction.value(forKey: "Ada", in: ages) ?? 0
///   try transaction.put(age + 1, forKey: "Ada", in: ages)
/// }
/// ```
///
/// It reads its own changes. Other readers see them after the closure of ``Environment/write(_:)``
/// has returned and the commit is done. An error thrown by the closure discards all changes.
///
/// - Note: It stays on the thread of its closure, as LMDB requires.
public struct WriteTransaction: ~Copyable {
  /// The transaction.
  let handle: UnsafeSnapshotHandle
  /// The first failure that makes the whole transaction unusable.
  var failure: LMDBError?
  /// Whether an entry was put into a table.
  var hasPut = false
  /// Whether it frees space although it puts entries: the remains of other values, or the note of a
  /// removal.
  package var isRelief = false
  /// Whether it has been neither committed nor aborted.
  var isOpen = true

  init(_ handle: UnsafeSnapshotHandle) {
    self.handle = handle
  }

  /// The state of the transaction, for code that only reads.
  public var snapshot: Snapshot {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(Snapshot(unsafeHandle: handle), borrowing: self) }
  }

  /// Whether it may use the room reserved for writes that free space.
  var frees: Bool { isRelief || !hasPut }

  /// The number of this transaction's commit.
  public var transactionID: UInt64 { snapshot.transactionID }

  /// Returns the bytes stored under a key.
  ///
  /// The bytes live until the next change in this transaction; the compiler checks that.
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
  /// - Complexity: O(log *n*) for *n* keys in the table.
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
  /// The handle from which code that respects the borrow makes ``snapshot`` again.
  package var unsafeHandle: UnsafeSnapshotHandle { handle }
}

extension WriteTransaction {
  /// Runs `body` in a transaction inside this one.
  ///
  /// Its changes are kept when `body` returns and rolled back when it throws; the outer transaction
  /// continues either way.
  ///
  /// - Parameter body: Receives the inner transaction; the outer one waits.
  /// - Returns: The result of `body`.
  /// - Throws: ``LMDBError``, or the error of `body`.
  /// - Complexity: Beginning one copies the list of changed pages.
  /// - Note: LMDB: `mdb_txn_begin` with a parent.
  public mutating func nested<Result>(
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    var child: OpaquePointer?
    let status = unsafe mdb_txn_begin(
      mdb_txn_env(handle.transaction), handle.transaction, 0, &child)
    try check(status, "mdb_txn_begin")
    guard let child = unsafe child else { preconditionFailure("a begun transaction is not nil") }
    var inner = WriteTransaction(
      unsafe UnsafeSnapshotHandle(
        transaction: child, environment: handle.environment, isReadOnly: false))
    do {
      let result = try body(&inner)
      try inner.commit()
      hasPut = hasPut || inner.hasPut
      return result
    } catch {
      // Both transactions use the same map: the whole closure has to run again.
      if inner.failure?.code == .mapFull {
        failure = failure ?? inner.failure
        hasPut = hasPut || inner.hasPut
      }
      inner.abort()
      throw error
    }
  }
}

extension WriteTransaction {
  /// Makes the changes part of the environment, or of the outer transaction.
  ///
  /// - Throws: ``LMDBError``; the transaction has then ended, too. After an earlier failure, that
  ///   failure.
  mutating func commit() throws(LMDBError) {
    precondition(isOpen, "the transaction has ended")
    isOpen = false
    let status = unsafe mdb_txn_commit(handle.transaction)
    if status == 0 { return }
    if status == MDB_BAD_TXN, let failure { throw failure }
    let error = LMDBError(LMDBError.Code(rawValue: status), function: "mdb_txn_commit")
    failure = failure ?? error
    throw error
  }

  /// Rolls the changes back, unless the transaction has ended.
  mutating func abort() {
    guard isOpen else { return }
    isOpen = false
    unsafe mdb_txn_abort(handle.transaction)
  }
}
