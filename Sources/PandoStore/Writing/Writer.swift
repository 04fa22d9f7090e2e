import PandoLMDB
import PandoModels
import PandoSystem
import Synchronization

/// The group commit of a store, led by a thread of the shared pool during writes; a waiting caller
/// without concurrent writes leads its own.
///
/// Each write has its own commit number, change set, and success or error. LMDB binds a write
/// transaction to its thread, and models may be deep, so this uses a thread and not a queue or an
/// executor. Any thread may submit.
///
/// `flush` to `isOnDisk` belong to the leading thread, which the group commit passes on; locks or
/// atomics guard the rest. ``runGroup(in:_:)`` sets `flush`; `effects`, `newestChanges` and
/// `history` are the result of its last run, which ``didCommit(writeCount:duration:)`` uses.
final class Writer: Sendable {
  private let core: StoreCore
  private let commits = GroupCommit()
  private let handler = Locked<(@Sendable (ChangeSet) -> Void)?>(nil)
  /// Sends the writes of a replicated store to its log.
  private let replicator = Locked<(any StoreReplicator)?>(nil)
  /// A companion object, retained until the store is closed.
  private let companion = Locked<(any Sendable)?>(nil)
  /// The identity of the present or last leading thread; 0 if another one may lead by now.
  private let leader = Atomic<UInt>(0)
  /// The process with the threads; a forked child has none.
  private let process = getpid()
  /// The shared state of the present flush.
  nonisolated(unsafe) private var flush: Flush?
  /// The effects of the present flush.
  nonisolated(unsafe) private var effects: [CommitEffects] = []
  /// The newest change sets of a flush whose closures have all run; `nil` if it has logged none.
  nonisolated(unsafe) private var newestChanges: NewestChanges?
  /// The history of the flush, and its last commit.
  nonisolated(unsafe) private var history: (mark: UInt64, last: UInt64)?
  /// The writes of a flush that go to the log.
  nonisolated(unsafe) private var logged: [QueuedWrite] = []
  /// The number of writes with changes in the present flush.
  nonisolated(unsafe) private var changeCount = 0
  /// The last transaction when room was made for a write.
  nonisolated(unsafe) private var roomMadeAt: UInt64?
  /// Whether the last flush is on the disk, as far as known.
  nonisolated(unsafe) private var isOnDisk = false

  init(_ core: StoreCore) { self.core = core }

  /// Whether the caller runs inside a write or the commit handler, or leads a flush.
  var isLeading: Bool { leader.load(ordering: .relaxed) == currentThread() }

  /// The number of writes that wait for their commit.
  var queuedCount: Int { commits.queuedCount }

  /// Whether this is the process in which the writer was made, not a forked one.
  var isInItsProcess: Bool { getpid() == process }

  func setHandler(_ newHandler: (@Sendable (ChangeSet) -> Void)?) {
    handler.withLock { $0 = newHandler }
  }

  func keep(_ newCompanion: any Sendable) { companion.withLock { $0 = newCompanion } }

  func attach(_ newReplicator: any StoreReplicator) {
    replicator.withLock { $0 = newReplicator }
  }

  /// Runs a write on the calling thread if no other thread writes, else queues it; returns when it
  /// has finished.
  func carryOut(_ job: WriteJob) {
    let thread = currentThread()
    // A dedicated thread waits for a log.
    if isInItsProcess, replicator.withLock({ $0 == nil }) {
      let outcome = commits.runAlone(in: core.environment, for: self) {
        leader.store(thread, ordering: .relaxed)
        return QueuedWrite(job, self)
      }
      if outcome != .refused {
        _ = leader.compareExchange(expected: thread, desired: 0, ordering: .relaxed)
        if outcome == .doneAndLeads { startLeading() }
        return
      }
    }
    do {
      try submit(job).wait()
    } catch {
      job.finish(.failure(error))
    }
  }

  /// Makes a thread lead the queued writes; if none can start, this one leads until one can or no
  /// write is left.
  private func startLeading() {
    while SharedThreads.run({ [self] in lead() }) != 0 {
      commitNext()
      guard commits.goesOnLeading() else { return }
    }
  }

  private func lead() {
    repeat { commitNext() } while commits.goesOnLeading()
  }

  private func commitNext() {
    let thread = currentThread()
    leader.store(thread, ordering: .relaxed)
    commits.commitNext(in: core.environment, for: self)
    // The thread serves other stores next.
    _ = leader.compareExchange(expected: thread, desired: 0, ordering: .relaxed)
  }

