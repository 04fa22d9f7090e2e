import PandoModels
public import PandoStore
import PandoSystem

/// A store that several machines hold, each its own, in step by a log.
///
/// ```swift
/// let log = try NATSLog(NATSLogConfiguration(servers: ["nats://127.0.0.1:4222"], stream: "boards"))
/// let boards = try ReplicatedStore(path: "data", log: log)
/// try await boards.store.write { try $0.set(card) }  // the log has it, and so has this store
/// ```
/// ``store`` is read and written, and given to managers and providers, like any other. A write returns once the log
/// and this store have it. Writes of other machines arrive in the background, in commits that the followers of the
/// store receive. Reads are local, and never wait for the log. One process a store.
///
/// It follows its log until it is closed, or until no reference to ``store`` is left; ``store`` alone keeps it alive.
///
/// Any thread.
public final class ReplicatedStore: Sendable {
  /// The store; ``close()`` closes it.
  public let store: ModelStore

  private let replica: Replica
  private let log: any ReplicationLog
  private let follower: Follower
  private let snapshotMaker: SnapshotMaker
  private let isLogClosed = Locked(false)

  /// Opens a store and has it follow a log.
  ///
  /// An empty log begins with what the store holds. A new store begins as the newest copy that some machine has put
  /// beside the log, or with the log's first message where there is none. One that was away for longer than the log
  /// keeps messages becomes the newest copy in one commit, its properties and tables of its own excepted; if the copy is
  /// more than 10 000 positions ahead of it, the store stops as `logLost`. Waits for the
  /// log and for such a copy; not for what comes behind: see ``caughtUp()``.
  ///
  /// A store that has followed the log before is opened also where the log can't be reached: it can be read, its writes
  /// fail as `unavailable`, and it follows as soon as the log is there.
  ///
  /// Migrations of the configuration that the log has not seen run in a write that all machines get, once the store has
  /// caught up: then the log has to be there.
  ///
  /// - Parameters:
  ///   - path: The folder of the store; made if it is not there.
  ///   - log: The log, of which this store becomes the only user: ``close()`` closes it.
  ///   - configuration: As that of `ModelStore`. With the durability `relaxed` a write waits for the log alone.
  /// - Throws: `StoreError` `unavailable` where a new store can't reach the log, `logLost` or `forked` for a log that is not the
  ///   store's, `replicated` for a store that can't join, `damaged` for a copy that is; what opening a store throws. Then the log
  ///   is closed.
  /// - Complexity: As opening a `ModelStore`, and the wait for the log. O(size of the newest copy) for a new store.
  public init(
    path: String, log: any ReplicationLog,
    configuration: ModelStore.Configuration = ModelStore.Configuration()
  ) throws {
    self.log = log
    do {
      store = try translatingFaults(path) { try Self.begin(path, log, configuration) }
    } catch {
      log.close()
      throw error
    }
    do {
      replica = try translatingFaults(path) { [store] in
        let replica = try Replica(store, log: log)
        try Self.migrate(store, replica)
        try Self.declareModels(store)
        return replica
      }
    } catch {
      store.close()
      log.close()
      throw error
    }
    follower = Follower(store, replica, log)
    snapshotMaker = SnapshotMaker(replica, path: path)
    store.keep(Company(follower, snapshotMaker))
    follower.start()
    snapshotMaker.start(isAtOnce: replica.beginsWithContent)
  }

  /// The threads that work for a store; they end with it.
  private final class Company: Sendable {
    private let follower: Follower
    private let snapshotMaker: SnapshotMaker

    init(_ follower: Follower, _ snapshotMaker: SnapshotMaker) {
      (self.follower, self.snapshotMaker) = (follower, snapshotMaker)
    }

    deinit {
      follower.end()
      snapshotMaker.stop()
    }
  }

  /// Opens the store; the newest copy, if there is one, first replaces a store without writes.
  package static func begin(
    _ path: String, _ log: any ReplicationLog, _ configuration: ModelStore.Configuration,
    _ replica: ReplicaConfiguration = ReplicaConfiguration()
  ) throws -> ModelStore {
    try join(path, log, replica)
    var configuration = configuration
    configuration.migratesThroughLog = true
    let store = try ModelStore(path: path, configuration: configuration)
    do {
      // Left by a machine that came before there was a copy.
      let isBlank = try store.read {
        try $0.replicationRow == nil && $0.replicationStart == (0, 1, 1)
      }
      guard isBlank, try log.snapshotPosition() ?? 0 > 0 else { return store }
    } catch {
      store.close()
      throw error
    }
    store.close()
    _ = try LogRepair.becomeNewestCopy(path, log, replica)
    return try ModelStore(path: path, configuration: configuration)
  }

