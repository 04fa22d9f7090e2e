import CPandoLMDB
import PandoSystem
import Synchronization

extension Environment {
  /// Runs `body` in a write transaction and commits it.
  ///
  /// `body` may run more than once. If the map is full, Pando rolls back, grows the map, and runs
  /// it again. So `body` changes nothing but the transaction.
  ///
  /// - Parameter body: Receives the transaction; a synchronous closure on the calling thread. If it
  ///   throws, nothing changes.
  /// - Returns: The result of `body`.
  /// - Throws: ``LMDBError`` with code `mapFull` if the map may not grow further, `mapInUse` if a
  ///   reader blocks its growth, `failedFlush` if this or an earlier commit could not be flushed
  ///   (reads continue, writes need a reopened environment), `fileMoved` if the data file was
  ///   moved, removed, replaced or overwritten (reads continue), the system's code (such as
  ///   `diskFull`) if this commit could not be written; or the error of `body`.
  /// - Complexity: The cost of `body`, O(*p*) for *p* changed pages, and the flushes of the
  ///   ``Durability``. Waits for earlier writes.
  /// - Precondition: The calling thread is not inside another write of this environment.
  @discardableResult
  public func write<Result>(
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    try checkProcess("write")
    let checkpoints = unsafe checkpoints
    if let checkpoints, !checkpoints.hasRoom, !readers.isReadingOnThisThread {
      checkpoints.waitForRoom()
    }
    do {
      return try writeToEnd(body)
    } catch let error as LMDBError where error.isForWantOfRoom {
      // Pages freed since the last checkpoint can be reused after the next one.
      guard let checkpoints, !readers.isReadingOnThisThread else { throw error }
      try checkpoints.waitForNext(in: self)
      return try writeToEnd(body)
    }
  }

  /// Runs `body` in a transaction, again until the map is large enough for it.
  private func writeToEnd<Result>(
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    let checkpoints = unsafe checkpoints
    try checkpoints?.beginWrite(in: self)
    defer { checkpoints?.endWrite() }
    return try writer.withLock("write") {
      while true {
        if let result = try writeOnce(body) { return result }
      }
    }
  }

  /// The pages that the last write lacked in the room for removals; `nil` if it lacked none.
  package var lackedPageCount: Int? {
    let count = missingPageCount.load(ordering: .relaxed)
    return count < 0 ? nil : count
  }

  /// Runs `body` once; the writer lock is held.
  ///
  /// - Returns: `nil` if the map has grown and `body` must run again.
  func writeOnce<Result>(
    _ body: (inout WriteTransaction) throws -> Result
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
    if transaction.failure?.code == .mapFull, canGrow {
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
      if error.code == .mapFull, canGrow {
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

  /// Adds the size to the error of a full map, and to a removal's error the likely cause.
  private func explained(_ error: any Error, frees: Bool) -> any Error {
    guard let error = error as? LMDBError, error.code == .mapFull, error.detail.isEmpty else {
      return error
    }
    let limit = "it may not grow above \(configuration.maximumMapSizeInBytes) bytes"
    let reason =
      "the room kept for removals is used up; a long read may keep the freed pages"
    return LMDBError(
      .mapFull, function: error.function, detail: frees ? "\(limit), and \(reason)" : limit)
  }

  /// Begins a write transaction, after checking the data file; the writer lock is held.
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
      // The refusal stays, whatever other programs write to the path.
      writeRefusal.withLock { $0 = error }
      configuration.onEvent?(.writesRefused)
      throw error
    }
    return transaction
  }

  /// Begins a write transaction, which the caller ends with ``end(_:)``; the writer lock is held.
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

  /// Rolls back the uncommitted changes of a write transaction, and lets other processes write.
  func end(_ transaction: inout WriteTransaction) {
    transaction.abort()
    unsafe namespaces?.leave(.writer)
  }
}
