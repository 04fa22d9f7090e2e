import CPandoLMDB
import PandoSystem
import Synchronization

extension Environment {
  /// Runs `body` on the newest committed version.
  ///
  /// The version does not change while `body` runs, and the file keeps its pages. Keep `body`
  /// short.
  ///
  /// - Parameter body: Receives the snapshot; a synchronous closure on the calling thread.
  /// - Returns: The result of `body`.
  /// - Throws: ``LMDBError`` with code `readersFull` if no slot became free within the configured
  ///   time, `processNumberTaken` if a process of another PID namespace has the same number,
  ///   `closed` after ``close()``, `usedAfterFork` in a child process; or the error of `body`.
  /// - Complexity: O(1) beside `body`, no allocation if an ended transaction can be reused. It
  ///   does not wait for a commit. It waits while the map grows, and for a slot if all are taken.
  public func read<Result>(_ body: (Snapshot) throws -> Result) throws -> Result {
    let ticket = try beginReading()
    defer { endReading(ticket) }
    guard let transaction = unsafe ticket.transaction else { preconditionFailure("it has begun") }
    let handle = unsafe UnsafeSnapshotHandle(
      transaction: transaction, environment: number, isReadOnly: true, mapNumber: mapNumber)
    // The transaction outlives `body`, and the snapshot can't escape from it.
    return try body(unsafe Snapshot(unsafeHandle: handle))
  }

  /// The number of the newest commit of any process in a meta page; its flush may still be under
  /// way.
  ///
  /// If the number equals an earlier ``Snapshot/transactionID``, no commit came between.
  ///
  /// - Returns: The number; `nil` if only a read can find it or report the error.
  /// - Complexity: O(1), no transaction; waits while the map grows.
  package func newestTransactionID() -> UInt64? {
    guard (try? checkProcess("read")) != nil, let ticket = try? readers.enter() else { return nil }
    defer { readers.leave(ticket) }
    guard let environment = unsafe pointer else { return nil }
    atomicMemoryFence(ordering: .acquiring)
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(environment, &info)
    // A map that misses commits of other processes has an older number; the next read repairs that.
    return max(UInt64(unsafe info.me_last_txnid), unsafe signal?.number ?? 0)
  }

  /// Whether the calling thread is inside ``read(_:)`` of this environment.
  package var isReadingOnThisThread: Bool { readers.isReadingOnThisThread }

  /// Whether the calling thread is inside ``write(_:)`` of this environment.
  package var isWritingOnThisThread: Bool { writer.isHeldByThisThread }

  /// Begins a read.
  ///
  /// - Returns: A ticket whose transaction has begun.
  @inline(__always)
  private func beginReading() throws(LMDBError) -> ReaderPool.Ticket {
    try checkProcess("read")
    let ticket = try readers.enter()
    if let transaction = unsafe ticket.transaction, let environment = unsafe pointer,
      unsafe mdb_txn_renew(transaction) == 0,
      unsafe isNewest(transaction, in: environment)
        || renewUntilCurrent(transaction, in: environment) == 0
    {
      return ticket
    }
    return try beginReading(ticket)
  }

  /// Begins a read with a ticket that has no transaction, or one that could not be renewed.
  @inline(never)
  private func beginReading(_ taken: ReaderPool.Ticket) throws(LMDBError) -> ReaderPool.Ticket {
    var ticket = taken
    var hasRecovered = false
    var wait = SlotWait()
    while true {
      if unsafe pointer == nil, let loss = unsafe loss {
        readers.leave(ticket)
        try reopenIfLostForReading(loss)
        ticket = try readers.enter()
        continue
      }
      let status = unsafe beginOrRenew(&ticket.transaction)
      if status == 0 { return ticket }
      readers.leave(ticket)
      if status == MDB_PANIC, !hasRecovered, recoverForReading() {
        hasRecovered = true
      } else if status == Self.isBehind {
        try openFileAgain()
      } else if status == MDB_READERS_FULL, !readers.isReadingOnThisThread,
        wait.goesOn(for: configuration.readerTimeoutInSeconds, counting: slotWaits)
      {
        // Other processes free their slots without a signal.
      } else {
        guard status == MDB_MAP_RESIZED else { throw readError(status) }
        try adoptMapOfOtherProcess()
      }
      ticket = try readers.enter()
    }
  }

  /// The wait of a reader for a slot.
  private struct SlotWait {
    private static let napInMicrosecondsMax: UInt32 = 16_000
    private var start: UInt64?
    private var nap: UInt32 = 250

    /// Sleeps for a moment.
    ///
    /// - Parameters:
    ///   - timeoutInSeconds: The longest total wait.
    ///   - count: A counter; one higher during the sleep.
    /// - Returns: `false`, at once, after the timeout.
    mutating func goesOn(for timeoutInSeconds: Int, counting count: borrowing Atomic<Int>) -> Bool {
      let now = coarseNanoseconds()
      let start = start ?? now
      self.start = start
      guard now - start < UInt64(timeoutInSeconds) * 1_000_000_000 else { return false }
      count.add(1, ordering: .relaxed)
      usleep(nap)
      count.subtract(1, ordering: .relaxed)
      nap = min(nap * 2, Self.napInMicrosecondsMax)
      return true
    }
  }

