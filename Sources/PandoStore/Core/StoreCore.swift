import FoundationEssentials
import PandoLMDB
import PandoModels
import PandoSystem

/// What the parts of an open store share: the environment, the tables, the types, the counters.
///
/// Any thread.
final class StoreCore: Sendable {
  let path: String
  let environment: Environment
  let tables: StoreTables
  let directory = TypeDirectory()
  let configuration: StoreConfiguration
  /// Names this opening of the store in change sets, so that a process knows its own.
  let author = UUID().uuidString
  /// The identifier that the store gets if it is new.
  let newStoreIdentifier: [UInt8]
  /// Brings what is committed in this process to those who follow the store.
  let feed: CommitFeed
  /// What tells whether the file still holds the store that was opened.
  let contents = Locked(StoreContents())
  private let counters = Locked(StoreCounters())
  /// Types that have been reported as unknown.
  private let unknownTypes = Locked<Set<ByteString>>([])

  init(path: String, environment: Environment, configuration: StoreConfiguration) throws {
    self.path = path
    self.environment = environment
    self.configuration = configuration
    tables = try StoreTables(environment, create: !configuration.isReadOnly)
    newStoreIdentifier = unsafe withUnsafeBytes(of: UUID().uuid) { unsafe Array($0) }
    for type in configuration.models { _ = try directory.name(of: type) }
    for migration in configuration.migrations {
      directory.noteMigration(ofTypeNamed: migration.typeName, version: migration.version)
    }
    let watcher = CommitWatcher(environment)
    feed = CommitFeed(watcher, tellsFollowers: configuration.followsOtherProcesses)
    watcher.onPolling { [weak self] reason in self?.report(.watchesByPolling(reason: reason)) }
    if !configuration.isReadOnly { MigrationWatch.shared.follow(self) }
  }

  /// Whether a write needs the models themselves beside their records.
  var needsModels: Bool {
    !configuration.models.isEmpty || configuration.reportsChildDisagreement
  }

  func now() -> Date { Date() }

  func read<Result>(_ body: (borrowing StoreReader) throws -> Result) throws -> Result {
    try environment.read { snapshot in
      try body(
        StoreReader(snapshot, tables: tables, directory: directory, pending: nil))
    }
  }

  var closed: StoreError { StoreError(.closed, path, "the store has been closed") }

  /// Runs what looks at the environment, and names the store where that has been closed.
  @inline(never)
  func whileOpen(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as LMDBError where error.code == .closed {
      throw closed
    }
  }

  var currentCounters: StoreCounters {
    var counters = counters.withLock { $0 }
    counters.wakes = environment.wakeCount
    return counters
  }

  func count(_ body: (inout StoreCounters) -> Void) { counters.withLock { body(&$0) } }

  /// Reports, once for each type, that records of it are written whose Swift type this process does not know.
  func reportUnlessKnown(typeNamed name: String) {
    guard directory.swiftType(named: name) == nil,
      unknownTypes.withLock({ $0.insert(ByteString(name)).inserted })
    else { return }
    report(.unknownType(typeName: name))
  }

  func report(_ event: StoreEvent) {
    count { counters in
      switch event {
      case .slowCommit: counters.slowCommits += 1
      case .mapGrown: counters.mapGrowths += 1
      case .staleReadersCleared(let count): counters.staleReadersCleared += count
      case .failedWrite: counters.failedWrites += 1
      case .conflictingContent: counters.conflictingContents += 1
      case .fieldKept: counters.keptFields += 1
      case .reloaded: counters.reloads += 1
      case .childrenDisagree, .watchesByPolling, .unknownType, .newerSchema, .waitsForMigration,
        .replicaStopped, .replicaReplaced, .replicaDisconnected, .replicaReconnected,
        .weakLog:
        break
      }
    }
    configuration.events?(event)
    configuration.observer?.storeDidReport(event)
  }
}

/// Hands events of the environment to the store's core, which exists a moment later.
///
/// What comes before that moment waits for it. Any thread.
final class EventRelay: Sendable {
  private struct State {
    weak var core: StoreCore?
    /// What came before there was a core.
    var early: [EnvironmentEvent]? = []
  }

  private let state = Locked(State())

  func connect(_ target: StoreCore) {
    let early = state.withLock { state in
      state.core = target
      return exchange(&state.early, with: nil)
    }
    for event in early ?? [] { deliver(target, event) }
  }

  func receive(_ event: EnvironmentEvent) {
    let core = state.withLock { state in
      state.early?.append(event)
      return state.core
    }
    if let core { deliver(core, event) }
  }

