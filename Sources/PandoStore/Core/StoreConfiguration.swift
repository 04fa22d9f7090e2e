public import PandoLMDB
public import PandoModels

/// A change of the stored records of one type, done once when a store is opened.
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
/// Most changes need none: a new optional field reads as nil, a new required one takes the default
/// that the type declares, and a renamed one is found by its former name.
public struct Migration: Sendable {
  /// The type whose records are changed.
  public let typeName: String
  /// The schema version that the records have afterwards, at least 1; the store remembers it.
  public let version: Int
  let transform: @Sendable (inout TreeNode) throws -> Void

  /// Declares a migration.
  ///
  /// - Parameters:
  ///   - typeName: The type whose records are changed.
  ///   - version: The version that the records have afterwards; migrations of a type run in the
  ///     order of their versions, each only if the store has not reached its version.
  ///   - transform: Changes the fields of one record. Children appear as `.reference`. It can't
  ///     change identifier or type. Throwing leaves the store as it was and fails the opening.
  public init(
    typeName: String, version: Int, transform: @escaping @Sendable (inout TreeNode) throws -> Void
  ) {
    precondition(version >= 1, "a migration to version \(version); versions begin at 1")
    self.typeName = typeName
    self.version = version
    self.transform = transform
  }
}

/// How far a migration has come.
///
/// ```swift
/// configuration.migrationProgress = { progress in
///   print(progress.typeName, progress.completedCount, "of", progress.totalCount)
/// }
/// ```
public struct MigrationProgress: Sendable {
  /// The type whose records are being changed.
  public let typeName: String
  /// The version they will have.
  public let version: Int
  /// Records done so far.
  public let completedCount: Int
  /// Records in all.
  public let totalCount: Int
}

/// How a store is opened.
///
/// ```swift
/// var configuration = ModelStore.Configuration()
/// configuration.durability = .relaxed()
/// configuration.events = { event in print(event) }
/// let store = try ModelStore(path: "data", configuration: configuration)
/// ```
public struct StoreConfiguration: Sendable {
  /// How much of the file is checked before the store is used.
  ///
  /// ```swift
  /// var configuration = ModelStore.Configuration()
  /// configuration.verifying = .pages  // a damaged file throws, and does not end the process
  /// let store = try ModelStore(path: "data", configuration: configuration)
  /// ```
  public enum Verification: Sendable {
    /// Sizes and meta pages only; always done.
    case none
    /// Every page, read without the memory map: a damaged file is an error and never a signal.
    case pages
    /// Every page, then every record, index row and collection.
    case everything
  }

  /// What becomes of a write of a type whose records a newer program has written.
  ///
  /// ```swift
  /// var configuration = ModelStore.Configuration()
  /// configuration.newerSchemas = .event  // during a rolling deploy of two versions that fit
  /// ```
  /// A write of a type drops the fields that the type does not have. So a program of an older schema
  /// version destroys what a newer one has stored.
  public enum NewerSchemas: Sendable, Hashable {
    /// It throws ``StoreError`` `newerSchema`, and nothing of it is kept.
    case refuse
    /// It is done, and `events` gets ``StoreEvent/newerSchema(typeName:storedVersion:programVersion:)``, once
    /// a flush.
    case event
    /// It is done.
    case allow
  }

