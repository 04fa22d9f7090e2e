import CPandoLMDB

extension WriteTransaction {
  /// Makes the changes part of the environment, or of the outer transaction.
  ///
  /// - Throws: ``LMDBError``; the transaction is ended then, too. If an earlier failure had made
  ///   it unusable, that failure.
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

  /// Takes the changes back, unless the transaction has ended already.
  mutating func abort() {
    guard isOpen else { return }
    isOpen = false
    unsafe mdb_txn_abort(handle.transaction)
  }
}
