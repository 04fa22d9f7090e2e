import FoundationEssentials
import PandoLMDB
import PandoModels
import PandoSystem

/// A store of model trees in one directory: records, dependency index, collections and change log.
///
/// Write plain values; every tree on disk that holds a node shows its change from the same commit on.
///
/// ```swift
/// let store = try ModelStore(path: "data")
/// try store.write { try $0.set(message) }
/// let message = try store.read { try $0.model("Message:34", as: Message.self) }
/// ```
///
/// A process opens a directory once; several processes may have it open at the same time. Any thread
/// may read and write: reads run on the calling thread and never wait for a writer, writes run one
/// after another, on the calling thread or on one of the store's own.
public final class ModelStore: Sendable {
  /// How a store is opened.
  public typealias Configuration = StoreConfiguration

  /// The directory of the store.
  public var path: String { core.path }

  let core: StoreCore
  let writer: Writer?
  private let temporaryDirectory: TemporaryDirectory?

  /// Opens a store, and creates it where there is none.
  ///
  /// - Parameters:
  ///   - path: The directory of the store; created, for its owner only, when it is absent.
  ///   - configuration: How to open it.
  /// - Throws: ``StoreError`` that says what is in the way: no Pando store, another format version,
  ///   damage, a failed migration; `LMDBError` when the file can't be opened or is open already in
  ///   this process.
  /// - Complexity: Independent of the size of the store, unless it is verified or migrated.
  public convenience init(
    path: String, configuration: Configuration = Configuration()
  ) throws {
    try self.init(path: path, configuration: configuration, temporaryDirectory: nil)
  }

  init(
    path: String, configuration: Configuration, temporaryDirectory: TemporaryDirectory?
  ) throws {
    precondition(
      configuration.changeLogLimit >= 1,
      "changeLogLimit is \(configuration.changeLogLimit), at least 1 is needed")
    precondition(
      configuration.changeLogLimitForCursors >= 0,
      "changeLogLimitForCursors is \(configuration.changeLogLimitForCursors)")
    core = try ModelStore.open(path: path, configuration: configuration)
    self.temporaryDirectory = temporaryDirectory
    writer = configuration.isReadOnly ? nil : Writer(core)
    OpenStores.add(self)
  }

  /// Opens an empty store in a directory of its own, which is removed when the store is closed.
  ///
  /// - Parameter configuration: How to open it.
  /// - Returns: The store.
  /// - Throws: As ``init(path:configuration:)``.
  /// - Complexity: As ``init(path:configuration:)``.
  public static func temporary(
    configuration: Configuration = Configuration()
  ) throws -> ModelStore {
    let directory = try TemporaryDirectory()
    do {
      return try ModelStore(
        path: directory.path, configuration: configuration, temporaryDirectory: directory)
    } catch {
      directory.remove()
      throw error
    }
  }

  deinit {
    guard let writer, writer.isLeading else { return shutDown() }
    // Who writes let go of the last reference, with what a write held, and can't wait for itself.
    let (core, directory) = (core, temporaryDirectory)
    startThread(named: "pando.close") { Self.shutDown(writer, core, directory) }
  }

  /// Waits for the writes that are queued, then closes the store.
  ///
  /// Later reads and writes throw. Closing twice is closing once. Does not return while a read is
  /// under way in another thread.
  ///
  /// - Precondition: Not called from inside a read or a write of this store.
  public func close() { shutDown() }

  /// Waits for the writes that are queued, then closes the store.
  ///
  /// The `async` form of `close()`: the waiting does not hold a thread of the caller's pool.
  ///
  /// - Complexity: O(1), and the wait for writes that are queued and reads that are under way; with `relaxed` a flush.
  public func close() async {
    await withCheckedContinuation { continuation in
      SharedThreads.runSomewhere { [self] in
        shutDown()
        continuation.resume()
      }
    }
  }

  private func shutDown() { Self.shutDown(writer, core, temporaryDirectory) }

  private static func shutDown(
    _ writer: Writer?, _ core: StoreCore, _ directory: TemporaryDirectory?
  ) {
    if let writer, !writer.isInItsProcess { return }  // all of it belongs to the parent
    writer?.stop()
    core.feed.endReaders()
    OpenStores.remove(core.environment.folder)
    core.environment.close()
    directory?.remove()
  }
}

extension ModelStore {
  /// Reads one committed version.
  ///
  /// - Parameter body: Gets the snapshot of the newest commit; it can't keep it.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; `LMDBError` when no reader slot is free; ``StoreError`` `closed`.
  /// - Complexity: A fraction of a microsecond around `body`.
  /// - Note: Any thread; never waits for a writer. A snapshot that is held for long makes the file
  ///   grow, because the pages it sees can't be used again.
  public func read<Result>(_ body: (ModelSnapshot) throws -> Result) throws -> Result {
    do {
      return try core.environment.read { snapshot in
        let reader = StoreReader(
          snapshot, tables: core.tables, directory: core.directory, pending: nil)
        return try body(ModelSnapshot(reader, path: core.path))
      }
    } catch let error as LMDBError where error.code == .closed {
      throw core.closed
    }
  }
}

extension ModelStore {
  /// Which version a read that begins now would show, or a newer one that is being flushed; `nil` where a
  /// read has to find out.
  ///
  /// For a fraction of what a read costs. As long as it equals ``ModelSnapshot/version`` of a snapshot,
  /// nobody has committed anything since.
  package var newestVersion: UInt64? { core.environment.newestTransactionID() }

  /// The folder without links, which stays the same after `chdir`.
  package var folder: String { core.environment.folder }
}

/// A directory for one temporary store.
struct TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("pando-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    path = directory.path
  }

  /// Removes the directory; what can't be removed is left to the system's cleaning of such places.
  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