  /// Queues a write; its position in the commit order is fixed on return.
  ///
  /// - Parameter job: The write.
  /// - Returns: The turn of the write.
  /// - Throws: `StoreError` or `LMDBError` if it can't be queued; then the job never finishes.
  @discardableResult
  func submit(_ job: WriteJob) throws -> CommitTurn {
    guard isInItsProcess else {
      // The environment throws its own error. No thread would ever run the job.
      try core.environment.read { _ in }
      throw core.closed
    }
    let isForLog = replicator.withLock { $0 != nil }
    let maximum = isForLog ? Self.queuedForLogMaximum : Int.max
    if isForLog { job.queuedAt = monotonicNanoseconds() }
    do {
      let (turn, leads) = try commits.append(QueuedWrite(job, self), queuedMaximum: maximum)
      if leads { startLeading() }
      return turn
    } catch {
      throw refusal(error)
    }
  }

  private func refusal(_ refusal: GroupRefusal) -> StoreError {
    switch refusal {
    case .isStopping: core.closed
    case .isFull:
      StoreError(
        .busy, core.path,
        "\(Self.queuedForLogMaximum) writes wait for the log already; write again when some are done"
      )
    }
  }

  /// Waits for the queued writes and releases the handler; returns when no thread leads.
  func stop() {
    guard isInItsProcess else { return }
    precondition(!isLeading, "a store can't be closed from inside a write or its handler")
    commits.stop()
    // It may retain the store, which retains this. Released objects are destroyed outside the lock.
    _ = handler.withLock { handler in exchange(&handler, with: nil) }
    _ = replicator.withLock { replicator in exchange(&replicator, with: nil) }
    _ = companion.withLock { companion in exchange(&companion, with: nil) }
  }
}

extension Writer: GroupCommitOwner {
  /// The shared state of a flush.
  private struct Flush {
    let context: WriteSession
    let isFollowed: Bool
    /// Sends the writes to the log, if the store has one.
    var replicator: (any StoreReplicator)?
    /// When the first of them was queued.
    var queuedAt = Int64.max
  }

  /// The outcome of a write in the log.
  private final class Verdict {
    let outcome: Result<ChangeSet?, any Error>

    init(_ outcome: Result<ChangeSet?, any Error>) { self.outcome = outcome }
  }

  /// A write in the writer's queue.
  ///
  /// Sendable because one thread at a time uses it, see `GroupedWrite`.
  private final class QueuedWrite: GroupedWrite, @unchecked Sendable {
    fileprivate let job: WriteJob
    private let writer: Writer
    private var outcome: Result<ChangeSet?, any Error>?
    /// The outcome in the log, if its own flush was rolled back: then it does not run again.
    ///
    /// A reference, because every write has this property and few have a value.
    fileprivate var verdict: Verdict?
    /// How often it had to run again on newer state.
    fileprivate var refusalCount = 0

    init(_ job: WriteJob, _ writer: Writer) {
      self.job = job
      self.writer = writer
    }

    var isDecided: Bool { verdict != nil }

    func run(in transaction: UnsafeMutablePointer<WriteTransaction>) throws {
      if !isDecided { outcome = try writer.run(self) }
    }

    func end(_ error: (any Error)?) {
      if let verdict {
        writer.finish(job, judged: verdict.outcome)
      } else if let error {
        writer.failWithFlush(job, error)
      } else if let outcome = outcome.take() {
        do {
          if job.isFlushed { try writer.bringToDisk() }
          writer.finish(job, outcome)
        } catch {
          writer.fail(job, error)
        }
      }
    }
  }

  func runGroup(
    in transaction: UnsafeMutablePointer<WriteTransaction>, _ runWrites: () throws -> Void
  ) throws {
    let context = try unsafe WriteSession(transaction, core: core)
    let before = context.counters.commitNumber
    unsafe flush = Flush(context: context, isFollowed: core.feed.hasFollowers)
    unsafe effects = []
    unsafe changeCount = 0
    defer {
      unsafe transaction.pointee.isRelief = context.state.isRelief
      unsafe flush = nil
    }
    if context.state.counters.isReplicated { try beginReplicated(context) }
    try runWrites()
    if let flush = unsafe flush, let replicator = flush.replicator {
      // Writes that do not fit into this store are not sent.
      unsafe transaction.pointee.isRelief = context.state.isRelief
      try unsafe core.environment.checkReserve(transaction.pointee)
      try replicator.endFlush(ModelTransaction(context), queuedAt: flush.queuedAt)
    }
    try context.endFlush()
    unsafe newestChanges = context.state.newestChanges
    let last = context.counters.commitNumber
    unsafe history = context.state.history.map { ($0, last) }
    if last > before { core.feed.announce(before + 1...last) }
    if InternalChecks.areOn {
      try context.reading { try $0.checkInvariants() }
    }
  }