  /// Runs the migrations that the log has not seen, in a write that all machines get: once the store has all of it.
  private static func migrate(_ store: ModelStore, _ replica: Replica) throws {
    for attempt in 1... {
      guard try store.hasDueMigrations else { return }
      do {
        try replica.passBarrier()
        try store.write { try $0.runDueMigrations() }
      } catch let error as StoreError
        where error.code == .conflict && attempt < migrationAttemptMaximum
      {
        // Others write the type all the time.
      }
    }
  }

  /// Puts in force what the types of the configuration declare, on all machines.
  private static func declareModels(_ store: ModelStore) throws {
    do {
      try store.declareModels()
    } catch let error as StoreError where error.code == .unavailable {
      // The store can be read without its log; the next opening declares the types.
    }
  }

  private static let migrationAttemptMaximum = 10

  /// Begins a store as the newest copy beside a log, where there is no store.
  private static func join(
    _ path: String, _ log: any ReplicationLog, _ replica: ReplicaConfiguration
  ) throws {
    guard !StoreCopy.isThere(path) else { return }
    guard let newest = try log.snapshotPosition(), newest > 0 else { return }
    try StoreCopy.makeFolder(path)
    guard
      let copy = try StoreCopy(
        from: log, in: StoreCopy.incoming(path), isLookedAt: replica.looksAtPages)
    else {
      return
    }
    do {
      try LogRepair.checkCopy(copy, of: log, path, replica)
    } catch {
      copy.remove()
      throw error
    }
    // Another process may have been quicker, and made the store.
    if try !copy.become(path) { copy.remove() }
  }

  /// The position of the log up to which this store has taken it in; after a write that one's, or a later one.
  ///
  /// Another machine that is given it can read what was written here: ``read(after:_:)``.
  ///
  /// - Throws: What reading a store throws.
  public var position: UInt64 {
    get throws { try store.read { try $0.replicationRow?.position ?? 0 } }
  }

  /// How far the store is, and whether it goes on.
  public var status: ReplicationStatus {
    let statistics = replica.statistics
    let stop = replica.halt
    return ReplicationStatus(
      position: (try? position) ?? 0, end: replica.lastSeen, failure: stop ?? follower.failure,
      snapshotFailure: snapshotMaker.failure, isStopped: stop != nil,
      log: hexadecimal(replica.identity), lastHeard: replica.heard.withLock(\.self),
      snapshotAge: snapshotMaker.age, warnings: log.warnings,
      judgedCount: statistics.judged, refusedCount: statistics.refused,
      malformedCount: statistics.malformed, foreignCount: statistics.foreign,
      replacedCount: statistics.replaced)
  }

  /// What became of a write whose answer was lost, as far as the store has taken in its log.
  ///
  /// - Parameter name: The `writeName` of the error with which the write failed; also behind another opening of the
  ///   store.
  /// - Returns: What became of it; `nil` if the store keeps no write of that name. At least the last 9 000 are kept.
  /// - Throws: What reading a store throws.
  /// - Complexity: As a read.
  public func outcome(ofWrite name: String) throws -> WriteOutcome? {
    try replica.outcome(ofWrite: name)
  }

  /// Tells whether the store can do its work, for a service's check of its health.
  ///
  /// - Parameter silence: How long the log may have said nothing; it is asked every few seconds.
  /// - Throws: Why not: the failure of the ``status`` if the store has stopped or the last look at the log failed,
  ///   `StoreError` `unavailable` if nothing was heard of the log for too long, `closed`.
  /// - Complexity: O(1); the log is not waited for.
  public func checkHealth(silence: Duration = .seconds(30)) throws {
    _ = try position
    let status = status
    if let failure = status.failure { throw failure }
    let age = status.lastHeard.map { ContinuousClock.now - $0 }
    if let age, age <= silence { return }
    throw StoreError(
      .unavailable, store.path,
      age.map { "nothing was heard of the log for \($0)" } ?? "nothing was heard of the log yet")
  }

