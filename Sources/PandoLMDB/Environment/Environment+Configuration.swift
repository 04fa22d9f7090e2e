extension Environment {
  /// The settings with which an environment is opened.
  ///
  /// ```swift
  /// var configuration = Environment.Configuration()
  /// configuration.maximumTables = 16
  /// configuration.durability = .consistent
  /// let environment = try Environment(path: "people.db", configuration: configuration)
  /// ```
  public struct Configuration: Sendable {
    /// The address space reserved for the map, in bytes.
    ///
    /// Only address space: the file is as large as its data. If the file needs a larger map, the
    /// environment uses that size. Pando rounds the size up to whole pages.
    public var mapSizeInBytes: Int = 256 << 30
    /// The most bytes of pages in use; a write that needs more throws `mapFull`.
    ///
    /// The map may grow beyond it by a sixteenth or by 64 MiB, whichever is more, for writes that
    /// only delete. So a full environment can be emptied. While a long read keeps freed pages,
    /// other writes may use half of this room; then they throw `mapFull`.
    public var maximumMapSizeInBytes: Int = 1 << 40
    /// How long growth of the map waits for readers to finish, in seconds.
    ///
    /// New readers wait meanwhile. After this time the write fails with `mapInUse`.
    public var mapGrowthTimeoutInSeconds: Int = 30
    /// The most named tables that can be open; each costs a few bytes per transaction.
    public var maximumTables: Int = 128
    /// The most read transactions that can be open in all processes together.
    ///
    /// The first process that opens the file decides; 64 bytes each.
    public var maximumReaders: Int = 1024
    /// How long a reader waits for a free slot, in seconds; 0 to throw at once.
    ///
    /// A thread that already reads does not wait: it may hold the slot that it waits for.
    public var readerTimeoutInSeconds: Int = 30
    /// How many ended read transactions are kept for reuse.
    public var maximumIdleReaders: Int = 64
    /// How much a power failure may lose.
    public var durability: Durability = .full
    /// Whether writes are refused; the file must exist.
    public var isReadOnly: Bool = false
    /// Whether to open a file on a read-only mount, assuming that no process writes it.
    ///
    /// Such readers have no lock file. A writer on another mount would reuse their pages, and they
    /// would read arbitrary data. On a writable mount this setting has no effect.
    public var assumingNoWriter: Bool = false
    /// The permissions of new files.
    public var fileMode: UInt32 = 0o600
    /// Called on the thread of an event.
    package var onEvent: (@Sendable (EnvironmentEvent) -> Void)?

    /// Makes the default configuration.
    public init() {}
  }
}

/// An event that the environment caused by itself.
package enum EnvironmentEvent: Sendable, Equatable {
  /// The file was mapped again with this size.
  case mapGrown(sizeInBytes: Int)
  /// The slots of dead readers were freed.
  case staleReadersCleared(count: Int)
  /// A flush failed; the environment now refuses writes.
  case writesRefused
}

/// How much a power failure may lose.
///
/// ```swift
/// var configuration = Environment.Configuration()
/// configuration.durability = .relaxed(every: .milliseconds(200))
/// let environment = try Environment(path: "people.db", configuration: configuration)
/// ```
///
/// A crash of the process alone loses nothing at any level: the system's page cache has the
/// committed pages.
public enum Durability: Sendable, Hashable {
  /// A commit that has returned is on the disk.
  ///
  /// Two flushes per commit: the pages, then the meta page.
  case full
  /// A power failure may lose the newest commits; the file keeps a whole earlier version.
  ///
  /// One flush per commit: the pages. The next commit or ``Environment/sync()`` flushes the meta
  /// page. LMDB: `MDB_NOMETASYNC`.
  case consistent
  /// A power failure loses at most the last interval; the file keeps a whole earlier version.
  ///
  /// A thread flushes about twice per interval, or after 16 MiB (a checkpoint). Writers wait if the
  /// disk is too slow. The interval is above zero and at most a minute. If several processes write,
  /// all use this level, or none does. LMDB: `MDB_NOSYNC`.
  case relaxed(every: Duration = .milliseconds(100))
  /// A power failure may lose commits and **may damage the file**.
  ///
  /// A commit does not flush; the system writes pages in any order. Use it for data that can be
  /// regenerated. LMDB: `MDB_NOSYNC`.
  case unsynchronized
}

extension Durability: CaseIterable {
  /// All levels, the safest first; `relaxed` with its standard interval.
  public static var allCases: [Durability] { [.full, .consistent, .relaxed(), .unsynchronized] }
}

extension Environment.Configuration {
  /// How much time of commits a power failure may lose with checkpoints; `nil` without.
  package var checkpointInterval: Duration? {
    guard case .relaxed(let interval) = durability else { return nil }
    return interval
  }
}
