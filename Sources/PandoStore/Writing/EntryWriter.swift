import PandoLMDB
package import PandoModels
import PandoSystem

/// Writes entries of a log, on the leading thread, between two flushes.
package struct EntryWriter {
  let writer: Writer
  let core: StoreCore
  /// The writes of the flush that was rolled back.
  let jobs: [WriteJob]

  /// Reads the newest version.
  package func read<Result>(_ body: (ModelSnapshot) throws -> Result) throws -> Result {
    try core.read { try body(ModelSnapshot($0, path: core.path)) }
  }

  /// Runs a closure in a transaction, and passes its effects to the followers of the store.
  ///
  /// - Parameter body: The closure; may run more than once.
  /// - Throws: The error of `body`, and then nothing is written; `LMDBError` if the disk fails.
  package func flush(_ body: (inout EntryFlush) throws -> Void) throws {
    var effects: [CommitEffects] = []
    let start = ContinuousClock.now
    do {
      try core.whileInPlace {
        try core.environment.write { transaction in
          try unsafe withUnsafeMutablePointer(to: &transaction) { transaction in
            let session = try unsafe WriteSession(transaction, core: core)
            let before = session.state.counters.commitNumber
            var flush = EntryFlush(session, jobs, isFollowed: core.feed.hasFollowers)
            try body(&flush)
            try session.endFlush()
            effects = flush.effects
            unsafe transaction.pointee.isRelief = session.state.isRelief
            let last = session.state.counters.commitNumber
            if last > before { core.feed.announce(before + 1...last) }
            if InternalChecks.areOn {
              if !flush.hasReplacedRows { try session.reading { try $0.checkInvariants() } }
            }
          }
        }
      }
    } catch {
      core.feed.withdraw()
      throw error
    }
    core.didLog(nil, nil)
    core.feed.handOver(effects.filter { $0.ticket != nil || $0.changeSet != nil })
    writer.didApply(effects.compactMap(\.changeSet), duration: ContinuousClock.now - start)
  }
}

/// One transaction of an ``EntryWriter``.
package struct EntryFlush: ~Copyable {
  let session: WriteSession
  private let jobs: [WriteJob]
  private let isFollowed: Bool
  private(set) var effects: [CommitEffects] = []
  /// Whether rows were changed without the session.
  var hasReplacedRows = false

  init(_ session: WriteSession, _ jobs: [WriteJob], isFollowed: Bool) {
    self.session = session
    self.jobs = jobs
    self.isFollowed = isFollowed
  }

  /// The transaction between two writes.
  // Not inlined: the compiler (6.3.1) fails at this one when it optimizes across modules.
  @inline(never)
  package var transaction: ModelTransaction { ModelTransaction(session) }

  /// Runs one write.
  ///
  /// - Parameters:
  ///   - index: The index in the rolled-back flush; `nil` for a write of another store.
  ///   - body: The write.
  /// - Returns: Its changes; `nil` if there are none.
  /// - Throws: The error of `body`; then the transaction can't continue.
  package mutating func write(
    own index: Int?, _ body: (inout ModelTransaction) throws -> Void
  ) throws -> ChangeSet? {
    session.beginWrite(keepsContent: isFollowed)
    var transaction = ModelTransaction(session)
    try body(&transaction)
    let job = index.flatMap { $0 < jobs.count ? jobs[$0] : nil }
    let changeSet = try session.endWrite(context: job?.context)
    effects.append(
      CommitEffects(
        changeSet, ticket: job?.ticket, commitValue: session.state.counters.commitNumber,
        context: job?.context, content: session.state.content ?? WrittenContent()))
    session.state.content = nil
    return changeSet
  }
}
