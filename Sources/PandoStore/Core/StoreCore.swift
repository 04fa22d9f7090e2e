import FoundationEssentials
import PandoLMDB
import PandoModels
import PandoSystem

/// The shared parts of an open store: environment, tables, types, counters.
///
/// Any thread. Each `Locked` property has its own lock; all others are constant.
final class StoreCore: Sendable {
  let path: String
  let environment: Environment
  let tables: StoreTables
  let directory = TypeDirectory()
  let configuration: StoreConfiguration
  /// The name of this opening in change sets, by which a process finds its own.
  let author = UUID().uuidString
  /// The identifier of the store if it is new.
  let newStoreIdentifier: [UInt8]
  /// Passes commits of this process to the followers of the store.
  let feed: CommitFeed
  /// Run the reads that tasks and live objects wait for.
  let readers: LimitedThreads
  /// The expected state of the file, to detect an exchanged one.
  let contents = Locked(StoreContents())
  private let counters = Locked(StoreCounters())
  /// Types that were already reported as unknown.
  private let unknownTypes = Locked<Set<ByteString>>([])
  /// Types whose declared indexes were compared with those of the store.
  private let comparedTypes = Locked<Set<ObjectIdentifier>>([])

  init(path: String, environment: Environment, configuration: StoreConfiguration) throws {
    self.path = path
    self.environment = environment
    self.configuration = configuration
    readers = LimitedThreads(atMost: configuration.readerThreadCount)
    tables = try StoreTables(environment, create: !configuration.isReadOnly)
    newStoreIdentifier = unsafe withUnsafeBytes(of: UUID().uuid) { unsafe Array($0) }
    for type in configuration.models { _ = try directory.name(of: type) }
    for migration in configuration.migrations {
      directory.noteMigration(ofTypeNamed: migration.typeName, version: migration.version)
    }
    let watcher = CommitWatcher(environment)
    feed = CommitFeed(watcher, tellsFollowers: configuration.followsOtherProcesses)
    watcher.onPolling { [weak self] reason in self?.report(.watchesByPolling(reason: reason)) }
    // No other process can migrate a store in memory.
    if !configuration.isReadOnly, environment.folder != nil { MigrationWatch.shared.follow(self) }
  }

  /// Whether a write needs the models in addition to their records.
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

  /// Whether the declared indexes of a type were not compared with those of the store yet.
  func beginComparing(_ type: any SimpleModel.Type) -> Bool {
    comparedTypes.withLock { $0.insert(ObjectIdentifier(type)).inserted }
  }

  var closed: StoreError { StoreError(.closed, path, "the store has been closed") }

  /// Runs `body`, and turns the environment's `closed` into an error of the store.
  @inline(never)
  func whileOpen<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
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

  /// Reports, once per type, writes to records whose Swift type is not registered in this process.
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
      case .childrenDisagree, .watchesByPolling, .unknownType, .missingIndexes, .newerSchema,
        .waitsForMigration, .replicaStopped, .replicaReplaced, .replicaDisconnected,
        .replicaReconnected,
        .weakLog:
        break
      }
    }
    configuration.events?(event)
    configuration.observer?.storeDidReport(event)
  }
}

/// Passes events of the environment to the store's core, which is created a moment later.
///
/// It keeps earlier events for the core. Any thread.
final class EventRelay: Sendable {
  private struct State {
    weak var core: StoreCore?
    /// The events before the core existed.
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
    case .writesRefused: break  // the write that failed is reported with its error
    }
  }
}

