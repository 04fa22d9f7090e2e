import CPandoLMDB
import PandoSystem
import Synchronization

extension Environment {
  /// Runs `body` in a write transaction and commits it.
  ///
  /// `body` may run more than once: when the map is full it is taken back, the map grows, and it
  /// runs again; so it does where commits are shared (``Configuration/sharesCommits``) and one of
  /// those that share it fails. So it changes nothing but the transaction.
  ///
  /// - Parameter body: Gets the transaction. It runs on the calling thread; it must be synchronous.
  ///   When it throws, nothing is changed.
  /// - Returns: The result of `body`.
  /// - Throws: ``LMDBError`` with code `mapFull` if the map may not grow further, `mapInUse` if it
  ///   would have to move under a reader that does not end, `failedFlush` if this or an earlier
  ///   commit could not be flushed (reads go on, writes need a reopened environment), `fileMoved` if the
  ///   data file was moved, removed, replaced or written over since it was opened (reads go on), the system's
  ///   code (such as `diskFull`) if this commit could not be written; or the error of `body`.
  /// - Complexity: What `body` costs, O(*p*) for *p* pages that it has changed, and the flushes of its ``Durability``.
  ///   Waits for the writes before it.
  /// - Precondition: The calling thread is not inside another write of this environment.
  @discardableResult
  public func write<Result>(
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    try checkProcess("write")
    // A write inside a read shares no commit: should the map have to grow, those who share it would
    // wait for the read, and the read for them.
    if configuration.sharesCommits, !readers.isReadingOnThisThread { return try writeShared(body) }
    return try writeAlone(body)
  }

  /// Runs `body` in a transaction, again until the map is large enough for it; a full map is an error
  /// where it may not grow.
  func writeAlone<Result>(
    mayGrow: Bool = true, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    let checkpoints = unsafe checkpoints
    if let checkpoints, !checkpoints.hasRoom, !readers.isReadingOnThisThread {
      checkpoints.waitForRoom()
    }
    do {
      return try writeToEnd(mayGrow: mayGrow, body)
    } catch let error as LMDBError where error.isForWantOfRoom {
      // Pages that have become free since the last checkpoint can be used after the next one.
      guard let checkpoints, !readers.isReadingOnThisThread else { throw error }
      try checkpoints.waitForNext(in: self)
      return try writeToEnd(mayGrow: mayGrow, body)
    }
  }

  private func writeToEnd<Result>(
    mayGrow: Bool, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    let checkpoints = unsafe checkpoints
    try checkpoints?.beginWrite(in: self)
    defer { checkpoints?.endWrite() }
    return try writer.withLock("write") {
      while true {
        if let result = try writeOnce(mayGrow: mayGrow, body) { return result }
      }
    }
  }

  /// How many pages the last write lacked of the room that removals need, whether it was refused or was a removal itself;
  /// `nil` if it lacked none.
  package var lackedPageCount: Int? {
    let count = missingPageCount.load(ordering: .relaxed)
    return count < 0 ? nil : count
  }

  /// Runs `body` once; the writer lock is held.
  ///
  /// - Returns: `nil` if the map has grown and `body` has to run again.
  func writeOnce<Result>(
    mayGrow: Bool = true, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result? {
    var transaction = try beginWritingInPlace()
    defer { end(&transaction) }
    let outcome: Swift.Result<Result, any Error>
    do {
      outcome = .success(try body(&transaction))
    } catch {
      outcome = .failure(error)
    }
    precondition(
      transaction.handle.environment == self.number, "the transaction was exchanged for another one"
    )
    if transaction.failure?.code == .mapFull, mayGrow, canGrow {
      transaction.abort()
      try growMap()
      return nil
    }
    let result: Result
    do {
      result = try outcome.get()
      try checkReserve(transaction)
    } catch {
      let frees = transaction.frees
      noteFailure(error, frees: frees)
      transaction.abort()
      throw explained(error, frees: frees)
    }
    let number = unsafe UInt64(mdb_txn_id(transaction.handle.transaction))
    do throws(LMDBError) {
      try transaction.commit()
      unsafe place.didCommit(number, file, pointer)
      didCommit(number)
      countForCheckpoint(number)
    } catch {
      if error.code == .mapFull, mayGrow, canGrow {
        try growMap()
        return nil
      }
      let found = commitError(error)
      noteFailure(found, frees: transaction.frees)
      throw explained(found, frees: transaction.frees)
    }
    return result
  }

  /// Notes that even a removal lacked room.
  private func noteFailure(_ error: any Error, frees: Bool) {
    if frees, (error as? LMDBError)?.isForWantOfRoom == true {
      missingPageCount.store(0, ordering: .relaxed)
    }
  }

  /// Says of a full map how large it is, and of a removal without room what may hold that.
  private func explained(_ error: any Error, frees: Bool) -> any Error {
    guard let error = error as? LMDBError, error.code == .mapFull, error.detail.isEmpty else {
      return error
    }
    let limit = "it may not grow above \(configuration.maximumMapSizeInBytes) bytes"
    let reason =
      "the room kept for removals is used up; a read that goes on may keep what was freed"
    return LMDBError(
      .mapFull, function: error.function, detail: frees ? "\(limit), and \(reason)" : limit)
  }

  /// Begins a write transaction, unless the data file was moved, replaced or written over; the writer lock is held.
  private func beginWritingInPlace() throws(LMDBError) -> WriteTransaction {
    try place.willWrite()
    var transaction = try beginWriting()
    do throws(LMDBError) {
      try place.didBegin()
    } catch {
      end(&transaction)
      throw error
    }
    do throws(LMDBError) {
      try place.checkContents(transaction, file)
    } catch {
      end(&transaction)
      // It stays so, whatever other programs write there.
      writeRefusal.withLock { $0 = error }
      configuration.onEvent?(.writesRefused)
      throw error
    }
    return transaction
  }

  /// Begins a write transaction, which the caller ends by ``end(_:)``; the writer lock is held.
  func beginWriting() throws(LMDBError) -> WriteTransaction {
    if let refusal = writeRefusal.withLock({ $0 }) { throw refusal }
    try reopenIfLost()
    clearStaleReadersNowAndThen()
    while true {
      var transaction: OpaquePointer?
      let environment = try unsafe openPointer("write")
      writerWait.begin()
      unsafe namespaces?.enter(.writer)
      let status = unsafe namespaces.beginWriter(environment, &transaction)
      writerWait.end()
      if status == 0, let transaction = unsafe transaction {
        var begun = WriteTransaction(
          unsafe UnsafeSnapshotHandle(
            transaction: transaction, environment: number, isReadOnly: false))
        do {
          try pinCheckpoint(begun)
        } catch {
          end(&begun)
          throw error
        }
        return begun
      }
      unsafe namespaces?.leave(.writer)
      guard status == MDB_MAP_RESIZED else {
        throw LMDBError(LMDBError.Code(rawValue: status), function: "mdb_txn_begin")
      }
      try remap(to: 0)
    }
  }

  /// Takes back what a write transaction has not committed, and lets other processes write.
  func end(_ transaction: inout WriteTransaction) {
    transaction.abort()
    unsafe namespaces?.leave(.writer)
  }
}
