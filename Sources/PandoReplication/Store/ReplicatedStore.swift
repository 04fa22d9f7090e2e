import PandoModels
public import PandoStore
import PandoSystem

/// A store of several machines: each has a copy, and one log keeps the copies equal.
///
/// ```swift
/// let log = try NATSLog(NATSLogConfiguration(servers: ["nats://127.0.0.1:4222"], stream: "boards"))
/// let boards = try ReplicatedStore(path: "data", log: log)
/// try await boards.store.write { try $0.set(card) }  // the log has it, and so has this store
/// ```
/// Read and write ``store`` like any other store, and give it to managers and providers. A write returns after the log
/// and this store have it. Writes of other machines arrive in the background, as commits that followers of the store
/// receive. Reads are local, and never wait for the log. One process at a time may have the store open.
///
/// The store follows its log until it is closed, or until the last reference to ``store`` is released; ``store`` alone
/// keeps it running.
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

  /// Opens a store that follows a log.
  ///
  /// An empty log begins with the contents of the store. A new store begins with the newest copy in the log, or with
  /// the log's first message if there is no copy. If the store was away for longer than the log keeps messages, it
  /// becomes the newest copy in one commit, except for its own properties and tables. If that copy is more than 10 000
  /// positions ahead of the store, the store stops as `logLost`. The call waits for the log and for such a copy, but
  /// not for later messages: see ``caughtUp()``.
  ///
  /// A store that has followed the log before also opens if the log can't be reached. Reads work, writes fail as
  /// `unavailable`, and the store follows the log as soon as it is reachable.
  ///
  /// Migrations of the configuration that the log does not have run in a write that all machines apply, after the store
  /// has caught up. They need a reachable log.
  ///
  /// - Parameters:
  ///   - path: The folder of the store; created if it is missing.
  ///   - log: The log. No other object may use it; ``close()`` closes it.
  ///   - configuration: As that of `ModelStore`. With the durability `relaxed` a write waits for the log alone.
  /// - Throws: `StoreError` `unavailable` if a new store can't reach the log, `logLost` or `forked` for a log that is
  ///   not the store's, `replicated` for a store that can't join, `damaged` for a damaged copy; errors of opening a
  ///   store. After an error the log is closed.
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

  /// The threads of a store; they end when the store is released.
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

  /// Opens the store; if the log has a copy, it first replaces a store without writes.
  package static func begin(
    _ path: String, _ log: any ReplicationLog, _ configuration: ModelStore.Configuration,
    _ replica: ReplicaConfiguration = ReplicaConfiguration()
  ) throws -> ModelStore {
    try join(path, log, replica)
    var configuration = configuration
    configuration.migratesThroughLog = true
    let store = try ModelStore(path: path, configuration: configuration)
    do {
      // A machine that joined before there was a copy left such a store.
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

  /// Runs the migrations that the log does not have, in a write that all machines apply, after the store has caught up.
  private static func migrate(_ store: ModelStore, _ replica: Replica) throws {
    for attempt in 1... {
      guard try store.hasDueMigrations else { return }
      do {
        try replica.passBarrier()
        try store.write { try $0.runDueMigrations() }
      } catch let error as StoreError
        where error.code == .conflict && attempt < migrationAttemptMaximum
      {
        // Other machines wrote the type meanwhile.
      }
    }
  }

  /// Puts the declarations of the configuration's types in force, on all machines.
  private static func declareModels(_ store: ModelStore) throws {
    do {
      try store.declareModels()
    } catch let error as StoreError where error.code == .unavailable {
      // The store can be read without its log; the next opening declares the types.
    }
  }

  private static let migrationAttemptMaximum = 10

  /// Begins a missing store as the newest copy in a log.
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
    // Another process may have created the store meanwhile.
    if try !copy.become(path) { copy.remove() }
  }

  /// The position up to which this store has applied the log; after a write, that of the write or a later one.
  ///
  /// Another machine that receives this position can read the writes of this one: ``read(after:_:)``.
  ///
  /// - Throws: Errors of reading a store.
  public var position: UInt64 {
    get throws { try store.read { try $0.replicationRow?.position ?? 0 } }
  }

  /// The position of the store, and whether it follows the log.
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

  /// The outcome of a write whose answer was lost, according to the log up to the position of the store.
  ///
  /// - Parameter name: The `writeName` of the error with which the write failed; also in a later opening of the store.
  /// - Returns: The outcome; `nil` if the store has no write with that name. It keeps at least the last 9 000.
  /// - Throws: Errors of reading a store.
  /// - Complexity: As a read.
  public func outcome(ofWrite name: String) throws -> WriteOutcome? {
    try replica.outcome(ofWrite: name)
  }

  /// Checks that the store works, for the health check of a service.
  ///
  /// - Parameter silence: The longest time without an answer of the log; the store contacts it every few seconds.
  /// - Throws: The failure of the ``status`` if the store has stopped or the last look at the log failed, `StoreError`
  ///   `unavailable` if the log was silent for too long, `closed`.
  /// - Complexity: O(1); the call does not wait for the log.
  public func checkHealth(silence: Duration = .seconds(30)) throws {
    _ = try position
    let status = status
    if let failure = status.failure { throw failure }
    let age = status.lastHeard.map { ContinuousClock.now - $0 }
    if let age, age <= silence { return }
    throw StoreError(
      .unavailable, store.path,
      age.map { "the log has not answered for \($0)" } ?? "the log has not answered yet")
  }

  /// Waits until this store has applied all messages that the log had at the time of the call, from all machines.
  ///
  /// A read after it sees every write that had returned before, on any machine. The call appends a message of about 100
  /// bytes to the log; callers at the same time share one. It does not trust the end that a server names, because other
  /// servers may have replaced that server as the leader. So it needs the right to append.
  ///
  /// - Throws: `StoreError` `unavailable` if the log does not accept the message within 5 s, or 10 s after other calls
  ///   (longer after entries of more than 512 KiB); `logLost`, `forked` or `needsUpgrade` if the store can't follow the
  ///   log any more, `closed`.
  /// - Complexity: O(size of the messages that the store lacks), and the wait for the log. O(size of the store) if a
  ///   copy replaces them.
  public func caughtUp() async throws {
    try await blocking(named: "pando.caughtUp", store.path) { [replica] in
      try replica.passBarrier()
    }
  }

  /// Puts a copy of the store into the log, without the properties and tables of this store alone.
  ///
  /// Machines do this automatically when the newest copy is older than a third of the log's limits, or than a million
  /// messages. The log keeps the two newest copies.
  ///
  /// - Returns: The position of the copy.
  /// - Throws: `StoreError` `unavailable` if the log can't be reached, or no longer has the messages after this store's
  ///   position, so that the copy is of no use; `logLost` or `forked` if the log is no longer the store's; `closed`;
  ///   `LMDBError` if the copy has no room in the store's folder.
  /// - Complexity: O(size of the store).
  @discardableResult
  public func putSnapshot() async throws -> UInt64 {
    try await blocking(named: "pando.putSnapshot", store.path) { [replica] in
      try replica.putSnapshot()
    }
  }

  /// Puts a copy of a store into a log, as ``putSnapshot()``; this or another process may have the store open.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - log: The log; it stays open.
  /// - Returns: The position of the copy.
  /// - Throws: `StoreError` `replicated` if the store has followed no log; as ``putSnapshot()``; errors of opening a
  ///   store.
  /// - Complexity: O(size of the store).
  @discardableResult
  public static func putSnapshot(path: String, log: any ReplicationLog) async throws -> UInt64 {
    try await blocking(named: "pando.putSnapshot", path) { try LogRepair.putSnapshot(path, log) }
  }

  /// Copies a store for another machine, which can follow the log with it.
  ///
  /// A plain copy contains the requests that wait for a server, and other rows of that store alone; this copy does not.
  ///
  /// - Parameters:
  ///   - path: The folder of the store; other processes may have it open.
  ///   - destination: A folder without a store, on the same disk.
  /// - Returns: The position of the copy.
  /// - Throws: `StoreError` `replicated` if the store has followed no log, or if the destination has a store; errors of
  ///   opening a store.
  /// - Complexity: O(size of the store).
  @discardableResult
  public static func copy(path: String, to destination: String) async throws -> UInt64 {
    try await blocking(named: "pando.copy", path) { try LogRepair.copy(path, to: destination) }
  }

  /// Continues a log that has lost messages from the contents of a store.
  ///
  /// The other machines become equal to that store; writes that only they have are lost. Call it if the log has lost
  /// its end or all of its messages, on the machine with the highest ``position``. No process may have the store open.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - log: The log; it stays open.
  /// - Returns: The position from which the log continues.
  /// - Throws: `StoreError` `replicated` if the store has followed no log, `logLost` for a log that another store has
  ///   begun, `unavailable`; errors of opening a store. After an error the call can be repeated.
  /// - Complexity: O(size of the store).
  @discardableResult
  public static func republish(path: String, log: any ReplicationLog) async throws -> UInt64 {
    try await blocking(named: "pando.republish", path) { try LogRepair.republish(path, log) }
  }

  /// Replaces a store that can't follow its log any more by the newest copy in the log.
  ///
  /// The store loses the data that no other machine has. Its own properties and tables stay. Its cursors expire, unless
  /// the history of the copy contains its commits. No process may have the store open.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - log: The log; it stays open.
  /// - Returns: The new position of the store.
  /// - Throws: `StoreError` `replicated` if the store has followed no log, `unavailable` if the log has no copy or
  ///   can't be reached, `logLost` or `forked` if the copy is not of the log; errors of opening a store. After an error
  ///   the store is unchanged.
  /// - Complexity: O(size of the copy), and O(*n* log *n*) for *n* rows of the store and the copy, which are compared.
  @discardableResult
  public static func replace(path: String, log: any ReplicationLog) async throws -> UInt64 {
    try await blocking(named: "pando.replace", path) { try LogRepair.replace(path, log) }
  }

  /// Compares a store with the newest copy in the log and the later messages.
  ///
  /// One machine made the copy, so call this on all machines to compare each with that one. This or another process may
  /// have the store open. The call needs room for two copies of the store in the store's folder.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - log: The log; it stays open.
  /// - Returns: The differences in types, nodes and lists at the position of the store.
  /// - Throws: `StoreError` `replicated` if the store has followed no log, `unavailable` if the log has no copy, if the
  ///   copy is ahead of the store, or if the log can't be reached, `logLost` or `forked` if the log is not that of the
  ///   store; errors of opening a store.
  /// - Complexity: O(size of the store), and O(size of the messages after the copy).
  package static func compare(
    path: String, log: any ReplicationLog
  ) async throws -> ReplicaComparison {
    try await blocking(named: "pando.compare", path) { try ReplicaCheck.run(path, log) }
  }

  /// The outcome of a write of a store whose answer was lost; other processes may have the store open.
  ///
  /// - Parameters:
  ///   - name: The `writeName` of the error with which the write failed.
  ///   - path: The folder of the store.
  /// - Returns: As ``outcome(ofWrite:)``.
  /// - Throws: Errors of opening and reading a store.
  /// - Complexity: As opening a store.
  public static func outcome(ofWrite name: String, path: String) throws -> WriteOutcome? {
    if let store = ModelStore.opened(at: path) { return try Replica.outcome(ofWrite: name, store) }
    var configuration = ModelStore.Configuration()
    configuration.isReadOnly = true
    let store = try ModelStore(path: path, configuration: configuration)
    defer { store.close() }
    return try Replica.outcome(ofWrite: name, store)
  }

  /// Reads a version that contains all messages up to a position of the log.
  ///
  /// - Parameters:
  ///   - position: A position of any machine, from its ``position``.
  ///   - body: Receives the version on a reader thread, as in the `async` form of `ModelStore.read`.
  /// - Returns: The result of `body`.
  /// - Throws: As ``caughtUp()`` if the store has not reached the position; also `unavailable` if the log ends before
  ///   it; errors of `body`.
  /// - Complexity: As `ModelStore.read(_:)` if the store has reached the position; else the call reads the end of the
  ///   log, and the store applies the missing messages.
  public func read<Result: Sendable>(
    after position: UInt64, _ body: @escaping @Sendable (ModelSnapshot) throws -> Result
  ) async throws -> Result {
    if try self.position < position {
      // This needs no barrier: a log that names any end at or after the position has the position.
      try await blocking(named: "pando.caughtUp", store.path) { [replica, log] in
        try replica.takeIn(upTo: log.end())
      }
    }
    return try await store.read { [path = store.path] snapshot in
      let reached = try snapshot.replicationRow?.position ?? 0
      guard reached >= position else {
        throw StoreError(
          .unavailable, path,
          "the log ends at position \(reached), before the requested position \(position)"
        )
      }
      return try body(snapshot)
    }
  }

  /// Waits for the queued writes, and closes the store and the log.
  ///
  /// Writes without an answer of the log after four seconds fail as `unavailable`. The call cancels a copy that is
  /// being put into the log.
  ///
  /// - Complexity: O(1), and the wait for queued writes, five seconds at most, and for running reads.
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

  /// In nanoseconds: how long writes wait for the log while the store is being closed.
  private static let closingWait: Int64 = 4_000_000_000

  private func closeLog() {
    if isLogClosed.withLock({ exchange(&$0, with: true) }) { return }
    log.close()
  }
}

/// Runs a blocking closure on a thread of its own.
private func blocking<Result: Sendable>(
  named name: String, _ path: String, _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await onThread(named: name, path) { _ in try translatingFaults(path, body) }
}
