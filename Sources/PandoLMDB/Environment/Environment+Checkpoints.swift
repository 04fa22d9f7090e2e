import CPandoLMDB
import PandoSystem

extension Environment {
  /// Brings all that is committed to the disk.
  ///
  /// Where there are checkpoints this waits for the next one, which begins at once; else it is ``sync()``.
  ///
  /// - Throws: ``LMDBError`` with code `failedFlush`; no writes after that until reopened.
  /// - Complexity: O(*p*) for *p* pages that are not on the disk yet. With checkpoints it waits for the write and the
  ///   checkpoint that are under way, too.
  /// - Precondition: The calling thread is not inside a write of this environment.
  public func flush() throws(LMDBError) {
    try checkProcess("flush")
    writer.checkIsFree(for: "flush")
    guard let checkpoints = unsafe checkpoints else { return try sync() }
    try checkpoints.waitForNext(in: self)
  }

  /// Makes a checkpoint; for the thread that does nothing else.
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

  /// Sees to it that a write finds the pages of a checkpoint pinned, before it uses any page again; the
  /// writer lock is held.
  ///
  /// Without a pin of this process the last commit is made a checkpoint, unless it is one: nobody can commit
  /// meanwhile.
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

  /// Makes the last commit the last checkpoint, and says that the file is whole if nobody else has it
  /// open; the writer lock is held.
  func closeCheckpoints() {
    guard let checkpoints = unsafe checkpoints else { return }
    if checkpoints.file.newest()?.boot ?? .none != .none, var transaction = try? beginWriting() {
      defer { end(&transaction) }
      // A pin that stands at this version can't be captured again.
      checkpoints.endPins()
      if let capture = try? unsafe checkpoints.capture(transaction, file, namespaces),
        (try? file.flush()) != nil
      {
        try? checkpoints.write(capture, file, isLast: true)
      }
    }
    checkpoints.endPins()
  }

  /// Runs a flush; writes are refused from then on if it fails.
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

  /// Counts a commit, if it has changed anything; the writer lock is held.
  func countForCheckpoint(_ number: UInt64) {
    guard let checkpoints = unsafe checkpoints else { return }
    let pageCount: Int?
    do {
      pageCount = try read { try unsafe Self.freedPageCount($0.handle.transaction, number) }
    } catch {
      pageCount = 0  // the time counts nevertheless
    }
    guard let pageCount else { return }
    checkpoints.didCommit(number, replacing: pageCount * 1.roundedUpToPage)
  }

  /// How many pages a transaction has freed, as the free list says; `nil` if it has changed nothing.
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
      // A list begins with its count.
      return unsafe count.loadUnaligned(as: Int.self)
    }
  }
}
