import PandoLMDB
import PandoModels
package import PandoStore
import PandoSystem

/// Keeps a store and a log equal: appends the store's writes to the log, and applies those of other machines.
///
/// ```
/// write ─► closure in an open transaction ─► entry ─► append ─► position = mine + 1? commit ─► caller
///                                              │  else: give up, apply the messages in between, judge own entry
/// log    ═══ 1041 ═══ 1042 ═══ 1043 ═══►  judge ─► up to 1 000 in one transaction ─► providers, processes
/// ```
/// All members except ``init(_:log:configuration:)``, ``catchUp()`` and the statistics run on the thread that leads the
/// writes of the store. One process at a time may have the store open.
package final class Replica: StoreReplicator {
  /// A replicated store at the beginning of a flush, and the writes of the flush so far.
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
    /// The largest size of one of its messages.
    let messageByteCount: Int
    /// The position of the entry; `nil` until the log has named it.
    var position: UInt64?
    /// The position of its first part.
    var first: UInt64 = 0
    /// The time until which its writes wait for the log.
    var deadline: Int64
  }

  weak let store: ModelStore?
  let log: any ReplicationLog
  let configuration: ReplicaConfiguration
  /// The identity of the log.
  let identity: [UInt8]
  /// The properties of the log; `nil` as long as the log was unreachable since the store was opened.
  let joined: Locked<Joined?>
  /// The calls that wait for all messages of the log.
  let barrier = Locked(Barrier())
  /// When the log last answered.
  let heard = Locked<ContinuousClock.Instant?>(nil)
  /// The identity of this opening of the store, and another one for messages without writes.
  let origin: [UInt8]
  let markerOrigin = Replica.randomIdentity()
  /// The last position that the log is known to have.
  let seen = Monitor<UInt64>(0)
  private let counters = Locked(ReplicaStatistics())
  // Only the thread that leads the writes uses these.
  nonisolated(unsafe) private var counter: UInt64 = 0
  nonisolated(unsafe) private var draft: Draft?
  nonisolated(unsafe) var sent: Sent?
  nonisolated(unsafe) var failure: (any Error)?
  /// Whether the next flush may begin although other machines have written since the last decision.
  nonisolated(unsafe) var mayLag = false
  /// The nodes and lists that recent commits changed, as far as judging needed them.
  nonisolated(unsafe) var window = JudgingWindow()
  /// Machines whose writes were refused, in the order of the log.
  nonisolated(unsafe) var turns: [Turn] = []
  /// How long the next flush waits for one of them; `nil` if it does not.
  nonisolated(unsafe) var awaitedTurn: Int64?
  /// Entries without an answer that have not arrived yet.
  nonisolated(unsafe) var unanswered: Set<EntryIdentity> = []
  /// The reason for which the replica has stopped; `nil` while it runs.
  package var halt: StoreError? {
    get { stop.withLock(\.self) }
    set {
      let old = stop.withLock { exchange(&$0, with: newValue) }
      if let newValue, old == nil { store?.report(.replicaStopped(newValue)) }
    }
  }
  private let stop = Locked<StoreError?>(nil)
  /// The copy for which a stopped replica waits; `nil` if no copy would help.
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

  /// Connects a store with a log; all writes of the store then go through the log.
  ///
  /// An empty log begins with the contents of the store. A store that was in no log can join one only if both are
  /// without commits; otherwise it must begin as a copy of another store. A store that has followed the log before also
  /// opens while the log can't be reached. The replica checks the identity of the log before it writes or applies
  /// anything.
  ///
  /// - Parameters:
  ///   - store: A store that is open for writing.
  ///   - log: The log.
  ///   - configuration: The settings.
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
      // A store that can already be read does not wait for long.
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
    // After an opening the store states its history once, unless another machine does.
    if position > 1 { noteCoverage(0, wanted: position) }
    store.attach(self)
  }

  /// Whether the log begins with a store that had contents: a machine that joins then needs a copy.
  var beginsWithContent: Bool { joined.withLock { $0?.beginsWithContent ?? false } }

  static func randomIdentity() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: 0...255) } }

  /// Applies all messages of the log.
  ///
  /// - Throws: `StoreError`, `logLost` if the log is shorter than the store, `forked` if it has another message at the
  ///   store's position; ``LogFault``, `LMDBError`.
  package func catchUp() throws {
    guard store != nil else { return }
    _ = try looksForCopy()
    try takeIn(upTo: try look())
  }

  /// Applies the messages up to a position that the log is known to have.
  package func takeIn(upTo end: UInt64) throws {
    noteEnd(end)
    // A flush that began earlier includes queued writes and applies no messages.
    while let position = try position, position < end { try store?.write { _ in } }
  }

  /// The position of the store; `nil` if the store was released.
  private var position: UInt64? {
    get throws { try store?.read { try $0.replicationRow?.position ?? 0 } }
  }

  /// Notes that the log has a position: the next flush applies the message.
  package func noteEnd(_ position: UInt64) {
    seen.withLock { $0 = max($0, position) }
    seen.notify()
  }

  var lastSeen: UInt64 { seen.withLock(\.self) }

  /// The counters since the store was opened.
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
    // If the log has lost the messages from which an entry was made, other machines ignore the entry.
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
        // Node numbers of aborted writes are free again.
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
    // Messages of other machines before it, or between its parts, must be applied first.
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
    // Other machines judge the entry and this one does not, so its own turn ends here.
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
      // The version at the beginning of the flush.
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