  func didFail() {
    unsafe effects = []
    unsafe newestChanges = nil
    core.feed.withdraw()
  }

  /// Flushes the commit whose writes are being ended, once.
  private func bringToDisk() throws {
    if unsafe isOnDisk { return }
    try core.environment.flush()
    unsafe isOnDisk = true
  }

  /// Makes freed pages reusable, then drops the older half of the change log repeatedly, if the
  /// write may lack that room.
  func makeRoom(after error: any Error, attempt: Int) -> Bool {
    // Sent writes are in the log; their outcome follows.
    if attempt == 0, error is LMDBError, replicator.withLock({ $0 != nil }) { return true }
    guard (error as? LMDBError)?.isForWantOfRoom == true,
      let missing = core.environment.lackedPageCount
    else { return false }
    // A write that is refused repeatedly pays for this once.
    let last = unsafe roomMadeAt
    let isTried = attempt > 0 || last == core.environment.newestTransactionID()
    defer { unsafe roomMadeAt = core.environment.newestTransactionID() }
    do {
      if isTried, try !halveChangeLog(lacking: missing) { return false }
      // Freed pages can be reused from the next commit but one.
      for _ in 0..<2 {
        _ = try writeForRoom { session in
          try session.putCounters()
          return true
        }
      }
      return true
    } catch {
      return false
    }
  }

  /// Drops the older half of the change log, if it has at least the lacking pages.
  ///
  /// - Returns: Whether it dropped commits.
  private func halveChangeLog(lacking missing: Int) throws -> Bool {
    try writeForRoom { session in
      let log = try session.reading { try $0.snapshot.statistics(of: core.tables.changes) }
      return try log.leafPageCount + log.overflowPageCount >= missing && session.halveChangeLog()
    }
  }

  private func writeForRoom(_ body: (WriteSession) throws -> Bool) throws -> Bool {
    try core.environment.write { transaction in
      try unsafe withUnsafeMutablePointer(to: &transaction) { transaction in
        let session = try unsafe WriteSession(transaction, core: core)
        defer { unsafe transaction.pointee.isRelief = true }
        guard try body(session) else { return false }
        try session.endFlush()
        return true
      }
    }
  }

  func didCommit(writeCount: Int, duration: Duration) {
    unsafe isOnDisk = core.configuration.durability == .full
    if let changes = unsafe newestChanges.take() { core.didLog(changes, unsafe history) }
    core.feed.handOver(unsafe exchange(&effects, with: []))
    // A removal that had to use its room gives some of it back.
    if core.environment.lackedPageCount != nil { _ = try? halveChangeLog(lacking: 0) }
    core.count { $0.flushes += 1 }
    if let observer = core.configuration.observer { unsafe tell(observer, changeCount, duration) }
    if duration > core.configuration.slowCommitThreshold {
      core.report(.slowCommit(duration: duration, writeCount: writeCount))
    }
  }

  private func tell(_ observer: any StoreObserver, _ writeCount: Int, _ duration: Duration) {
    guard writeCount > 0 else { return }
    observer.storeDidFlush(
      StoreFlush(
        writeCount: writeCount, duration: duration, queuedWriteCount: commits.queuedCount))
  }

  /// Runs a write; if it fails before it has changed rows, the others need not run again.
  ///
  /// - Throws: `GroupEnd` for a write that waits longer for the log than the writes before it.
  private func run(_ write: QueuedWrite) throws -> Result<ChangeSet?, any Error> {
    guard let flush = unsafe flush else { preconditionFailure("a write outside a flush") }
    let job = write.job
    let context = flush.context
    if let replicator = flush.replicator {
      guard flush.queuedAt == .max || replicator.mayShare(job.queuedAt, with: flush.queuedAt)
      else { throw GroupEnd() }
      unsafe self.flush?.queuedAt = min(flush.queuedAt, job.queuedAt)
    }
    context.beginWrite(keepsContent: flush.isFollowed)
    do {
      var facade = ModelTransaction(context)
      try job.run(&facade)
      let changeSet = try context.endWrite(context: job.context)
      if let replicator = flush.replicator,
        try replicator.didRun(ModelTransaction(context), changeSet)
      {
        unsafe logged.append(write)
      }
      job.isFlushed = context.state.isFlushed
      if changeSet != nil { unsafe changeCount += 1 }
      note(job, changeSet, context)
      return .success(changeSet)
    } catch {
      if context.state.isDirty || (error as? LMDBError)?.code == .mapFull { throw error }
      noteFailure(of: job, error)
      return .failure(error)
    }
  }

