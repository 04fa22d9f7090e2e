import PandoLMDB
import PandoModels
package import PandoStore
import PandoSystem

/// Keeps a store in step with a log: brings its writes there, and what others have brought from there.
///
/// ```
/// write ─► closure in an open transaction ─► entry ─► append ─► position = mine + 1? commit ─► caller
///                                              │  else: give up, take in what came between, judge own entry
/// log    ═══ 1041 ═══ 1042 ═══ 1043 ═══►  judge ─► up to 1 000 in one transaction ─► providers, processes
/// ```
/// All but ``init(_:log:configuration:)``, ``catchUp()`` and the statistics runs on the thread that leads the writes of
/// the store. One process a store.
package final class Replica: StoreReplicator {
  /// A replicated store as it was when a flush began, and what the flush has done since.
  struct Draft {
    let row: ReplicationRow
    let commit: UInt64
    let nextNode: UInt64
    let nextType: UInt64
    var writes: [WriteEffects] = []
  }

  /// An entry that has been sent, or is about to be.
  struct Sent {
    let identity: EntryIdentity
    let bytes: [UInt8]
    /// How large one of its messages is at most.
    let messageByteCount: Int
    /// Its position; `nil` as long as the log has not said.
    var position: UInt64?
    /// The position of its first part.
    var first: UInt64 = 0
    /// How long its writes wait for the log.
    var deadline: Int64
  }

  weak let store: ModelStore?
  let log: any ReplicationLog
  let configuration: ReplicaConfiguration
  /// The identity of the log.
  let identity: [UInt8]
  /// What is known of the log; `nil` as long as it has been away since the store was opened.
  let joined: Locked<Joined?>
  /// Calls that wait for all that the log holds when they are made.
  let barrier = Locked(Barrier())
  /// When the log was heard last.
  let heard = Locked<ContinuousClock.Instant?>(nil)
  /// Which opening of a store this is, and the same of messages without writes.
  let origin: [UInt8]
  let markerOrigin = Replica.randomIdentity()
  /// The last position that is known to be there.
  let seen = Monitor<UInt64>(0)
  private let counters = Locked(ReplicaStatistics())
  // Used on the thread that leads the writes only.
  nonisolated(unsafe) private var counter: UInt64 = 0
  nonisolated(unsafe) private var draft: Draft?
  nonisolated(unsafe) var sent: Sent?
  nonisolated(unsafe) var failure: (any Error)?
  /// Whether the next flush may begin though others have written since the last one was settled.
  nonisolated(unsafe) var mayLag = false
  /// What the last commits have changed, as far as that was asked for.
  nonisolated(unsafe) var window = JudgingWindow()
  /// Machines whose writes were refused, in the order of the log.
  nonisolated(unsafe) var turns: [Turn] = []
  /// How long the next flush waits for one of them; `nil` if it does not.
  nonisolated(unsafe) var awaitedTurn: Int64?
  /// Entries whose answer was lost, and which have not come yet.
  nonisolated(unsafe) var unanswered: Set<EntryIdentity> = []
  /// Why nothing is written or taken in any more.
  package var halt: StoreError? {
    get { stop.withLock(\.self) }
    set {
      let old = stop.withLock { exchange(&$0, with: newValue) }
      if let newValue, old == nil { store?.report(.replicaStopped(newValue)) }
    }
  }
  private let stop = Locked<StoreError?>(nil)
  /// The copy without which a replica that has stopped can't go on; `nil` if none would help.
  var awaitedCopy: AwaitedCopy? {
    get { awaited.withLock(\.self) }
    set { awaited.withLock { $0 = newValue } }
  }
  private let awaited = Locked<AwaitedCopy?>(nil)
  let comparison = Locked(Comparison())
  let coverage = Locked(Coverage())
  let gap = Locked<Gap?>(nil)
  /// When the history of the store was found to be the log's.
  nonisolated(unsafe) var confirmed: Int64?

  /// Has a store follow a log, and all its writes go through it.
  ///
  /// An empty log begins with what the store holds. A store that was in no log joins one only if both are
  /// as they were before the first commit; else it begins as a copy of another one. A store that has followed the
  /// log before is opened also while the log can't be reached; what the log is, is looked at before anything is
  /// written or taken in.
  ///
  /// - Parameters:
  ///   - store: A store that is open for writing.
  ///   - log: The log.
  ///   - configuration: How to follow it.
  /// - Throws: ``StoreError`` `logLost` or `forked` for a log that is not the store's, `replicated` for a store that
  ///   can't join, `unavailable` if an empty log does not answer; ``LogFault``.
  package init(
    _ store: ModelStore, log: any ReplicationLog,
    configuration: ReplicaConfiguration = ReplicaConfiguration()
  ) throws {
    self.store = store
    self.log = log
    self.configuration = configuration
    origin = Self.randomIdentity()
    let interruptions = log.interruptionCount
    do {
      // Who has a store need not wait for long.
      let wait = Int64(configuration.resendDurationMaximum / .nanoseconds(1))
      let isMember = try store.read { try $0.replicationRow != nil }
      let joined = try LogDeadline.$nanoseconds.withValue(
        isMember ? monotonicNanoseconds() + wait : nil
      ) {
        let joined = try Self.join(store, log, configuration)
        try Self.addHistory(to: store, log)
        return joined
      }
      (identity, self.joined) = (joined.log, Locked(joined))
      comparison.withLock {
        $0 = Comparison(time: configuration.clock(), interruptions: interruptions)
      }
      noteHeard()
    } catch let fault as LogFault where fault.isAway {
      guard let row = try store.read({ try $0.replicationRow }) else { throw fault }
      (identity, joined) = (row.log, Locked(nil))
    }
    unsafe unanswered = Set(
      try store.read { try $0.unansweredEntries() }.map {
        EntryIdentity(origin: $0.origin, counter: $0.counter)
      })
    let position = try store.read { try $0.replicationRow?.position ?? 0 }
    if joined.withLock({ $0 != nil }) { comparison.withLock { $0.position = position } }
    // A store that was just opened tells its history once, where nobody else does.
    if position > 1 { noteCoverage(0, wanted: position) }
    store.attach(self)
  }

  /// Whether the log begins with a store that held something: who joins needs a copy.
  var beginsWithContent: Bool { joined.withLock { $0?.beginsWithContent ?? false } }

  static func randomIdentity() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: 0...255) } }

  /// Takes in all that the log holds.
  ///
  /// - Throws: What keeps it from doing so: `StoreError`, `logLost` if the log is shorter than the store, `forked` if
  ///   it has another message where the store is; ``LogFault``, `LMDBError`.
  package func catchUp() throws {
    guard store != nil else { return }
    _ = try looksForCopy()
    try takeIn(upTo: try look())
  }

  /// Takes in what the log holds up to a position that is known to be there.
  package func takeIn(upTo end: UInt64) throws {
    noteEnd(end)
    // A flush that has begun before that takes writes along and nothing of the log.
    while let position = try position, position < end { try store?.write { _ in } }
  }

  /// How far the store is; `nil` if it is not there any more.
  private var position: UInt64? {
    get throws { try store?.read { try $0.replicationRow?.position ?? 0 } }
  }

  /// Notes that there is a message at a position: the next flush takes it in.
  package func noteEnd(_ position: UInt64) {
    seen.withLock { $0 = max($0, position) }
    seen.notify()
  }

  var lastSeen: UInt64 { seen.withLock(\.self) }

  /// How often things have happened since the store was opened.
  package var statistics: ReplicaStatistics { counters.withLock(\.self) }

  func count(_ body: (inout ReplicaStatistics) -> Void) { counters.withLock { body(&$0) } }
}

