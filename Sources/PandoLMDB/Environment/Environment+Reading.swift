import CPandoLMDB
import PandoSystem
import Synchronization

extension Environment {
  /// Runs `body` on the newest committed version.
  ///
  /// The version stays as it is while `body` runs, whatever is committed meanwhile, and the file
  /// keeps the pages of that version: read and return, don't linger.
  ///
  /// - Parameter body: Gets the snapshot. It runs on the calling thread and must be synchronous.
  /// - Returns: What `body` returns.
  /// - Throws: ``LMDBError`` with code `readersFull` if every slot is in use by a living reader, and none
  ///   comes free in the time that the configuration says,
  ///   `processNumberTaken` if a process of another PID namespace has the same number, `closed` after
  ///   ``close()``, `usedAfterFork` in a child process; or what `body` throws.
  /// - Complexity: O(1) beside `body`, no allocation once a transaction can be reused. Never waits
  ///   for a writer; waits for the moment in which the map moves to a larger range, and for a slot where
  ///   all are taken.
  public func read<Result>(_ body: (Snapshot) throws -> Result) throws -> Result {
    let ticket = try beginReading()
    defer { endReading(ticket) }
    guard let transaction = unsafe ticket.transaction else { preconditionFailure("it has begun") }
    let handle = unsafe UnsafeSnapshotHandle(
      transaction: transaction, environment: number, isReadOnly: true, mapNumber: mapNumber)
    // The transaction lives until `body` has returned, and the snapshot can't leave it.
    return try body(unsafe Snapshot(unsafeHandle: handle))
  }

  /// The number of the newest commit that a meta page shows, of whatever process; the flush of that
  /// commit may still go on.
  ///
  /// A number that has not changed since a ``Snapshot/transactionID`` says that no commit came between.
  ///
  /// - Returns: The number; `nil` where a read has to find out, or to say why it can't.
  /// - Complexity: O(1), no transaction; waits for the moment in which the map moves to a larger range.
  package func newestTransactionID() -> UInt64? {
    guard (try? checkProcess("read")) != nil, let ticket = try? readers.enter() else { return nil }
    defer { readers.leave(ticket) }
    guard let environment = unsafe pointer else { return nil }
    atomicMemoryFence(ordering: .acquiring)
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(environment, &info)
    // A map that others' commits do not reach shows an older one; the next read finds out.
    return max(UInt64(unsafe info.me_last_txnid), unsafe signal?.number ?? 0)
  }

  /// Whether the calling thread is inside ``read(_:)`` of this environment.
  package var isReadingOnThisThread: Bool { readers.isReadingOnThisThread }

  /// Whether the calling thread is inside ``write(_:)`` of this environment.
  package var isWritingOnThisThread: Bool { writer.isHeldByThisThread }

  /// Begins a read.
  ///
  /// - Returns: A ticket with a transaction that has begun.
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

  /// Begins a read of which one has taken the ticket, but no transaction is kept for it, or that one
  /// could not be renewed.
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
        // Readers of other processes give their slots back without a sign.
      } else {
        guard status == MDB_MAP_RESIZED else { throw readError(status) }
        try adoptMapOfOtherProcess()
      }
      ticket = try readers.enter()
    }
  }

  /// How long a reader has waited for a slot.
  private struct SlotWait {
    private static let napInMicrosecondsMax: UInt32 = 16_000
    private var start: UInt64?
    private var nap: UInt32 = 250

    /// Waits a moment.
    ///
    /// - Parameters:
    ///   - timeoutInSeconds: How long it may wait in all.
    ///   - count: One more while it waits.
    /// - Returns: `false`, at once, if the time is up.
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
        // Transactions that are kept for other lanes have slots too.
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

  /// How often a transaction is renewed that commits keep overtaking.
  private static let renewalCountMax = 100
  /// How often a map is looked at that shows less than was committed, before that is believed.
  private static let behindCountMax = 3
  /// The status of a transaction that shows less than was committed.
  private static let isBehind: CInt = -41_000

  /// Makes sure that a new transaction shows the version it says.
  ///
  /// liblmdb 0.9.24 reads the number *n* of the last commit, then copies the meta page *n* mod 2. A
  /// thread that is interrupted in between may find the page of commit *n* + 2 there, or half of
  /// it. That page is not written before commit *n* + 1 is done, so a transaction that still shows
  /// the last commit is whole. A commit whose flush goes on looks like one that is done: what a
  /// second transaction says, begun after the first had copied its page, tells them apart.
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

  /// Whether the newest commit that a meta page shows is what a transaction says.
  @inline(__always)
  private func isNewest(_ transaction: OpaquePointer, in environment: OpaquePointer) -> Bool {
    unsafe newestInMap(environment) == mdb_txn_id(transaction)
  }

  /// The newest commit that a meta page in the map shows.
  @inline(__always)
  private func newestInMap(_ environment: OpaquePointer) -> Int {
    atomicMemoryFence(ordering: .acquiring)
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(environment, &info)
    return unsafe info.me_last_txnid
  }

  /// Opens the data file again for a reader that has left: the map shows less than the lock file says was committed.
  ///
  /// An overlay file system does that. A reader maps the file of the image; the first one who opens the file for
  /// writing gets a copy of it, which has the path from then on, and the map stays what it was. Where that is not
  /// the cause, as the file was written over, readers go on with what the map shows.
  ///
  /// - Throws: ``LMDBError`` with code `mapInUse` if readers do not end in time, `fileMoved` if another file has
  ///   the path.
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

  /// Whether the map shows less than was committed; the writer lock is held.
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

  private func readError(_ status: CInt) -> LMDBError {
    let code = LMDBError.Code(rawValue: status)
    var detail = ""
    if code == .readersFull {
      detail = "\(readers.activeCount()) readers of this process are open, all slots are taken"
    }
    return .reading(status, "mdb_txn_begin", path, detail)
  }
}
