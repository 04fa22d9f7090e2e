import PandoSystem
import Dispatch
import PandoLMDB
import PandoModels
import Synchronization

/// The one thread on which a store is written, with the queue before it.
///
/// Writes that queue while a flush is under way share the next one, with those that queue while they run:
///
/// ```
/// callers   w1 ─┐        w2 ─┐ w3 ─┐ w4 ─┐
/// writer        └─[ w1 │ flush ]──────────┴─[ w2 w3 w4 │ flush ]─ handler 2, 3, 4 ─ callers resume
/// ```
///
/// Each keeps a commit number, a change set, and a success or an error of its own. LMDB binds a write
/// transaction to its thread, hence a thread and not a queue or an executor. Any thread may submit.
final class Writer: Sendable {
  /// Room for the deepest model that the coder accepts, in builds with sanitizers too.
  private static let stackSizeInBytes = 16 << 20

  private let core: StoreCore
  private let queue = JobQueue()
  private let finished = DispatchSemaphore(value: 0)
  private let handler = Locked<(@Sendable (ChangeSet) -> Void)?>(nil)
  private let observers = Locked<[WeakObserver]>([])
  /// The identity of the thread; 0 until it runs.
  private let thread = Atomic<UInt>(0)
  /// The process that has the thread; a child of it has none.
  private let process = getpid()

  init(_ core: StoreCore) {
    self.core = core
    startThread(named: "pando.writer", stackSizeInBytes: Self.stackSizeInBytes) { [self] in
      thread.store(currentThread(), ordering: .relaxed)
      run()
      // The number may be given to another thread.
      thread.store(0, ordering: .relaxed)
      finished.signal()
    }
  }

  /// Whether the caller runs on the writer's thread, that is inside a write or the commit handler.
  var isCurrentThread: Bool { thread.load(ordering: .relaxed) == currentThread() }

  /// Whether this is the process that the writer was made in, and not one forked from it.
  var isInItsProcess: Bool { getpid() == process }

  func setHandler(_ newHandler: (@Sendable (ChangeSet) -> Void)?) {
    handler.withLock { $0 = newHandler }
  }

  func addObserver(_ observer: any CommitObserver) {
    observers.withLock { observers in
      observers.removeAll { $0.observer == nil }
      observers.append(WeakObserver(observer))
    }
  }

  /// Queues a write; its place in the order of commits is fixed when this returns.
  ///
  /// - Parameter job: The write. It is finished when this returns if it can't be queued.
  /// - Returns: What ends when the write has been finished; `nil` if it has been already.
  @discardableResult
  func submit(_ job: WriteJob) -> WriteTurn? {
    guard isInItsProcess else {
      // The environment says it in its own words. Nobody would ever run the job.
      job.finish(Result { try core.environment.read { _ in nil } })
      return nil
    }
    if let turn = queue.append(job) { return turn }
    job.finish(.failure(StoreError(.closed, core.path, "the store has been closed")))
    return nil
  }

  /// Lets the queued writes finish, ends the thread and lets go of the handler; returns when all is
  /// done.
  func stop() {
    guard isInItsProcess else { return }
    precondition(!isCurrentThread, "a store can't be closed from inside a write or its handler")
    queue.stop()
    finished.wait()
    finished.signal()  // for whoever else waits
    // It may hold the store, which holds this. What it held ends outside the lock.
    _ = handler.withLock { handler in exchange(&handler, with: nil) }
  }

  private func run() {
    var count = 0
    while let turn = queue.begin() {
      let group = Group(queue, expectedCount: count)
      flush(group)
      count = group.count
      turn.end()
    }
  }
}

extension Writer {
  /// The writes of a flush, which become more while they run.
  ///
  /// On the writer thread only.
  private final class Group {
    /// Those that have neither failed nor been committed.
    var jobs: [WriteJob] = []
    /// How many there have been.
    private(set) var count = 0
    /// Where more come from; `nil` when no more are taken.
    private var queue: JobQueue?
    private let expectedCount: Int

    init(_ queue: JobQueue, expectedCount: Int) {
      self.queue = queue
      self.expectedCount = expectedCount
      _ = takeMore()
    }

    /// Makes a group of one.
    init(_ job: WriteJob) {
      jobs = [job]
      count = 1
      expectedCount = 1
    }

    /// Takes what has been queued meanwhile.
    ///
    /// - Returns: Whether there was something.
    func takeMore() -> Bool {
      guard let queue else { return false }
      let taken = queue.take(count: count, expectedCount: expectedCount)
      if taken.isEmpty { self.queue = nil }
      jobs += taken
      count += taken.count
      return !taken.isEmpty
    }
  }
}