/// The settings of a replica.
package struct ReplicaConfiguration: Sendable {
  /// How often an entry is sent again, or searched for, before its writes fail as `unavailable`.
  package var resendCountMaximum = 100
  /// How long the writes of a flush wait for the log; the entry is sent again at least once.
  ///
  /// A write that first waited for other writes waits twice as long in total.
  package var resendDurationMaximum = Duration.seconds(5)
  /// How long other machines wait for one whose writes were refused.
  package var turnMaximum = Duration.milliseconds(100)
  /// The number of consecutive looks without writes of any machine before the replica appends a mark.
  ///
  /// It differs between machines, so that one is first.
  package var quietLookCount = Int.random(in: 1...2)
  /// The largest number of messages that one transaction applies.
  package var messagesPerCommit = 1000
  /// The largest message that the replica sends; tests lower it.
  ///
  /// Received messages have the general limits.
  package var messageByteCountMaximum = EntryLimits.partByteCount
  /// The largest entry that the replica sends; tests lower it.
  package var entryByteCountMaximum = EntryLimits.entryByteCount
  /// Whether entries are judged; tests turn it off to show that they need it.
  package var judges = true
  /// The omitted checks; tests omit them to show that they need them.
  package var omissions: Set<ReplicaOmission> = []
  var looksAtPages: Bool { !omissions.contains(.pages) }
  /// The time, in nanoseconds; tests set a clock of their own.
  package var clock: @Sendable () -> Int64 = { monotonicNanoseconds() }
  /// Called at each step at which a process may end; tests throw in it to end there.
  package var onStep: (@Sendable (ReplicaStep) throws -> Void)?

  package init() {}
}

/// A check of a replica that tests can omit, to show that they need it.
package enum ReplicaOmission: Sendable, CaseIterable {
  /// Whether the log has the last applied message, and is as long as the store.
  case lastMessage
  /// Whether an entry was made from the store's own history.
  case origins
  /// Whether a copy continues the history of the store, or is of the log.
  case copies
  /// Whether a copy is complete.
  case pages
  /// Marks for messages from which no entry was made yet.
  case marks
  /// Whether messages follow one another without a gap.
  case gaps
  /// Whether a message has a newer version.
  case versions
}

/// A step of a replica at which a process may end.
package enum ReplicaStep: Sendable, CaseIterable {
  /// The log has an entry, and its flush is about to be committed.
  case willCommit
  /// Messages of other machines are about to be committed.
  case willTakeIn
  /// Messages of other machines have been committed.
  case didTakeIn
  /// A flush is about to wait for the entry of the machine that has the turn.
  case isHeldBack
}

/// The counters of a replica.
package struct ReplicaStatistics: Hashable, Sendable {
  /// Entries of this replica that directly followed the last applied message.
  package var direct = 0
  /// Writes that were judged.
  package var judged = 0
  /// Writes that were refused.
  package var refused = 0
  /// Entries that arrived a second time.
  package var duplicates = 0
  /// Malformed messages.
  package var malformed = 0
  /// Entries that were made from another history than the log's.
  package var foreign = 0
  /// How often the store was replaced by a copy in the log.
  package var replaced = 0
}
