extension Environment {
  /// How an environment is opened.
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
    /// Only address space: the file is as large as its data. A file that says it is larger wins. It
    /// is rounded up to whole pages.
    public var mapSizeInBytes: Int = 256 << 30
    /// How many bytes of pages may be in use; a write that would need more throws `mapFull`.
    ///
    /// The map itself may grow beyond it, by a sixteenth of it or by 64 MiB, whichever is more: room for transactions that
    /// only delete, so that a full environment can be emptied. While a long
    /// read keeps freed pages, writes that store something use half of that room at most; then they throw `mapFull`.
    public var maximumMapSizeInBytes: Int = 1 << 40
    /// How long growth of the map waits for readers to end, in seconds.
    ///
    /// New readers wait meanwhile. When the time is up the write fails with `mapInUse`.
    public var mapGrowthTimeoutInSeconds: Int = 30
    /// How many named tables can be open; each costs a few bytes a transaction.
    public var maximumTables: Int = 128
    /// How many read transactions can be open in all processes together.
    ///
    /// Whoever opens the file first decides; 64 bytes each.
    public var maximumReaders: Int = 1024
    /// How long a reader waits while all of these are taken, in seconds; 0 to throw at once.
    ///
    /// A thread that reads already does not wait: the slot that it waits for may be its own.
    public var readerTimeoutInSeconds: Int = 30
    /// How many ended read transactions are kept for reuse.
    public var maximumIdleReaders: Int = 64
    /// What a commit promises when the power fails.
    public var durability: Durability = .full
    /// Whether writes of several threads that wait for one another share a commit, and so its flushes.
    ///
    /// Each still runs alone, sees what those before it have written, and returns when that is
    /// committed; they share the number of the commit. With 8 threads that commit single rows it is
    /// several times faster, with one it changes nothing. In exchange a closure must not wait for the
    /// write of another thread to return, and one that throws makes the others run again.
    public var sharesCommits: Bool = false
    /// Whether writes are refused; the file must exist.
    public var isReadOnly: Bool = false
    /// Whether a file system that is mounted read-only may be opened, because no other process writes to the file.
    ///
    /// Readers have no lock file there. A writer that reaches the file another way, as through the other mount of a volume,
    /// would use their pages again, and they would read anything. Elsewhere it changes nothing.
    public var assumingNoWriter: Bool = false
    /// The permissions of new files.
    public var fileMode: UInt32 = 0o600
    /// Called with what the environment did by itself, on the thread it happened on.
    package var onEvent: (@Sendable (EnvironmentEvent) -> Void)?

    /// Makes the default configuration.
    public init() {}
  }
}

/// What an environment did by itself.
package enum EnvironmentEvent: Sendable, Equatable {
  /// The map was mapped anew with this size.
  case mapGrown(sizeInBytes: Int)
  /// Slots of readers whose process has died were freed.
  case staleReadersCleared(count: Int)
  /// A write waits to share the commit of others.
  case writeQueued
  /// A flush failed; writes are refused from here on.
  case writesRefused
}

/// What a commit promises when the power fails.
///
/// ```swift
/// var configuration = Environment.Configuration()
/// configuration.durability = .relaxed(every: .milliseconds(200))
/// let environment = try Environment(path: "people.db", configuration: configuration)
/// ```
///
/// A crash of the process alone loses nothing at any level: committed pages are in the page cache
/// of the system.
public enum Durability: Sendable, Hashable {
  /// A commit that returned is on the disk.
  ///
  /// Two flushes a commit: the pages, then the meta page.
  case full
  /// A power cut may lose the newest commits; what is left is a whole earlier version.
  ///
  /// One flush a commit: the pages. The meta page follows with the next one, or with
  /// ``Environment/sync()``. LMDB: `MDB_NOMETASYNC`.
  case consistent
  /// A power cut takes the commits of the last interval at most; what is left is a whole earlier version.
  ///
  /// No flush a commit: a thread flushes about twice an interval, or after 16 MiB, what has been committed
  /// (a checkpoint). Writers wait where the disk does not keep up. An interval is above zero and at most a
  /// minute. All processes that write at one time do so at this level, or none. LMDB: `MDB_NOSYNC`.
  case relaxed(every: Duration = .milliseconds(100))
  /// A power cut may lose commits and **may damage the file**.
  ///
  /// No flush; the system writes when it likes, in any order. For data that can be made again.
  /// LMDB: `MDB_NOSYNC`.
  case unsynchronized
}

extension Durability: CaseIterable {
  /// All levels, the safest first; `relaxed` with its standard interval.
  public static var allCases: [Durability] { [.full, .consistent, .relaxed(), .unsynchronized] }
}

extension Environment.Configuration {
  /// How much time of commits a power cut may take where there are checkpoints; `nil` without.
  package var checkpointInterval: Duration? {
    guard case .relaxed(let interval) = durability else { return nil }
    return interval
  }
}