/// An event that a service may want to log or count.
///
/// ```swift
/// configuration.events = { event in
///   guard case .slowCommit(let duration, let writeCount) = event else { return }
///   print("\(writeCount) writes took \(duration)")
/// }
/// ```
///
/// The `events` closure of ``ModelStore/Configuration`` receives it; the set may grow.
public enum StoreEvent: Sendable {
  /// A flush took longer than `slowCommitThreshold`.
  case slowCommit(duration: Duration, writeCount: Int)
  /// The memory map was full and has grown.
  case mapGrown(sizeInBytes: Int)
  /// The slots of dead readers were freed.
  case staleReadersCleared(count: Int)
  /// A write failed; its caller gets the error, too.
  case failedWrite(any Error)
  /// A tree had an identifier twice with different content; the last in traversal order counts.
  case conflictingContent(identifier: String, typeName: String)
  /// A merge had a field that the type can't decode; the field kept its old value.
  case fieldKept(identifier: String, typeName: String, field: String)
  /// A write changed records of a type that is not registered; reported once per type.
  ///
  /// The Swift type may declare its own `merge(_:)`, which was not used. List it in
  /// ``StoreConfiguration/models`` if a process writes untyped trees or other types.
  case unknownType(typeName: String)
  /// A write used a type that declares indexes which the store does not have; reported once per type.
  ///
  /// Unique values are not checked, and queries scan. List the type in
  /// ``StoreConfiguration/models``, or call ``ModelStore/addIndexes(of:droppingUndeclared:)``.
  ///
  /// - Parameters:
  ///   - typeName: The type.
  ///   - fields: The fields of each missing index, joined by commas.
  case missingIndexes(typeName: String, fields: [String])
  /// The hand-written `forEach` of a model has other children than its coding (debug builds).
  case childrenDisagree(identifier: String, typeName: String)
  /// The change log no longer reached back far enough for the live objects: all were read again.
  ///
  /// - Parameter commitCount: The number of missed commits.
  case reloaded(commitCount: Int)
  /// The store polls for others' commits every 10 ms, because it can't use the lock file.
  case watchesByPolling(reason: String)
  /// A program wrote a type that the store has in a newer schema version.
  ///
  /// - Parameters:
  ///   - typeName: The type.
  ///   - storedVersion: The newest schema version that has written the type.
  ///   - programVersion: The version of the type in this program.
  case newerSchema(typeName: String, storedVersion: Int, programVersion: Int)
  /// A write, or the opening of the store, has waited a second for a migration of another process.
  case waitsForMigration
  /// A replicated store has stopped for this reason; it can only be read.
  case replicaStopped(StoreError)
  /// A snapshot replaced a replicated store, because its log no longer had the missing entries.
  case replicaReplaced(position: UInt64)
  /// A replicated store can't receive entries of other machines for this reason; it retries.
  case replicaDisconnected(StoreError)
  /// A replicated store receives entries of other machines again.
  case replicaReconnected
  /// The log of a replicated store lacks a guarantee in its configuration; reported once for each.
  case weakLog(String)
}

/// Counts of events since the store was opened.
///
/// ```swift
/// let counters = store.counters
/// print(counters.writes, "writes in", counters.flushes, "flushes")
/// ```
public struct StoreCounters: Hashable, Sendable {
  /// The number of committed writes.
  public internal(set) var writes = 0
  /// The number of committed shared transactions; one serves several writes.
  public internal(set) var flushes = 0
  /// The number of writes that failed or whose closure threw.
  public internal(set) var failedWrites = 0
  /// The number of flushes slower than `slowCommitThreshold`.
  public internal(set) var slowCommits = 0
  /// How often the memory map grew.
  public internal(set) var mapGrowths = 0
  /// The number of freed slots of dead readers.
  public internal(set) var staleReadersCleared = 0
  /// The number of trees that contained an identifier twice with different content.
  public internal(set) var conflictingContents = 0
  /// The number of fields kept in a merge because the type could not decode the new value.
  public internal(set) var keptFields = 0
  /// The number of commits of other processes that live objects of this one show.
  public internal(set) var othersCommits = 0
  /// How late the newest of these commits was shown, by the clocks of both processes.
  public internal(set) var lastDelayOfOthers: Duration?
  /// How often a commit of another process woke the watching thread; it does not count if the
  /// thread was awake.
  public internal(set) var wakes = 0
  /// How often all live objects were read again because the change log did not reach back.
  public internal(set) var reloads = 0
}
