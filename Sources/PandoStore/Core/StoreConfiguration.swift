import FoundationEssentials
public import PandoLMDB
public import PandoModels

/// A change of the stored records of one type, made once when a store is opened.
///
/// ```swift
/// configuration.migrations = [
///   Migration(typeName: "Person", version: 2) { record in
///     guard case .string(let name)? = record["fullName"] else { return }
///     record["fullName"] = nil
///     record["name"] = .string(name.capitalized)
///   }
/// ]
/// ```
///
/// Most changes need none: a new optional field is nil, a new required one has the declared
/// default, a renamed one has its former name.
public struct Migration: Sendable {
  /// The type of the changed records.
  public let typeName: String
  /// The schema version of the records afterwards, at least 1; stored in the file.
  public let version: Int
  let transform: @Sendable (inout TreeNode) throws -> Void

  /// Declares a migration.
  ///
  /// - Parameters:
  ///   - typeName: The type of the changed records.
  ///   - version: The version of the records afterwards. Migrations of a type run in the order of
  ///     their versions, each only if the store has a lower version.
  ///   - transform: Changes the fields of one record. Children appear as `.reference`. It can't
  ///     change identifier or type. If it throws, the store stays unchanged and the opening fails.
  public init(
    typeName: String, version: Int, transform: @escaping @Sendable (inout TreeNode) throws -> Void
  ) {
    precondition(version >= 1, "a migration to version \(version); versions begin at 1")
    self.typeName = typeName
    self.version = version
    self.transform = transform
  }
}

/// The settings with which a store is opened.
///
/// ```swift
/// var configuration = ModelStore.Configuration()
/// configuration.durability = .relaxed()
/// configuration.events = { event in print(event) }
/// let store = try ModelStore(path: "data", configuration: configuration)
/// ```
public struct StoreConfiguration: Sendable {
  /// How much of the file is checked when the store is opened.
  ///
  /// ```swift
  /// var configuration = ModelStore.Configuration()
  /// configuration.verifying = .pages  // a damaged file throws, and does not end the process
  /// let store = try ModelStore(path: "data", configuration: configuration)
  /// ```
  public enum Verification: Sendable {
    /// Sizes and meta pages only; this check always runs.
    case none
    /// Every page, without the memory map: a damaged file is an error and never a signal.
    case pages
    /// Every page, then every record, index row and collection.
    case everything
  }

  /// The treatment of a write to a type whose records a newer program has written.
  ///
  /// ```swift
  /// var configuration = ModelStore.Configuration()
  /// configuration.newerSchemas = .event  // during a rolling deploy of two versions that fit
  /// ```
  /// A write drops the fields that the program's type does not have. So a program of an older
  /// schema version destroys data of a newer one.
  public enum NewerSchemas: Sendable, Hashable {
    /// The write throws ``StoreError`` `newerSchema` and has no effect.
    case refuse
    /// The write is done, and `events` receives
    /// ``StoreEvent/newerSchema(typeName:storedVersion:programVersion:)`` once per flush.
    case event
    /// The write is done.
    case allow
  }