extension Replica {
  package func beginFlush(_ transaction: borrowing ModelTransaction) throws {
    if let halt = halt { throw halt }
    guard let row = try transaction.replicationRow, row.log == identity else {
      throw StoreError(.logLost, "replication", "the store follows another log")
    }
    if let position = unsafe sent?.position, position > row.position { throw GroupDetour() }
    unsafe sent = nil
    // What is written into a log that has lost what it is made from, others leave out.
    let mayLag = unsafe exchange(&mayLag, with: false)
    if needsLook || needsMarker || !mayLag && lastSeen > row.position { throw GroupDetour() }
    unsafe draft = Draft(
      row: row, commit: transaction.commitValue, nextNode: transaction.nextNode,
      nextType: transaction.nextType)
  }

  package func didRun(
    _ transaction: borrowing ModelTransaction, _ changeSet: ChangeSet?
  ) throws -> Bool {
    guard let firstNode = unsafe draft?.nextNode else { return false }
    let effects = try transaction.effects(of: changeSet, firstNode: firstNode)
    if effects.isEmpty { return false }
    unsafe draft?.writes.append(effects)
    return true
  }

  package func endFlush(
    _ transaction: borrowing ModelTransaction, queuedAt start: Int64
  ) throws {
    guard var draft = unsafe exchange(&draft, with: nil) else { return }
    let newTypes = try transaction.typeNames(from: draft.nextType)
    if draft.writes.isEmpty {
      guard !newTypes.isEmpty else {
        // Numbers that were given to what was taken back are free again.
        return transaction.setNextNode(draft.nextNode)
      }
      draft.writes.append(WriteEffects())
    }
    if isHeldBack(draft.writes) {
      try configuration.onStep?(.isHeldBack)
      throw GroupDetour()
    }
    let bytes = try entry(of: draft, newTypes, transaction)
    let identity = EntryIdentity(origin: origin, counter: unsafe counter)
    unsafe sent = Sent(
      identity: identity, bytes: bytes, messageByteCount: configuration.messageByteCountMaximum,
      deadline: deadline(ofWritesSince: start))
    do {
      try send()
    } catch LogFault.noAnswer {
      noteInterruption()
      throw GroupDetour()
    } catch {
      noteInterruption()
      unsafe failure = error
      throw GroupDetour()
    }
    // Others may have come before it, or between its parts: they have to be taken in.
    guard let sent = unsafe sent, let position = sent.position,
      position == draft.row.position + UInt64(sent.messageCount),
      sent.first == draft.row.position + 1, !needsLook
    else { throw GroupDetour() }
    var row = draft.row
    try transaction.beginChains(at: row)
    for message in sent.messages {
      (row.position, row.chain) = (row.position + 1, row.chain.appending(message))
      try transaction.setChain(row.chain, at: row.position)
    }
    try transaction.trimChains(from: draft.row.position, to: position)
    try transaction.setReplicationRow(row)
    try transaction.setOrigin(origin, OriginRow(counter: identity.counter, position: position))
    try transaction.setSchemas(draft.writes.flatMap(\.schemas), at: position)
    noteEnd(position)
    noteCoverage(draft.row.position, wanted: position)
    // Other machines judge the entry, and this one does not: its own turn ends here.
    unsafe turns.removeAll { $0.origin == origin }
    count { $0.direct += 1 }
    try configuration.onStep?(.willCommit)
  }