  /// Waits until this store has all that was in the log when this was called, from all machines.
  ///
  /// Reads behind it see every write that had returned before, on any machine. It appends a message of some 100 bytes
  /// to the log, which several callers at once share: where a server says that the log ends is not sure, because
  /// others may have taken over from it. So it needs the right to append.
  ///
  /// - Throws: `StoreError` `unavailable` if the log does not take the message within 5 s, or 10 s behind other calls
  ///   (longer behind entries of more than 512 KiB); `logLost`, `forked` or `needsUpgrade` if the store can't follow the log any more, `closed`.
  /// - Complexity: O(size of the messages that the store lacks), and the wait for the log. O(size of the store) where a
  ///   copy takes their place.
  public func caughtUp() async throws {
    try await blocking(named: "pando.caughtUp", store.path) { [replica] in
      try replica.passBarrier()
    }
  }

  /// Puts a copy of the store beside the log, without the properties and tables that are this store's own.
  ///
  /// Machines do that by themselves when the newest copy is older than a third of what the log keeps, or a million
  /// messages; the two newest are kept.
  ///
  /// - Returns: The position that the copy has.
  /// - Throws: `StoreError` `unavailable` where the log can't be reached, or no longer has the messages behind this
  ///   store's position, so that the copy is of no use; `logLost` or `forked` where the log is not the store's any more;
  ///   `closed`; `LMDBError` where the copy has no place in the store's folder.
  /// - Complexity: O(size of the store).
  @discardableResult
  public func putSnapshot() async throws -> UInt64 {
    try await blocking(named: "pando.putSnapshot", store.path) { [replica] in
      try replica.putSnapshot()
    }
  }

  /// Puts a copy of a store beside a log, as ``putSnapshot()``; this or another process may have the store open.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - log: The log; it stays open.
  /// - Returns: The position that the copy has.
  /// - Throws: `StoreError` `replicated` if the store has followed no log; as ``putSnapshot()``; what opening a store throws.
  /// - Complexity: O(size of the store).
  @discardableResult
  public static func putSnapshot(path: String, log: any ReplicationLog) async throws -> UInt64 {
    try await blocking(named: "pando.putSnapshot", path) { try LogRepair.putSnapshot(path, log) }
  }

  /// Copies a store for another machine, which can follow the log with it.
  ///
  /// A plain copy has the requests that wait for a server, and other rows of that store alone; this one has not.
  ///
  /// - Parameters:
  ///   - path: The folder of the store; others may have it open.
  ///   - destination: A folder that has no store, on the same disk.
  /// - Returns: The position that the copy has.
  /// - Throws: `StoreError` `replicated` if the store has followed no log, or there is a store already; what opening
  ///   a store throws.
  /// - Complexity: O(size of the store).
  @discardableResult
  public static func copy(path: String, to destination: String) async throws -> UInt64 {
    try await blocking(named: "pando.copy", path) { try LogRepair.copy(path, to: destination) }
  }

  /// Has a log that has lost what a store holds go on from that store.
  ///
  /// The other machines become equal to it: writes that they have and it has not are lost. Do it where the log has lost
  /// its end, or all of it, and at the machine with the highest ``position``. The store must not be open.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - log: The log; it stays open.
  /// - Returns: The position from which the log goes on.
  /// - Throws: `StoreError` `replicated` if the store has followed no log, `logLost` for a log that another store has
  ///   begun, `unavailable`; what opening a store
  ///   throws. It can be done again then.
  /// - Complexity: O(size of the store).
  @discardableResult
  public static func republish(path: String, log: any ReplicationLog) async throws -> UInt64 {
    try await blocking(named: "pando.republish", path) { try LogRepair.republish(path, log) }
  }

  /// Makes a store that can't follow its log any more what the newest copy beside the log is.
  ///
  /// The store loses the data that no other machine has. Its properties and its own tables stay. Its cursors expire,
  /// unless the history of the copy contains its commits. No process may have the store open.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - log: The log; it stays open.
  /// - Returns: The position that the store has then.
  /// - Throws: `StoreError` `replicated` if the store has followed no log, `unavailable` if the log has no copy, or
  ///   can't be reached, `logLost` or `forked` if the copy is not of the log; what opening a store throws. Then the store is
  ///   as it was.
  /// - Complexity: O(size of the copy), and O(*n* log *n*) for *n* rows of the store and the copy, which are compared.
  @discardableResult
  public static func replace(path: String, log: any ReplicationLog) async throws -> UInt64 {
    try await blocking(named: "pando.replace", path) { try LogRepair.replace(path, log) }
  }