  /// The address space for the file, in bytes; it grows when it is full, and begins smaller if the
  /// process has too little.
  public var mapSizeInBytes: Int = 256 << 30
  /// The most bytes of pages in use; a write that needs more throws `LMDBError` `mapFull`.
  ///
  /// The map may grow beyond it by a sixteenth or by 64 MiB, whichever is more, for writes that
  /// only remove data. So a full store can be emptied. While a long read keeps freed pages, other
  /// writes may use half of this room; then they throw `mapFull`.
  public var maximumMapSizeInBytes: Int = 4 << 40
  /// The most readers of all processes together.
  public var maximumReaders: Int = 1024
  /// How long a reader waits for a free slot, in seconds; 0 to throw at once.
  ///
  /// A thread that already reads does not wait: it may hold the slot that it waits for.
  public var readerTimeoutInSeconds: Int = 30
  /// The most threads that run reads of tasks at a time, at least 1.
  ///
  /// They run the `async` form of ``ModelStore/read(_:)`` and the first reads of what a program
  /// follows. Other reads wait in the order of their calls. The default is the number of cores, at
  /// least 2.
  public var readerThreadCount = max(2, ProcessInfo.processInfo.activeProcessorCount)
  /// How much a power failure may lose.
  public var durability: Durability = .full
  /// Whether the store refuses writes; another process may write at the same time.
  public var isReadOnly = false
  /// Whether to open a store on a read-only mount, assuming that no process writes it.
  ///
  /// Without it, such a store throws `LMDBError` `readOnlyFileSystem`. Readers there leave no mark,
  /// so a writer on another mount would reuse their pages, and they would read arbitrary data. On a
  /// writable mount this setting has no effect.
  ///
  /// ```swift
  /// var configuration = ModelStore.Configuration()
  /// (configuration.isReadOnly, configuration.assumingNoWriter) = (true, true)  // the store of an image
  /// ```
  public var assumingNoWriter = false
  /// The model types of the program: what they declare is in force once the store is open.
  ///
  /// The opening makes their indexes and unique indexes, and records their deletion rules and schema
  /// versions, unless the store is read-only or a newer program has written the type. A type of its
  /// own `merge(_:)` is known from here on. Another type is registered by the first call that uses it.
  /// A write that changes records of an unknown type causes ``StoreEvent/unknownType(typeName:)``,
  /// and one of a type whose indexes are missing ``StoreEvent/missingIndexes(typeName:fields:)``.
  public var models: [any SimpleModel.Type] = []
  /// Changes of old records, each made once; see ``Migration``.
  public var migrations: [Migration] = []
  /// Called with the progress of a migration, on the thread that opens the store.
  public var migrationProgress: (@Sendable (StoreProgress) -> Void)?
  /// How many commits ``ModelSnapshot/changes(since:)`` reaches back, at least 1.
  ///
  /// The store uses the largest number of any opening for writing, so that no process trims the log
  /// of another; `pando retention` lowers it. The default is 10 000. A full store keeps fewer if a
  /// write lacks that room.
  public var changeLogLimit = Int(ChangeLogRetention.standard.commitCount)
  /// The most commits kept for a cursor that is behind; see ``ChangeCursor``.
  ///
  /// Beyond that, the cursor has to start anew. The store uses the largest number of any opening.
  /// An abandoned cursor keeps that many commits until it is removed. The default is 100 000.
  public var changeLogLimitForCursors = Int(ChangeLogRetention.standard.cursorCommitCount)
  /// Whether each commit is kept with its written records, in their state at that time.
  ///
  /// Otherwise ``ModelStore/changes(since:values:)`` returns the present records. Once an opening
  /// has turned it on, every writing process keeps them, until `pando retention` turns it off.
  public var changeLogKeepsRecords = false
  /// Whether live objects show commits of other processes automatically.
  ///
  /// This uses a sleeping thread while there are providers, followed queries or caches. Otherwise
  /// they show such commits after the next write, fetch or `refresh()`.
  public var followsOtherProcesses = true
  /// Whether this opening raises the store's retention to its own; a new store always uses it.
  package var raisesRetention = true
  /// Whether the owner migrates a store that follows a log or is empty.
  package var migratesThroughLog = false
  /// The treatment of a write to a type whose records a newer program has written.
  ///
  /// The version of this program is the type's `schemaVersion`, 1 without `SchemaVersioned`, or
  /// that of its newest migration in ``migrations``. The store records the newest version that has
  /// written the type or that a migration has reached. Reads and deletes are always allowed.
  public var newerSchemas = NewerSchemas.refuse
  /// How much is checked when the store is opened.
  public var verifying: Verification = .none
  /// Called with events that a service may want to log, on any thread; must not block or use the
  /// store.
  public var events: (@Sendable (StoreEvent) -> Void)?
  /// Receives every flush and event, for metrics and traces.
  public var observer: (any StoreObserver)?
  /// The duration above which a flush causes an event.
  public var slowCommitThreshold: Duration = .seconds(1)

  #if DEBUG
    var reportsChildDisagreement = true
  #else
    var reportsChildDisagreement = false
  #endif

  /// The retention that this configuration requires.
  var retention: ChangeLogRetention {
    ChangeLogRetention(
      commitCount: UInt64(changeLogLimit), cursorCommitCount: UInt64(changeLogLimitForCursors),
      keepsRecords: changeLogKeepsRecords)
  }

  /// Makes a configuration with the defaults.
  public init() {}
}