  /// The bytes of the entry of a flush.
  private func entry(
    of draft: Draft, _ newTypes: [String], _ transaction: borrowing ModelTransaction
  ) throws -> [UInt8] {
    var names: Set<String> = []
    for write in draft.writes {
      for node in write.nodes { names.formUnion(node.records.map(\.typeName)) }
    }
    let schemas = draft.writes.flatMap(\.schemas)
    let types = try names.sorted { $0.hasBytes(before: $1) }.map { name in
      // As it was when the flush began.
      let before = schemas.first { $0.typeName == name && $0.migratedFrom != nil }?.migratedFrom
      return Entry.TypeVersion(name, try before ?? transaction.schemaVersion(ofType: name))
    }
    unsafe counter += 1
    let entry = Entry(
      EntryIdentity(origin: origin, counter: unsafe counter), base: draft.row.position,
      baseCommit: draft.commit, chain: draft.row.chain,
      nodeCount: transaction.nextNode - draft.nextNode, newTypes: newTypes, types: types,
      writes: draft.writes)
    let bytes = LogMessage.entry(entry).bytes
    let maximum = configuration.entryByteCountMaximum
    guard bytes.count <= maximum else {
      throw StoreError(
        .entryTooLarge, "replication",
        "the entry of a write has \(bytes.count) bytes, \(maximum) are the most; "
          + "write less at a time")
    }
    return bytes
  }
}

