import FoundationEssentials
import PandoLMDB
import PandoModels
package import PandoSystem

/// A store of model trees in one directory: records, dependency index, collections and change log.
///
/// Write plain values. A commit that changes a node changes it in every stored tree that contains the node.
///
/// ```swift
/// let store = try ModelStore(path: "data")
/// try store.write { try $0.set(message) }
/// let message = try store.get(Message.key(34))
/// ```
///
/// A process opens a directory once; several processes may have it open at the same time. Any thread may read and
/// write. Reads do not wait for a commit. They run on the calling thread; in `async` code they run on a reader thread of
/// the store. Writes run one after the other, on the calling thread or a thread of the store.
///
/// Use ``inMemory(models:configuration:)`` for data that need not outlive the process.
public final class ModelStore: Sendable {
  /// The settings of a store.
  public typealias Configuration = StoreConfiguration

  /// The directory of the store; `in memory` for a store that has none.
  public var path: String { core.path }

  /// True if the store has no file.
  package var isInMemory: Bool { core.environment.folder == nil }

  let core: StoreCore
  let writer: Writer?
  private let temporaryDirectory: TemporaryDirectory?

  /// Opens a store; creates it if absent.
  ///
  /// - Parameters:
  ///   - path: The directory of the store; created with mode 0700 if absent.
  ///   - models: The model types of the program, those of children too; added to those of the configuration. Their
  ///     indexes, unique values, deletion rules and schema versions apply to each later write of any program, their own
  ///     merges to writes of this process.
  ///   - configuration: The settings.
  /// - Throws: ``StoreError`` with the reason: not a Pando store, another format version, damage, a
  ///   failed migration, `valueTaken` if stored models break a declared uniqueness. `QueryError` for an
  ///   index of a field that is not declared. `LMDBError` if the file can't be opened or is already open
  ///   in this process.
  /// - Complexity: Independent of the size of the store, unless it is verified or migrated, or gets an
  ///   index: see ``addIndexes(of:droppingUndeclared:)``.
  public convenience init(
    path: String, models: [any SimpleModel.Type] = [],
    configuration: Configuration = Configuration()
  ) throws {
    try self.init(.folder(path), models: models, configuration: configuration)
  }

  /// Where the pages of a store are.
  enum Place {
    case folder(String)
    case temporary(TemporaryDirectory)
    /// In memory, filled with a copy of another store if there is one.
    case memory(copyOf: ModelStore?)
  }

  init(
    _ place: Place, models: [any SimpleModel.Type] = [], configuration: Configuration
  ) throws {
    var configuration = configuration
    configuration.models += models
    precondition(
      configuration.changeLogLimit >= 1,
      "changeLogLimit is \(configuration.changeLogLimit), at least 1 is needed")
    precondition(
      configuration.changeLogLimitForCursors >= 0,
      "changeLogLimitForCursors is \(configuration.changeLogLimitForCursors)")
    precondition(
      configuration.readerThreadCount >= 1,
      "readerThreadCount is \(configuration.readerThreadCount), at least 1 is needed")
    switch place {
    case .folder(let path):
      core = try ModelStore.open(path: path, configuration: configuration)
      temporaryDirectory = nil
    case .temporary(let directory):
      core = try ModelStore.open(path: directory.path, configuration: configuration)
      temporaryDirectory = directory
    case .memory(let source):
      core = try ModelStore.openInMemory(copyOf: source, configuration: configuration)
      temporaryDirectory = nil
    }
    writer = configuration.isReadOnly ? nil : Writer(core)
    OpenStores.add(self)
    if !configuration.migratesThroughLog { try declareModels() }
  }

