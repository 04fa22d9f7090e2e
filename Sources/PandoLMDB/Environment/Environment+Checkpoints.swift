import CPandoLMDB
import PandoSystem

extension Environment {
  /// Writes all committed data to the disk.
  ///
  /// With checkpoints it waits for the next one, which begins at once; else it is ``sync()``.
  ///
  /// - Throws: ``LMDBError`` with code `failedFlush`; later writes are refused.
  /// - Complexity: O(*p*) for *p* pages that are not on the disk yet. With checkpoints it also
  ///   waits for the write and the checkpoint under way.
  /// - Precondition: The calling thread is not inside a write of this environment.
  public func flush() throws(LMDBError) {
    try checkProcess("flush")
    writer.checkIsFree(for: "flush")
    guard let checkpoints = unsafe checkpoints else { return try sync() }
    try checkpoints.waitForNext(in: self)
  }

  /// Makes a checkpoint; called on the checkpoint thread.
  func makeCheckpoint(_ checkpoints: Checkpointer) {
    do {
      let capture = try writer.withLock("checkpoint") {
        var transaction = try beginWriting()
        defer { end(&transaction) }
        return try unsafe checkpoints.capture(transaction, file, namespaces)
      }
      if let capture {
        try flushed { () throws(LMDBError) in
          try file.flush()
          try checkpoints.write(capture, file)
        }
      }
      writer.withLock("checkpoint") {
        if let capture { checkpoints.keep(capture) }
        checkpoints.rest()
      }
      checkpoints.didEnd(nil)
    } catch {
      let failure = error as? LMDBError
      checkpoints.didEnd(failure ?? LMDBError(.closed, function: "checkpoint"))
    }
  }

  /// Pins the pages of a checkpoint before a write uses any page again; the writer lock is held.
  ///
  /// Without a pin of this process, the last commit becomes a checkpoint unless it is one already.
  /// The lock excludes other commits meanwhile.
  func pinCheckpoint(_ transaction: borrowing WriteTransaction) throws(LMDBError) {
    guard let checkpoints = unsafe checkpoints, unsafe checkpoints.pinned == nil,
      let capture = try unsafe checkpoints.capture(transaction, file, namespaces)
    else { return }
    if !checkpoints.isDurable(capture) {
      try flushed { () throws(LMDBError) in
        try file.flush()
        try checkpoints.write(capture, file)
      }
    }
    checkpoints.keep(capture)
    checkpoints.didEnd(nil)
  }

  /// Makes the last commit the last checkpoint, and marks the file as complete if no other process
  /// has it open; the writer lock is held.
  func closeCheckpoints() {
    guard let checkpoints = unsafe checkpoints else { return }
    if checkpoints.file.newest()?.boot ?? .none != .none, var transaction = try? beginWriting() {
      defer { end(&transaction) }
      // `capture` returns `nil` for a version that is already pinned.
      checkpoints.endPins()
      if let capture = try? unsafe checkpoints.capture(transaction, file, namespaces),
        (try? file.flush()) != nil
      {
        try? checkpoints.write(capture, file, isLast: true)
      }
    }
    checkpoints.endPins()
  }

  /// Runs a flush; if it fails, later writes are refused.
  private func flushed(_ body: () throws(LMDBError) -> Void) throws(LMDBError) {
    do {
      try body()
    } catch {
      let refusal = LMDBError(
        .failedFlush, function: error.function, detail: "a checkpoint: \(error.code.explanation)")
      writeRefusal.withLock { $0 = refusal }
      configuration.onEvent?(.writesRefused)
      throw refusal
    }
  }

  /// Counts a commit that changed something; the writer lock is held.
  func countForCheckpoint(_ number: UInt64) {
    guard let checkpoints = unsafe checkpoints else { return }
    let pageCount: Int?
    do {
      pageCount = try read { try unsafe Self.freedPageCount($0.handle.transaction, number) }
    } catch {
      pageCount = 0  // the age of the commit still counts
    }
    guard let pageCount else { return }
    checkpoints.didCommit(number, replacing: pageCount * 1.roundedUpToPage)
  }

  /// Reads from the free list how many pages a transaction freed; `nil` if it changed nothing.
  private static func freedPageCount(
    _ transaction: OpaquePointer, _ number: UInt64
  ) throws(LMDBError) -> Int? {
    guard unsafe UInt64(mdb_txn_id(transaction)) >= number else { return nil }
    let freeList: MDB_dbi = 0
    var cursor: OpaquePointer?
    try check(unsafe mdb_cursor_open(transaction, freeList, &cursor), "mdb_cursor_open")
    defer { unsafe mdb_cursor_close(cursor) }
    var wanted = Int(number)
    return try unsafe withUnsafeMutableBytes(of: &wanted) { bytes throws(LMDBError) in
      var key = unsafe MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
      var value = unsafe MDB_val()
      let status = unsafe mdb_cursor_get(cursor, &key, &value, MDB_SET)
      guard try checkFound(status, "mdb_cursor_get"), let count = unsafe value.mv_data else {
        return 0
      }
      // A list begins with its length.
      return unsafe count.loadUnaligned(as: Int.self)
    }
  }
}