  private func deliver(_ core: StoreCore, _ event: EnvironmentEvent) {
    switch event {
    case .mapGrown(let size): core.report(.mapGrown(sizeInBytes: size))
    case .staleReadersCleared(let count): core.report(.staleReadersCleared(count: count))
    case .writeQueued: break  // the store has a writer of its own
    case .writesRefused: break  // the write that failed is reported with its error
    }
  }
}

/// Something that a service may want to log or count.
///
/// ```swift
/// configuration.events = { event in
///   guard case .slowCommit(let duration, let writeCount) = event else { return }
///   print("\(writeCount) writes took \(duration)")
/// }
/// ```
///
/// Given to the `events` closure of ``ModelStore/Configuration``; the set may grow.
public enum StoreEvent: Sendable {
  /// A flush took longer than `slowCommitThreshold`.
  case slowCommit(duration: Duration, writeCount: Int)
  /// The memory map was full and has been grown.
  case mapGrown(sizeInBytes: Int)
  /// Reader slots of processes that have died were freed.
  case staleReadersCleared(count: Int)
  /// A write failed; its caller has the error too.
  case failedWrite(any Error)
  /// One tree held an identifier twice with different content; the last in traversal order counts.
  case conflictingContent(identifier: String, typeName: String)
  /// A merge brought a field that the type can't decode; the field kept its old value.
  case fieldKept(identifier: String, typeName: String, field: String)
  /// A write has changed records of a type that no call of this process has named; told once for each type.
  ///
  /// The Swift type may declare a `merge(_:)` of its own, which did not count. Name it in
  /// ``StoreConfiguration/models`` where a process writes untyped trees, or other types of the same nodes.
  case unknownType(typeName: String)
  /// The hand-written `forEach` of a model names other children than its coding (debug builds).
  case childrenDisagree(identifier: String, typeName: String)
  /// The change log did not reach back as far as what is live was behind: all of it was read again.
  ///
  /// - Parameter commitCount: How many commits it was behind.
  case reloaded(commitCount: Int)
  /// Commits of other processes are looked for every 10 ms, because the lock file can't be slept on.
  case watchesByPolling(reason: String)
  /// A program has written a type of which the store has records of a newer schema version.
  ///
  /// - Parameters:
  ///   - typeName: The type.
  ///   - storedVersion: The newest schema version that has written the type.
  ///   - programVersion: The version of the type in this program.
  case newerSchema(typeName: String, storedVersion: Int, programVersion: Int)
  /// A write, or the opening of the store, has waited a second for another process that migrates it.
  case waitsForMigration
  /// A replicated store writes and takes in nothing more, for this reason; it can be read.
  case replicaStopped(StoreError)
  /// A replicated store became the newest copy beside its log, which had let go of what it needed.
  case replicaReplaced(position: UInt64)
  /// A replicated store can't take in what others write, for this reason; it tries again.
  case replicaDisconnected(StoreError)
  /// A replicated store takes in again what others write.
  case replicaReconnected
  /// The log of a replicated store does not promise something as it is set up; told once for each.
  case weakLog(String)
}

/// How often things have happened since the store was opened.
///
/// ```swift
/// let counters = store.counters
/// print(counters.writes, "writes in", counters.flushes, "flushes")
/// ```
public struct StoreCounters: Hashable, Sendable {
  /// Writes that were committed.
  public internal(set) var writes = 0
  /// Shared transactions that ended well; one serves several writes, and flushes what they changed.
  public internal(set) var flushes = 0
  /// Writes that failed or whose closure threw.
  public internal(set) var failedWrites = 0
  /// Flushes slower than `slowCommitThreshold`.
  public internal(set) var slowCommits = 0
  /// Times that the memory map grew.
  public internal(set) var mapGrowths = 0
  /// Reader slots of dead processes that were freed.
  public internal(set) var staleReadersCleared = 0
  /// Trees that held an identifier twice with different content.
  public internal(set) var conflictingContents = 0
  /// Fields that kept their value in a merge because the type could not decode the new one.
  public internal(set) var keptFields = 0
  /// Commits of other processes that what is live in this one shows.
  public internal(set) var othersCommits = 0
  /// How long after its commit the newest of them was shown, by the clocks of both processes.
  public internal(set) var lastDelayOfOthers: Duration?
  /// How often a commit of another process woke the thread that watches for them; one that finds it awake
  /// does not count.
  public internal(set) var wakes = 0
  /// How often all that is live was read again, as the change log did not reach back.
  public internal(set) var reloads = 0
}