  /// Renews a transaction, or begins one.
  private func beginOrRenew(_ transaction: inout OpaquePointer?) -> CInt {
    guard let environment = unsafe pointer else { return LMDBError.Code.closed.rawValue }
    var status: CInt
    if let idle = unsafe transaction {
      status = unsafe mdb_txn_renew(idle)
    } else {
      status = unsafe namespaces.beginReader(environment, &transaction)
      if status == MDB_READERS_FULL {
        // Idle transactions of other lanes hold slots, too.
        if let idle = unsafe readers.takeIdleTransaction() {
          unsafe transaction = idle
          status = unsafe mdb_txn_renew(idle)
        } else if unsafe readers.probe.end() || clearStaleReaders(in: environment) > 0 {
          status = unsafe namespaces.beginReader(environment, &transaction)
        }
      }
    }
    guard status == 0, let begun = unsafe transaction else { return status }
    return unsafe renewUntilCurrent(begun, in: environment)
  }

  /// How often a transaction is renewed while commits overtake it.
  private static let renewalCountMax = 100
  /// How often a map must miss commits before the file is opened again.
  private static let behindCountMax = 3
  /// The status of a transaction whose map misses commits.
  private static let isBehind: CInt = -41_000

  /// Makes sure that a new transaction reads the version of its number.
  ///
  /// liblmdb 0.9.24 reads the number *n* of the last commit, then copies the meta page *n* mod 2.
  /// Between these steps, commit *n* + 2 may overwrite that page, in part or as a whole. It does so
  /// only after commit *n* + 1 is done, so a transaction that still has the number of the last
  /// commit is consistent. A commit that is still flushing looks done. A second transaction, begun
  /// after the first copied its page, tells them apart.
  @inline(never)
  private func renewUntilCurrent(
    _ transaction: OpaquePointer, in environment: OpaquePointer
  ) -> CInt {
    var behindCount = 0
    for _ in 0..<Self.renewalCountMax {
      if unsafe isNewest(transaction, in: environment) { return 0 }
      if unsafe newestInMap(environment) < mdb_txn_id(transaction) {
        if readsStaleMap.load(ordering: .relaxed) { return 0 }
        behindCount += 1
        if behindCount == Self.behindCountMax {
          unsafe mdb_txn_reset(transaction)
          return Self.isBehind
        }
      } else if let last = unsafe readers.probe.lastCommit(in: environment, namespaces) {
        if unsafe last == mdb_txn_id(transaction) { return 0 }
      } else {
        sched_yield()
      }
      unsafe mdb_txn_reset(transaction)
      let status = unsafe mdb_txn_renew(transaction)
      if status != 0 { return status }
    }
    return 0
  }

  /// Whether the newest commit in a meta page is the transaction's number.
  @inline(__always)
  private func isNewest(_ transaction: OpaquePointer, in environment: OpaquePointer) -> Bool {
    unsafe newestInMap(environment) == mdb_txn_id(transaction)
  }

  /// The newest commit in the meta pages of the map.
  @inline(__always)
  private func newestInMap(_ environment: OpaquePointer) -> Int {
    atomicMemoryFence(ordering: .acquiring)
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(environment, &info)
    return unsafe info.me_last_txnid
  }

  /// Opens the file again for a reader that has left: the map misses commits.
  ///
  /// An overlay file system causes this. A reader maps the file of the image. The first process
  /// that opens it for writing gets a copy, which replaces it at the path, and the map keeps the
  /// old file. For other causes, such as an overwritten file, readers continue with the map.
  ///
  /// - Throws: ``LMDBError`` with code `mapInUse` if readers do not finish in time, `fileMoved` if
  ///   the path has another file.
  private func openFileAgain() throws(LMDBError) {
    guard configuration.isReadOnly else {
      readsStaleMap.store(true, ordering: .relaxed)
      return
    }
    guard !readers.isReadingOnThisThread, !writer.isHeldByThisThread else {
      throw LMDBError(
        .mapInUse, function: "mdb_env_open",
        detail: "the file has to be opened again, and this thread still reads the old one")
    }
    let outcome = writer.withLock("read") {
      Result { () throws(LMDBError) in
        if try !isMapBehind() { return }
        try place.check()
        let timeout = configuration.mapGrowthTimeoutInSeconds
        let drain = try readers.whileEmpty(timeoutInSeconds: timeout) { () throws(LMDBError) in
          try reopen()
        }
        guard drain == .drained else {
          throw LMDBError(
            .mapInUse, function: "mdb_env_open",
            detail: "\(readers.activeCount()) readers did not end within \(timeout) seconds")
        }
        if try isMapBehind() { readsStaleMap.store(true, ordering: .relaxed) }
      }
    }
    try outcome.get()
  }

  /// Whether the map misses commits; the writer lock is held.
  private func isMapBehind() throws(LMDBError) -> Bool {
    let environment = try unsafe openPointer("read")
    guard let number = unsafe signal?.number else { return true }
    return unsafe UInt64(newestInMap(environment)) < number
  }

  @inline(__always)
  private func endReading(_ ticket: ReaderPool.Ticket) {
    unsafe mdb_txn_reset(ticket.transaction)
    readers.leave(ticket)
  }

  /// The error of a reader that could not begin; if all slots are taken, with the processes that have them.
  func readError(_ status: CInt) -> LMDBError {
    let detail = status == MDB_READERS_FULL ? (try? slotOwners()) ?? "" : ""
    return .reading(status, "mdb_txn_begin", path, detail)
  }
}
