import CLMDB

extension Environment {
  /// Runs `body` on the newest committed version.
  ///
  /// The version stays as it is while `body` runs, whatever is committed meanwhile, and the file
  /// keeps the pages of that version: read and return, don't linger.
  ///
  /// - Parameter body: Gets the snapshot. It runs on the calling thread and must be synchronous.
  /// - Returns: What `body` returns.
  /// - Throws: ``LMDBError`` with code `readersFull` if every slot is in use by a living reader,
  ///   `closed` after ``close()``, `usedAfterFork` in a child process; or what `body` throws.
  /// - Complexity: O(1) beside `body`, no allocation once a transaction can be reused. Never waits
  ///   for a writer; waits for the moment in which the map moves to a larger place.
  public func read<Result>(_ body: (Snapshot) throws -> Result) throws -> Result {
    let (ticket, handle) = try beginReading()
    defer { endReading(ticket, handle) }
    // The transaction lives until `body` has returned, and the snapshot can't leave it.
    return try body(unsafe Snapshot(unsafeHandle: handle))
  }

  /// Whether the calling thread is inside ``read(_:)`` of this environment.
  package var isReadingOnThisThread: Bool { readers.isReadingOnThisThread }

  /// Whether the calling thread is inside ``write(_:)`` of this environment.
  package var isWritingOnThisThread: Bool { writer.isHeldByThisThread }

  private func beginReading() throws(LMDBError) -> (ReaderPool.Ticket, UnsafeSnapshotHandle) {
    try checkProcess("read")
    var hasRecovered = false
    while true {
      let ticket = try readers.enter()
      var transaction = unsafe ticket.transaction
      let status = unsafe beginOrRenew(&transaction)
      if status == 0, let transaction = unsafe transaction {
        return unsafe (
          ticket, UnsafeSnapshotHandle(transaction: transaction, environment: number)
        )
      }
      readers.leave(ticket)
      if status == MDB_PANIC, !hasRecovered, recoverForReading() {
        hasRecovered = true
        continue
      }
      guard status == MDB_MAP_RESIZED else { throw readError(status) }
      try adoptMapOfOtherProcess()
    }
  }

  /// Renews a transaction, or begins one.
  private func beginOrRenew(_ transaction: inout OpaquePointer?) -> CInt {
    if let idle = unsafe transaction { return unsafe mdb_txn_renew(idle) }
    guard let environment = unsafe pointer else { return LMDBError.Code.closed.rawValue }
    let status = unsafe mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
    guard status == MDB_READERS_FULL, unsafe clearStaleReaders(in: environment) > 0 else {
      return status
    }
    return unsafe mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
  }

  private func endReading(_ ticket: ReaderPool.Ticket, _ handle: UnsafeSnapshotHandle) {
    unsafe mdb_txn_reset(handle.transaction)
    unsafe readers.leave(ticket.holding(handle.transaction))
  }

  private func readError(_ status: CInt) -> LMDBError {
    let code = LMDBError.Code(rawValue: status)
    var detail = ""
    if code == .readersFull {
      detail = "\(readers.activeCount()) readers of this process are open, all slots are taken"
    }
    return LMDBError(code, function: "mdb_txn_begin", detail: detail)
  }
}