  /// Address space for the file, in bytes; it grows by itself when it is full, and begins smaller
  /// where the process may not have as much.
  public var mapSizeInBytes: Int = 256 << 30
  /// How many bytes of pages may be in use; a write that would need more throws `LMDBError` `mapFull`.
  ///
  /// The map itself may grow beyond it, by a sixteenth of it or by 64 MiB, whichever is more: room for writes that remove
  /// something and store nothing new, so that a full store can be emptied. While a long
  /// read keeps freed pages, writes that store something use half of that room at most; then they throw `mapFull`.
  public var maximumMapSizeInBytes: Int = 4 << 40
  /// How many readers, of all processes together, may be active at once.
  public var maximumReaders: Int = 1024
  /// How long a reader waits while so many are active, in seconds; 0 to throw at once.
  ///
  /// A thread that reads already does not wait: the place that it waits for may be its own.
  public var readerTimeoutInSeconds: Int = 30
  /// What a commit waits for, and so what a power cut can take.
  public var durability: Durability = .full
  /// Whether the store refuses writes; another process may write at the same time.
  public var isReadOnly = false
  /// Whether a file system that is mounted read-only may be opened, because no other process writes to the store.
  ///
  /// Without it such a store throws `LMDBError` `readOnlyFileSystem`: readers leave no mark there, so a writer that reaches
  /// the store another way, as through the other mount of a volume, would use their pages again, and they would read
  /// anything. Elsewhere it changes nothing.
  ///
  /// ```swift
  /// var configuration = ModelStore.Configuration()
  /// (configuration.isReadOnly, configuration.assumingNoWriter) = (true, true)  // the store of an image
  /// ```
  public var assumingNoWriter = false
  /// Types that the store knows from the beginning; others it knows from the first call that names them.
  ///
  /// What a type declares, such as a `merge(_:)` of its own, counts for its records once the store knows it. A write
  /// that changes records of an unknown type is told as ``StoreEvent/unknownType(typeName:)``.
  public var models: [any SimpleModel.Type] = []
  /// Changes of old records, each done once; see ``Migration``.
  public var migrations: [Migration] = []
  /// Told how far a migration has come; called on the thread that opens the store.
  public var migrationProgress: (@Sendable (MigrationProgress) -> Void)?
  /// How many commits ``ModelSnapshot/changes(since:)`` reaches back, at least 1.
  ///
  /// The store keeps the largest number that any opening for writing has asked for, so that no process trims
  /// what another one needs; `pando retention` lowers it. 10 000 unless set.
  /// A full store keeps fewer where a write lacks that room.
  public var changeLogLimit = Int(ChangeLogRetention.standard.commitCount)
  /// How many commits are kept at most for a cursor that has not come further; see ``ChangeCursor``.
  ///
  /// Beyond that the cursor has to start anew. The store keeps the largest number that any opening has asked
  /// for; a cursor that nobody uses any more costs that many commits until it is removed. 100 000 unless set.
  public var changeLogLimitForCursors = Int(ChangeLogRetention.standard.cursorCommitCount)
  /// Whether each commit is kept with the records that it has written, as they were then.
  ///
  /// Otherwise ``ModelStore/changes(since:values:)`` brings them as they are when it reads. Once an opening
  /// has turned it on, every process that writes keeps them, until `pando retention` turns it off.
  public var changeLogKeepsRecords = false
  /// Whether what is live shows what other processes commit, without anybody asking for it.
  ///
  /// Costs a thread that sleeps, while there are providers, followed queries or caches. Otherwise they show it
  /// with the next write, the next fetch, or when `refresh()` is called.
  public var followsOtherProcesses = true
  /// Whether the store keeps as much of the change log from now on as this asks for; a new one does.
  package var raisesRetention = true
  /// Whether a store that follows a log, or has nothing, is left to who opens it to be migrated.
  package var migratesThroughLog = false
  /// What becomes of a write of a type whose records a newer program has written.
  ///
  /// The version of this program is the `schemaVersion` of the type, 1 without `SchemaVersioned`, or that of
  /// its newest migration in ``migrations``. The store knows the newest version that has written the type, or
  /// that a migration has reached. Reads and deletes are always allowed.
  public var newerSchemas = NewerSchemas.refuse
  /// What is checked before the store is used.
  public var verifying: Verification = .none
  /// Told what a service may want to log; called on any thread, must not block and must not use
  /// the store.
  public var events: (@Sendable (StoreEvent) -> Void)?
  /// Told of every flush and event, for metrics and traces.
  public var observer: (any StoreObserver)?
  /// A flush that takes longer is an event.
  public var slowCommitThreshold: Duration = .seconds(1)

  #if DEBUG
    var reportsChildDisagreement = true
  #else
    var reportsChildDisagreement = false
  #endif

  /// How much of the change log this asks for.
  var retention: ChangeLogRetention {
    ChangeLogRetention(
      commitCount: UInt64(changeLogLimit), cursorCommitCount: UInt64(changeLogLimitForCursors),
      keepsRecords: changeLogKeepsRecords)
  }

  /// Makes the configuration that suits most services.
  public init() {}
}