  /// Keeps the effects of a write for the followers.
  private func note(_ job: WriteJob, _ changeSet: ChangeSet?, _ context: WriteSession) {
    guard let content = context.state.content else { return }
    let write = CommitEffects(
      changeSet, ticket: job.ticket, commitValue: context.counters.commitNumber,
      context: job.context, content: content)
    let isKept =
      write.isCommit || write.hasTicket || !content.namesNothing && core.feed.keepsUnchanged
    if isKept { unsafe effects.append(write) }
    context.state.content = nil
  }

  /// Keeps a refused write for the followers, at its position among the others.
  private func noteFailure(of job: WriteJob, _ error: any Error) {
    guard job.ticket != nil, unsafe flush?.isFollowed == true else { return }
    unsafe effects.append(CommitEffects(ticket: job.ticket, failure: error))
  }

  /// Notifies the handler and the caller of a committed write, in commit order.
  private func finish(_ job: WriteJob, _ outcome: Result<ChangeSet?, any Error>) {
    switch outcome {
    case .success(let changeSet):
      if let changeSet {
        core.count { $0.writes += 1 }
        handler.withLock(\.self)?(changeSet)
      }
      job.finish(.success(changeSet))
    case .failure(let error): fail(job, error)
    }
  }

  /// Notifies the caller of a judged write; handler and counters have its commit already.
  private func finish(_ job: WriteJob, judged verdict: Result<ChangeSet?, any Error>) {
    switch verdict {
    case .success: job.finish(verdict)
    case .failure(let error): failWithFlush(job, error)
    }
  }

  /// Ends a write whose failure no flush passes on to the followers.
  private func failWithFlush(_ job: WriteJob, _ error: any Error) {
    let error = located(error)
    if let ticket = job.ticket {
      core.feed.handOver([CommitEffects(ticket: ticket, failure: error)])
    }
    fail(job, error)
  }

  /// An error that says where the file was, if it was moved.
  private func located(_ error: any Error) -> any Error {
    (error as? LMDBError)?.code == .fileMoved ? core.moved(error) : error
  }

  private func fail(_ job: WriteJob, _ error: any Error) {
    let error = located(error)
    core.report(.failedWrite(error))
    job.finish(.failure(error))
  }
}

/// A store whose writes go through a log.
extension Writer {
  /// How often a write may run again because of other machines' writes.
  private static let refusalCountMaximum = 16
  /// The most writes that wait for a log.
  private static let queuedForLogMaximum = 10_000

  private func beginReplicated(_ context: WriteSession) throws {
    guard let replicator = replicator.withLock(\.self) else {
      throw StoreError(
        .replicated, core.path,
        "the store is replicated and was opened without its log; it can be read")
    }
    try replicator.beginFlush(ModelTransaction(context))
    unsafe logged = []
    unsafe flush?.replicator = replicator
  }

  func settle() throws {
    guard let replicator = replicator.withLock(\.self) else { return }
    let writes = unsafe exchange(&logged, with: [])
    do {
      let verdicts = try replicator.settle(
        EntryWriter(writer: self, core: core, jobs: writes.map(\.job)))
      for (write, verdict) in zip(writes, verdicts) {
        switch verdict {
        case .applied(let changeSet): write.verdict = Verdict(.success(changeSet))
        case .refused:
          write.refusalCount += 1
          guard write.refusalCount >= Self.refusalCountMaximum else { continue }
          write.verdict = Verdict(
            .failure(
              StoreError(
                .conflict, core.path,
                "other machines changed data of the write \(write.refusalCount) times")))
        }
      }
    } catch {
      // They were sent, and may be in the log: they must not run again.
      let error = (error as? LMDBError).map(notTakenIn) ?? error
      for (index, write) in writes.enumerated() {
        var own = error
        if var named = error as? StoreError, let entry = named.writeName {
          named.writeName = "\(entry).\(index)"
          own = named
        }
        write.verdict = Verdict(.failure(own))
      }
      throw error
    }
  }

  private func notTakenIn(_ error: LMDBError) -> any Error {
    StoreError(
      .unavailable, core.path,
      "the log may have the write, and this store could not commit it; it takes it in when it can",
      underlying: error)
  }

  /// Counts and reports applied entries, and writes whose own flush was rolled back.
  func didApply(_ changeSets: [ChangeSet], duration: Duration) {
    core.count { counters in
      counters.flushes += 1
      counters.writes += changeSets.count
    }
    if let observer = core.configuration.observer { tell(observer, changeSets.count, duration) }
    if duration > core.configuration.slowCommitThreshold {
      core.report(.slowCommit(duration: duration, writeCount: changeSets.count))
    }
    guard let handler = handler.withLock(\.self) else { return }
    for changeSet in changeSets { handler(changeSet) }
  }
}