/// How a store follows its log.
package struct ReplicaConfiguration: Sendable {
  /// How often an entry is sent again, or looked for, before its writes fail as `unavailable`.
  package var resendCountMaximum = 100
  /// How long the writes of a flush wait for the log; it is sent again once at least.
  ///
  /// A write that had to wait for
  /// others before waits twice as long, all in all.
  package var resendDurationMaximum = Duration.seconds(5)
  /// How long others wait for a machine whose writes were refused.
  package var turnMaximum = Duration.milliseconds(100)
  /// At how many looks in a row nobody has written before it appends a mark; not the same in all, so that one is first.
  package var quietLookCount = Int.random(in: 1...2)
  /// How many messages are taken in with one transaction at most.
  package var messagesPerCommit = 1000
  /// How large a message is that it sends, at most; tests lower it, and what it reads has the limits of all.
  package var messageByteCountMaximum = EntryLimits.partByteCount
  /// How large an entry is that it sends, at most; likewise.
  package var entryByteCountMaximum = EntryLimits.entryByteCount
  /// Whether entries are judged; tests turn it off to see that they fail.
  package var judges = true
  /// What is not looked at; likewise.
  package var omissions: Set<ReplicaOmission> = []
  var looksAtPages: Bool { !omissions.contains(.pages) }
  /// The time, in nanoseconds; tests have one of their own.
  package var clock: @Sendable () -> Int64 = { monotonicNanoseconds() }
  /// Called at steps at which a process may end; tests end it there, by throwing.
  package var onStep: (@Sendable (ReplicaStep) throws -> Void)?

  package init() {}
}

/// Something that a replica looks at, and that tests have it leave undone to see that they fail.
package enum ReplicaOmission: Sendable, CaseIterable {
  /// Whether the log has what the store has taken in last, and is as long.
  case lastMessage
  /// Whether an entry was made from the store's own history.
  case origins
  /// Whether a copy has come out of what the store has, or is of the log.
  case copies
  /// Whether a copy is whole.
  case pages
  /// What no entry was made from yet.
  case marks
  /// Whether messages follow one another.
  case gaps
  /// Whether a message is of a newer version.
  case versions
}

/// A step of a replica, between which a process may end.
package enum ReplicaStep: Sendable, CaseIterable {
  /// The log has an entry, and its flush is about to be committed.
  case willCommit
  /// What others have brought is about to be committed.
  case willTakeIn
  /// It has been.
  case didTakeIn
  /// A flush is about to wait for the entry of a machine whose turn it is.
  case isHeldBack
}

/// How often things have happened.
package struct ReplicaStatistics: Hashable, Sendable {
  /// Entries of this replica behind which nobody else's came.
  package var direct = 0
  /// Writes that were judged.
  package var judged = 0
  /// Those that were refused.
  package var refused = 0
  /// Entries that came a second time.
  package var duplicates = 0
  /// Messages that were malformed.
  package var malformed = 0
  /// Entries that were made from another history than the log's.
  package var foreign = 0
  /// How often the store was made equal to a copy that the log had.
  package var replaced = 0
}