  /// Opens an empty store in a temporary directory, which is removed when the store is closed.
  ///
  /// It uses files as any other store does. A program that needs no disk and no other process uses
  /// ``inMemory(models:configuration:)``.
  ///
  /// - Parameters:
  ///   - models: The model types of the program, as in ``init(path:models:configuration:)``.
  ///   - configuration: The settings.
  /// - Returns: The store.
  /// - Throws: As ``init(path:models:configuration:)``.
  /// - Complexity: As ``init(path:models:configuration:)``.
  public static func temporary(
    models: [any SimpleModel.Type] = [], configuration: Configuration = Configuration()
  ) throws -> ModelStore {
    let directory = try TemporaryDirectory()
    do {
      return try ModelStore(.temporary(directory), models: models, configuration: configuration)
    } catch {
      directory.remove()
      throw error
    }
  }

  deinit {
    guard let writer, writer.isLeading else { return shutDown() }
    // The writing thread released the last reference, held by a write, and can't wait for itself.
    let (core, directory) = (core, temporaryDirectory)
    startThread(named: "pando.close") { Self.shutDown(writer, core, directory) }
  }

  /// Waits for queued writes, then closes the store.
  ///
  /// Later reads and writes throw. Closing twice has no effect. It does not return while another
  /// thread reads.
  ///
  /// - Precondition: Not called from inside a read or a write of this store.
  public func close() { shutDown() }

  /// Waits for queued writes, then closes the store.
  ///
  /// The `async` form of `close()`: it blocks no thread of the caller's pool.
  ///
  /// - Complexity: O(1), and the wait for queued writes and open reads; with `relaxed` a flush.
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
  /// Reads one committed version on the calling thread.
  ///
  /// - Parameter body: Receives the snapshot of the newest commit, which it can't keep.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; `LMDBError` `readersFull` if no reader slot gets free within
  ///   ``StoreConfiguration/readerTimeoutInSeconds``; ``StoreError`` `closed`.
  /// - Complexity: A fraction of a microsecond around `body`.
  /// - Note: Any thread. It does not wait for a commit, only while the map grows, and for a slot if
  ///   all are taken. A long read makes the file grow, because the pages of its snapshot can't be
  ///   reused.
  public func read<Result>(_ body: (ModelSnapshot) throws -> Result) throws -> Result {
    do {
      return try core.environment.read { snapshot in
        return try body(
          ModelSnapshot(
            StoreReader(snapshot, tables: core.tables, directory: core.directory, pending: nil),
            path: core.path))
      }
    } catch let error as LMDBError where error.code == .closed {
      throw core.closed
    }
  }

  /// Reads one committed version without blocking a thread of the caller's pool.
  ///
  /// The store runs at most ``StoreConfiguration/readerThreadCount`` such reads at a time; others
  /// wait in the order of their calls. A read shows the newest commit at the moment when `body` begins.
  ///
  /// - Parameter body: Receives the snapshot on a thread of Pando. It runs outside the task: task-local values have
  ///   their defaults, and the priority of the task has no effect. It must not wait for another `async` read of the
  ///   store; a synchronous one is allowed.
  /// - Returns: The result of `body`.
  /// - Throws: Same as the synchronous form; `CancellationError` if the task is cancelled before
  ///   `body` begins, which then never runs. A running read is not interrupted.
  /// - Complexity: Same as the synchronous form, and two changes of the thread: some microseconds.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (ModelSnapshot) throws -> Result
  ) async throws -> Result {
    try await core.readers.run { [self] in try read(body) }
  }
}

extension ModelStore {
  /// Runs the reads of `async` calls, and other jobs that read the store and may block.
  package var readers: LimitedThreads { core.readers }
}

extension ModelStore {
  /// The version that a new read would have, or a newer one that is being flushed; `nil` if only a
  /// read can find it.
  ///
  /// It costs a fraction of a read. If it equals the ``ModelSnapshot/version`` of a snapshot,
  /// nothing was committed since.
  package var newestVersion: UInt64? { core.environment.newestTransactionID() }

  /// The folder without symbolic links, unaffected by `chdir`; `in memory` for a store in memory.
  package var folder: String { core.environment.folder ?? path }
}

/// The directory of one temporary store.
struct TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("pando-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    path = directory.path
  }

  /// Removes the directory; on failure, it is left to the system.
  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
