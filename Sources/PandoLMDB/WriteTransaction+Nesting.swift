import CPandoLMDB

extension WriteTransaction {
  /// Runs `body` in a transaction inside this one.
  ///
  /// What it changed is kept when `body` returns and taken back when it throws; the outer
  /// transaction goes on either way.
  ///
  /// - Parameter body: Gets the inner transaction; the outer one waits.
  /// - Returns: What `body` returns.
  /// - Throws: ``LMDBError``, or what `body` throws.
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
      return result
    } catch {
      // The inner map is the outer map: the whole closure has to run again.
      if inner.failure?.code == .mapFull { failure = failure ?? inner.failure }
      inner.abort()
      throw error
    }
  }
}