  /// Compares a store with what the log says it should be: with the newest copy beside it and the messages since.
  ///
  /// A copy is made by one machine: run on all machines, it compares each with that one. This or another process may
  /// have the store open. It needs room for two copies of the store in the store's folder.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - log: The log; it stays open.
  /// - Returns: What differs in types, nodes and lists at the position of the store.
  /// - Throws: `StoreError` `replicated` if the store has followed no log, `unavailable` if the log has no copy, one
  ///   that is ahead of the store, or can't be reached, `logLost` or `forked` if the log is not that of the store;
  ///   what opening a store throws.
  /// - Complexity: O(size of the store), and O(size of the messages behind the copy).
  public static func compare(
    path: String, log: any ReplicationLog
  ) async throws -> ReplicaComparison {
    try await blocking(named: "pando.compare", path) { try ReplicaCheck.run(path, log) }
  }

  /// What became of a write of a store whose answer was lost; others may have the store open.
  ///
  /// - Parameters:
  ///   - name: The `writeName` of the error with which the write failed.
  ///   - path: The folder of the store.
  /// - Returns: As ``outcome(ofWrite:)``.
  /// - Throws: What opening and reading a store throws.
  /// - Complexity: As opening a store.
  public static func outcome(ofWrite name: String, path: String) throws -> WriteOutcome? {
    if let store = ModelStore.opened(at: path) { return try Replica.outcome(ofWrite: name, store) }
    var configuration = ModelStore.Configuration()
    configuration.isReadOnly = true
    let store = try ModelStore(path: path, configuration: configuration)
    defer { store.close() }
    return try Replica.outcome(ofWrite: name, store)
  }

  /// Reads a version that has all up to a position of the log.
  ///
  /// - Parameters:
  ///   - position: A position of any machine, from its ``position``.
  ///   - body: Gets the version on a reader thread, as in the `async` form of `ModelStore.read`.
  /// - Returns: What `body` returns.
  /// - Throws: As ``caughtUp()`` if the store is not that far; `unavailable` too if the log ends before that position;
  ///   what `body` throws.
  /// - Complexity: As `ModelStore.read(_:)` if the store is that far; else the log is asked where it ends, and the
  ///   store takes in what it lacks.
  public func read<Result: Sendable>(
    after position: UInt64, _ body: @escaping @Sendable (ModelSnapshot) throws -> Result
  ) async throws -> Result {
    if try self.position < position {
      // No barrier is needed: whatever end a server names, it has that position or not.
      try await blocking(named: "pando.caughtUp", store.path) { [replica, log] in
        try replica.takeIn(upTo: log.end())
      }
    }
    return try await store.read { [path = store.path] snapshot in
      let reached = try snapshot.replicationRow?.position ?? 0
      guard reached >= position else {
        throw StoreError(
          .unavailable, path,
          "the log ends at position \(reached), and a version with position \(position) is asked for"
        )
      }
      return try body(snapshot)
    }
  }

  /// Waits for the writes that are queued, and closes the store and the log.
  ///
  /// Writes of which the log has not said within four seconds what became of them fail as `unavailable`. A copy that is
  /// being put beside the log is given up.
  ///
  /// - Complexity: O(1), and the wait for writes that are queued, five seconds at most, and for reads that are under way.
  public func close() async {
    follower.end()
    snapshotMaker.stop()
    let isOver = Monitor(false)
    startThread(named: "pando.closing") { [self] in
      let end = monotonicNanoseconds() + Self.closingWait
      _ = isOver.waiting(until: end) { $0 ? () : nil }
      closeLog()
    }
    await store.close()
    isOver.withLock { $0 = true }
    isOver.notifyAll()
    try? await blocking(named: "pando.close", store.path) { [self] in
      closeLog()
      snapshotMaker.waitForEnd()
    }
  }

  /// In nanoseconds: how long writes may wait for the log when the store is being closed.
  private static let closingWait: Int64 = 4_000_000_000

  private func closeLog() {
    if isLogClosed.withLock({ exchange(&$0, with: true) }) { return }
    log.close()
  }
}

/// Runs a closure that blocks, on a thread of its own.
private func blocking<Result: Sendable>(
  named name: String, _ path: String, _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await onThread(named: name, path) { _ in try translatingFaults(path, body) }
}
