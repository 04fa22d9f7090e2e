import CPandoLMDB
import PandoSystem

extension Environment {
  /// Decides how a failed commit affects later commits; the writer lock is held.
  ///
  /// A commit writes pages, flushes them, and writes a meta page synchronously. If writing pages
  /// failed (a full disk), the old version is intact and the next commit may succeed. If the flush
  /// failed, the system may have dropped pages that it reports as clean, so later writes are
  /// unsafe. If the meta page failed, liblmdb disables the environment.
  ///
  /// - Returns: The error for the caller of this commit.
  func commitError(_ error: LMDBError) -> LMDBError {
    let refusal: LMDBError
    if isGivenUpByLMDB() {
      refusal = LMDBError(
        .failedFlush, function: error.function, detail: "the meta page: \(error.code.explanation)")
      try? reopenForReading(refusal)
    } else if error.code.rawValue > 0, file.hasFailedFlush() {
      refusal = LMDBError(
        .failedFlush, function: error.function, detail: "the pages: \(error.code.explanation)")
      writeRefusal.withLock { $0 = refusal }
    } else if error.code == .inputOutput, file.isOnFullDisk() {
      return LMDBError(.diskFull, function: error.function, detail: "a write was cut short")
    } else if error.code == .inputOutput, let limit = file.reachedLimit() {
      return LMDBError(
        .fileTooLarge, function: error.function,
        detail: "a write was cut short at the limit of this process, \(limit) bytes")
    } else {
      return error
    }
    configuration.onEvent?(.writesRefused)
    return refusal
  }

  /// Opens LMDB's environment again if liblmdb has disabled it.
  ///
  /// - Returns: `true` if a reader may retry.
  func recoverForReading() -> Bool {
    guard !readers.isReadingOnThisThread, !writer.isHeldByThisThread else { return false }
    return writer.withLock("read") {
      guard isGivenUpByLMDB() else { return true }
      let refusal = LMDBError(.failedFlush, function: "mdb_txn_begin", detail: "the meta page")
      return (try? reopenForReading(writeRefusal.withLock { $0 } ?? refusal)) != nil
    }
  }

  /// Whether liblmdb returns `MDB_PANIC` for every transaction.
  private func isGivenUpByLMDB() -> Bool {
    guard let environment = unsafe pointer else { return false }
    var transaction: OpaquePointer?
    let status = unsafe namespaces.beginReader(environment, &transaction)
    if let transaction = unsafe transaction { unsafe mdb_txn_abort(transaction) }
    return status == MDB_PANIC
  }

  /// Opens LMDB's environment again, so that reads continue.
  private func reopenForReading(_ refusal: LMDBError) throws(LMDBError) {
    writeRefusal.withLock { $0 = refusal }
    guard !readers.isReadingOnThisThread else { throw refusal }
    let drain = try readers.whileEmpty(timeoutInSeconds: configuration.mapGrowthTimeoutInSeconds) {
      () throws(LMDBError) in
      try reopen()
    }
    if drain == .timedOut { throw refusal }
  }

  /// Closes LMDB's environment and opens it again with the same tables.
  ///
  /// No reader is inside; the writer lock is held. After a failure the next call tries again.
  func reopen() throws(LMDBError) {
    readers.abortIdleTransactions()
    unsafe checkpoints?.endPins()
    closePointer()
    unsafe mapNumber &+= 1
    do {
      // Another file at the path is another environment.
      try place.check()
      unsafe pointer = try makePointerWithTables()
      unsafe loss = nil
      checkSignal()
    } catch {
      unsafe loss = error
      throw error
    }
  }

  private func makePointerWithTables() throws(LMDBError) -> OpaquePointer {
    // The lock file is the same one unless it was removed.
    let made = try unsafe Self.makePointer(
      location, configuration, mapSizeInBytes: 0, dataSizeInBytes: file.sizeInBytes())
    let environment = unsafe made.environment
    do {
      try unsafe reopenTables(in: environment)
    } catch {
      unsafe pointer = environment
      closePointer()
      throw error
    }
    return unsafe environment
  }

  /// Opens LMDB's environment if the last attempt to open it failed; the writer lock is held.
  func reopenIfLost() throws(LMDBError) {
    guard let loss = unsafe loss else { return }
    guard !readers.isReadingOnThisThread else { throw loss }
    let drain = try readers.whileEmpty(timeoutInSeconds: configuration.mapGrowthTimeoutInSeconds) {
      () throws(LMDBError) in
      try reopen()
    }
    if drain == .timedOut { throw loss }
  }

  /// The same for a reader that has left.
  func reopenIfLostForReading(_ loss: LMDBError) throws(LMDBError) {
    guard !readers.isReadingOnThisThread, !writer.isHeldByThisThread else { throw loss }
    let outcome = writer.withLock("read") {
      Result { () throws(LMDBError) in try reopenIfLost() }
    }
    try outcome.get()
  }
}
