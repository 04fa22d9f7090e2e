import PandoSystem
import Dispatch
import PandoLMDB
import PandoModels
import Synchronization

/// The thread that leads a store's group commit; a caller that waits and writes alone leads its own.
///
/// Each write keeps a commit number, a change set, and a success or an error of its own. LMDB binds a
/// write transaction to its thread, and models may be deep, hence a thread and not a queue or an
/// executor. Any thread may submit.
final class Writer: Sendable {
  private let core: StoreCore
  private let commits = GroupCommit(isLed: true)
  private let finished = DispatchSemaphore(value: 0)
  private let handler = Locked<(@Sendable (ChangeSet) -> Void)?>(nil)
  /// The identity of the thread that leads, or was the last to do so; 0 where it may be another one by now.
  private let leader = Atomic<UInt>(0)
  /// The process that has the thread; a child of it has none.
  private let process = getpid()
  /// What the writes of the present flush share.
  ///
  /// Used by the thread that leads.
  nonisolated(unsafe) private var flush: Flush?
  /// What the writes of a flush have done whose closures have all run.
  ///
  /// Used by the thread that leads.
  nonisolated(unsafe) private var effects: [CommitEffects] = []

  init(_ core: StoreCore) {
    self.core = core
    startThread(named: "pando.writer", stackSizeInBytes: LargeStack.byteCount) { [self] in
      LargeStack.noteCurrent()
      while commits.waitForWrites() {
        leader.store(currentThread(), ordering: .relaxed)
        commits.commitNext(in: core.environment, for: self)
      }
      // The number may be given to another thread.
      leader.store(0, ordering: .relaxed)
      finished.signal()
    }
  }

  /// Whether the caller runs inside a write or the commit handler, or is the writer's thread.
  var isLeading: Bool { leader.load(ordering: .relaxed) == currentThread() }

  /// Whether this is the process that the writer was made in, and not one forked from it.
  var isInItsProcess: Bool { getpid() == process }

  func setHandler(_ newHandler: (@Sendable (ChangeSet) -> Void)?) {
    handler.withLock { $0 = newHandler }
  }

  /// Carries out a write on the calling thread if nobody else writes, else queues it; returns when it has
  /// been finished.
  func carryOut(_ job: WriteJob) {
    let thread = currentThread()
    let isDone =
      isInItsProcess
      && commits.runAlone(in: core.environment, for: self) {
        leader.store(thread, ordering: .relaxed)
        return QueuedWrite(job, self)
      }
    guard isDone else {
      submit(job)?.wait()
      return
    }
    _ = leader.compareExchange(expected: thread, desired: 0, ordering: .relaxed)
  }

  /// Queues a write; its place in the order of commits is fixed when this returns.
  ///
  /// - Parameter job: The write. It is finished when this returns if it can't be queued.
  /// - Returns: What ends when the write has been finished; `nil` if it has been already.
  @discardableResult
  func submit(_ job: WriteJob) -> CommitTurn? {
    guard isInItsProcess else {
      // The environment says it in its own words. Nobody would ever run the job.
      job.finish(Result { try core.environment.read { _ in nil } })
      return nil
    }
    if let turn = commits.append(QueuedWrite(job, self)) { return turn }
    job.finish(.failure(StoreError(.closed, core.path, "the store has been closed")))
    return nil
  }

  /// Lets the queued writes finish, ends the thread and lets go of the handler; returns when all is
  /// done.
  func stop() {
    guard isInItsProcess else { return }
    precondition(!isLeading, "a store can't be closed from inside a write or its handler")
    commits.stop()
    finished.wait()
    finished.signal()  // for whoever else waits
    // It may hold the store, which holds this. What it held ends outside the lock.
    _ = handler.withLock { handler in exchange(&handler, with: nil) }
  }
}

extension Writer: GroupCommitOwner {
  /// What the writes of a flush share.
  private struct Flush {
    let context: WriteSession
    let isFollowed: Bool
    var effects: [CommitEffects] = []
  }

  /// A write in the writer's queue.
  ///
  /// Sendable because one thread at a time uses it, see `GroupedWrite`.
  private final class QueuedWrite: GroupedWrite, @unchecked Sendable {
    private let job: WriteJob
    private let writer: Writer
    private var outcome: Result<ChangeSet?, any Error>?

    init(_ job: WriteJob, _ writer: Writer) {
      self.job = job
      self.writer = writer
    }

    func run(in transaction: UnsafeMutablePointer<WriteTransaction>) throws {
      outcome = try writer.run(job)
    }

    func end(_ error: (any Error)?) {
      if let error {
        writer.fail(job, error)
      } else if let outcome = outcome.take() {
        writer.finish(job, outcome)
      }
    }
  }

  func runGroup(
    in transaction: UnsafeMutablePointer<WriteTransaction>, _ runWrites: () throws -> Void
  ) throws {
    let context = try unsafe WriteSession(transaction, core: core)
    let before = context.counters.commitNumber
    unsafe flush = Flush(context: context, isFollowed: core.feed.hasFollowers)
    defer { unsafe flush = nil }
    try runWrites()
    try context.endFlush()
    unsafe effects = unsafe flush?.effects ?? []
    let last = context.counters.commitNumber
    if last > before { core.feed.announce(before + 1...last) }
    #if InternalChecks
      try context.reading { try $0.checkInvariants() }
    #endif
  }

  func didFail() {
    unsafe effects = []
    core.feed.withdraw()
  }

  func didCommit(writeCount: Int, duration: Duration) {
    core.feed.handOver(unsafe exchange(&effects, with: []))
    core.count { $0.flushes += 1 }
    if duration > core.configuration.slowCommitThreshold {
      core.report(.slowCommit(duration: duration, writeCount: writeCount))
    }
  }

  /// Runs a write; one that fails before it has changed rows costs the others nothing.
  private func run(_ job: WriteJob) throws -> Result<ChangeSet?, any Error> {
    guard let flush = unsafe flush else { preconditionFailure("a write outside a flush") }
    let context = flush.context
    context.beginWrite(keepsContent: flush.isFollowed)
    do {
      var facade = ModelTransaction(context)
      try job.run(&facade)
      let changeSet = try context.endWrite(context: job.context)
      note(job, changeSet, context)
      return .success(changeSet)
    } catch {
      if context.state.isDirty || (error as? LMDBError)?.code == .mapFull { throw error }
      noteFailure(of: job, error, context)
      return .failure(error)
    }
  }

  /// Keeps what a write has done for the followers.
  private func note(_ job: WriteJob, _ changeSet: ChangeSet?, _ context: WriteSession) {
    guard let content = context.state.content else { return }
    if changeSet == nil, job.ticket == nil, content.namesNothing || !core.feed.keepsUnchanged {
      return
    }
    unsafe flush?.effects.append(
      CommitEffects(
        changeSet, ticket: job.ticket, number: context.counters.commitNumber, context: job.context,
        content: content))
    context.state.content = nil
  }

  /// Keeps for the followers that a write was refused, at its place between the others.
  private func noteFailure(of job: WriteJob, _ error: any Error, _ context: WriteSession) {
    guard job.ticket != nil, unsafe flush?.isFollowed == true else { return }
    unsafe flush?.effects.append(
      CommitEffects(
        nil, ticket: job.ticket, number: context.counters.commitNumber, failure: error))
  }

  /// Tells the handler and the caller of a write that is committed, in commit order.
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

  private func fail(_ job: WriteJob, _ error: any Error) {
    core.report(.failedWrite(error))
    job.finish(.failure(error))
  }
}