extension Writer {
  /// What an observer read of a write before it was committed.
  private struct PreparedWrite {
    let observer: any CommitObserver
    let prepared: (any Sendable)?
  }

  /// What became of one write of a flush.
  private struct Outcome {
    let result: Result<ChangeSet?, any Error>
    let prepared: [PreparedWrite]
  }

  /// A closure threw after it had changed rows: the flush must be run again without it.
  private struct SpoiltFlush: Error {
    let index: Int
    let error: any Error
  }

  /// Runs writes in one transaction; each is completed, whatever happens.
  private func flush(_ group: Group) {
    while !group.jobs.isEmpty || group.takeMore() {
      let clock = ContinuousClock()
      let start = clock.now
      do {
        let outcomes = try core.environment.write { transaction in
          try unsafe withUnsafeMutablePointer(to: &transaction) { transaction in
            try unsafe run(group, in: transaction)
          }
        }
        finish(group.jobs, outcomes, duration: clock.now - start)
        return
      } catch let spoilt as SpoiltFlush {
        fail(group.jobs.remove(at: spoilt.index), spoilt.error)
      } catch {
        // No more of them: a writer that can't begin never came to take the rest.
        while group.takeMore() {}
        if group.jobs.count == 1 {
          fail(group.jobs[0], error)
        } else {
          // One of them may be at fault (too large for the disk, say): each gets a flush of its own.
          for job in group.jobs { flush(Group(job)) }
        }
        return
      }
    }
  }

  private func run(
    _ group: Group, in transaction: UnsafeMutablePointer<WriteTransaction>
  ) throws -> [Outcome] {
    let context = try unsafe WriteContext(transaction, core: core)
    let observers = observers.withLock { $0.compactMap(\.observer) }
    for observer in observers { observer.beginFlush() }
    var outcomes: [Outcome] = []
    while outcomes.count < group.jobs.count || group.takeMore() {
      let index = outcomes.count
      let job = group.jobs[index]
      context.beginWrite()
      do {
        var facade = ModelTransaction(context)
        try job.run(&facade)
        let changeSet = try context.endWrite(context: job.context)
        outcomes.append(
          Outcome(
            result: .success(changeSet),
            prepared: try prepare(job, changeSet, context, observers)))
      } catch {
        if let engine = error as? LMDBError, engine.code == .mapFull { throw error }
        guard !context.state.isDirty else { throw SpoiltFlush(index: index, error: error) }
        outcomes.append(Outcome(result: .failure(error), prepared: []))
      }
    }
    try context.endFlush()
    #if InternalChecks
      try context.reading { try $0.checkInvariants() }
    #endif
    return outcomes
  }

  /// Lets the observers read what a write has done, while it can be read alone.
  private func prepare(
    _ job: WriteJob, _ changeSet: ChangeSet?, _ context: WriteContext,
    _ observers: [any CommitObserver]
  ) throws -> [PreparedWrite] {
    guard !observers.isEmpty, changeSet != nil || job.ticket != nil else { return [] }
    return context.reading { reader in
      let snapshot = ModelSnapshot(copy reader, path: core.path)
      return observers.map { observer in
        PreparedWrite(
          observer: observer,
          prepared: observer.prepare(changeSet, ticket: job.ticket, in: snapshot))
      }
    }
  }

  /// Tells the handler, the observers and the callers, in commit order.
  private func finish(_ jobs: [WriteJob], _ outcomes: [Outcome], duration: Duration) {
    let changeCount = outcomes.count { if case .success(.some) = $0.result { true } else { false } }
    core.count { counters in
      counters.flushes += 1
      counters.writes += changeCount
    }
    if duration > core.configuration.slowCommitThreshold {
      core.report(.slowCommit(duration: duration, writeCount: jobs.count))
    }
    let handler = handler.withLock { $0 }
    for (job, outcome) in zip(jobs, outcomes) {
      switch outcome.result {
      case .success(let changeSet):
        if let changeSet { handler?(changeSet) }
        for entry in outcome.prepared {
          entry.observer.committed(changeSet, ticket: job.ticket, prepared: entry.prepared)
        }
        job.finish(.success(changeSet))
      case .failure(let error): fail(job, error)
      }
    }
  }

  private func fail(_ job: WriteJob, _ error: any Error) {
    core.report(.failedWrite(error))
    job.finish(.failure(error))
  }
}

/// An observer that is not kept alive.
private struct WeakObserver: Sendable {
  weak let observer: (any CommitObserver)?

  init(_ observer: any CommitObserver) { self.observer = observer }
}
