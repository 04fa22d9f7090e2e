import CPandoLMDB
import PandoSystem
import Synchronization

/// A key-value store in one folder, shared by threads and processes.
///
/// Any number of readers see consistent versions and do not wait for a commit. A process opens
/// a file once and shares the environment; a second open throws.
///
/// ```swift
/// let environment = try Environment(path: "people.db")
/// let ages = try environment.table("ages", keys: .string, values: .int64)
/// try environment.write { try $0.put(36, forKey: "Ada", in: ages) }
/// let age = try environment.read { try $0.value(forKey: "Ada", in: ages) }
/// ```
///
/// - Note: All members may be called from any thread.
@safe
public final class Environment: Sendable {
  // `init` alone writes `signal`, `namespaces`, `checkpoints`, `isRegistered` and
  // `cutsBeforeOpening`. `pointer`, `mapNumber` and `loss` change only while the writer lock is
  // held and no reader is inside. A reader or the holder of the lock reads them. The writer lock
  // guards `staleReaderCheck` and `diskRoomEnd`. `pointer` is `nil` only after `close()` or with a
  // `loss`.

  /// The folder; `in memory` for an environment without one.
  public let path: String
  /// The settings with which it was opened.
  public let configuration: Configuration

  /// A number that is unique in this process.
  let number: EnvironmentNumber
  /// The read transactions of this process.
  let readers: ReaderPool
  /// The lock of the writer; one thread at a time.
  let writer = WriterLock()
  /// How many readers wait for a slot.
  let slotWaits = Atomic(0)
  /// The data file, for checks outside liblmdb.
  let file: DataFile
  /// The place of the data file.
  let place: DataFilePlace
  /// The table that replaces the lock file of an environment in memory; `nil` for one in a folder.
  let readerTable: ReaderTable?
  /// The open tables, in the order of opening.
  let tables = Locked(TableRegistry())
  /// Whether reads continue with a map that misses commits of the lock file.
  let readsStaleMap = Atomic(false)
  /// The threads that wait for a commit.
  let commitWaiters = CommitWaiters()
  /// When the writer began to wait for another process.
  package let writerWait = WriterWait()
  /// The error of all writes after a failed flush or an overwritten file.
  let writeRefusal = Locked<LMDBError?>(nil)

  /// The process that opened the environment.
  private let process = ForkGuard.currentProcess()
  /// The `MDB_env`; `nil` once closed.
  nonisolated(unsafe) var pointer: OpaquePointer?

  /// The number of the last commit in the lock file; `nil` if the file can't be mapped.
  nonisolated(unsafe) private(set) var signal: CommitSignal?

  /// The guard of liblmdb's mutexes against other PID namespaces; `nil` without a lock file.
  nonisolated(unsafe) private(set) var namespaces: NamespaceGuard?

  /// How often the file has been mapped again, perhaps at another address.
  nonisolated(unsafe) var mapNumber: UInt32 = 0

  /// The error of a failed reopening, which left no `MDB_env`; `nil` otherwise.
  nonisolated(unsafe) var loss: LMDBError?

  /// When the writer last checked for dead readers.
  nonisolated(unsafe) var staleReaderCheck = ContinuousClock.now

  /// Whether ``OpenFiles`` lists the file for this environment.
  nonisolated(unsafe) private var isRegistered = false

  /// The end of the allocated disk blocks, as far as known; the largest number without `fallocate`.
  nonisolated(unsafe) var diskRoomEnd = 0

  /// The pages that the last write lacked in the room for removals; -1 if it lacked none.
  let missingPageCount = Atomic(-1)

  private static let lastNumber = Atomic<UInt32>(0)

  /// How many power failures the file was restored from when it was opened.
  nonisolated(unsafe) private var cutsBeforeOpening: UInt64 = 0

  /// The checkpoints of `relaxed`; `nil` at other levels.
  nonisolated(unsafe) private(set) var checkpoints: Checkpointer?

  /// Opens an environment.
  ///
  /// The file is checked before it is mapped: a truncated file, or one that is not LMDB's, is an
  /// error. An empty data file counts as new, and so does one from an interrupted creation, which
  /// has no commit.
  ///
  /// - Parameters:
  ///   - path: A folder; created with mode 0700 if absent, unless opened read-only.
  ///   - configuration: The settings.
  /// - Throws: ``LMDBError`` with code `alreadyOpen` if this process has it open, `invalidFile`,
  ///   `versionMismatch` or `truncatedFile` if the file is damaged; else the system's error.
  /// - Complexity: Independent of the size of the file, and a few flushes if it is writable. If the
  ///   file ends before its last page, Pando reads the free list.
  /// - Precondition: The sizes and limits of `configuration` are above zero.
  public init(path: String, configuration: Configuration = Configuration()) throws(LMDBError) {
    configuration.checkLimits()
    self.path = path
    self.configuration = configuration
    number = Self.nextNumber()
    readers = ReaderPool(idleCountMax: configuration.maximumIdleReaders)
    if !configuration.isReadOnly { try Self.createFolder(path) }
    try LockFile.refuseReadOnlyMount(
      path, isReadOnly: configuration.isReadOnly, assumingNoWriter: configuration.assumingNoWriter)
    let filePath = "\(path)/\(DataFile.name)"
    file = try DataFile(
      path: filePath, isReadOnly: configuration.isReadOnly, mode: configuration.fileMode)
    place = DataFilePlace(path, file, configuration.durability)
    readerTable = nil
    // From here on, an error runs `deinit`, which undoes everything.
    try OpenFiles.register(file.identity, path: filePath)
    unsafe isRegistered = true
    unsafe cutsBeforeOpening = try Self.settleCheckpoint(file, folder: path, configuration)
    let size = try file.checkHeader(
      folder: path, isReadOnly: configuration.isReadOnly, mode: configuration.fileMode)
    unsafe (pointer, signal) = try Self.makePointer(
      .folder(path), configuration, mapSizeInBytes: size, dataSizeInBytes: file.sizeInBytes())
    unsafe namespaces = NamespaceGuard(folder: path)
    checkSignal()
    if !configuration.isReadOnly, configuration.durability != .unsynchronized {
      // The first commit flushes its pages and the empty meta pages together. A power failure may
      // keep some of the former and none of the latter; such a file would look damaged.
      if size == 0, file.hasFailedFlush() { throw .system("fdatasync", filePath) }
      try DataFile.flushNames(in: path)
    }
    _ = clearStaleReaders()
    if !configuration.isReadOnly, let interval = configuration.checkpointInterval,
      let file = try CheckpointFile.open(folder: path, makes: true, mode: configuration.fileMode)
    {
      unsafe checkpoints = try Checkpointer(file, interval: interval)
    }
  }

  /// Opens an environment in memory, see ``inMemory(configuration:)``.
  ///
  /// - Parameters:
  ///   - file: A file without a name, empty or with a copy of a data file.
  ///   - configuration: The settings.
  /// - Throws: ``LMDBError`` with the system's code.
  init(inMemory file: consuming DataFile, _ configuration: Configuration) throws(LMDBError) {
    configuration.checkLimits()
    path = DataFile.memoryName
    self.configuration = configuration
    number = Self.nextNumber()
    readers = ReaderPool(idleCountMax: configuration.maximumIdleReaders)
    place = DataFilePlace(inMemory: file)
    self.file = file
    readerTable = try ReaderTable(maximumReaders: configuration.maximumReaders)
    // From here on, an error runs `deinit`, which undoes everything.
    unsafe (pointer, signal) = try Self.makePointer(
      location, configuration, mapSizeInBytes: 0, dataSizeInBytes: self.file.sizeInBytes())
    checkSignal()
    // Blocks in advance would use memory.
    unsafe diskRoomEnd = .max
  }

  private static func nextNumber() -> EnvironmentNumber {
    EnvironmentNumber(rawValue: lastNumber.add(1, ordering: .relaxed).newValue)
  }

  deinit {
    // No thread reads or writes: it would hold a reference.
    if ForkGuard.isStillRunning(in: process) { close() }
  }

  /// Closes the environment; later calls on it throw `closed`.
  ///
  /// Waits for reads and writes under way. Closing twice has no effect.
  ///
  /// - Precondition: The calling thread is not inside a read or write of this environment.
  public func close() {
    guard ForkGuard.isStillRunning(in: process) else { return }
    precondition(
      !readers.isReadingOnThisThread,
      "close inside a read of the same environment on the same thread")
    commitWaiters.end(unsafe signal)
    unsafe checkpoints?.stop()
    writer.withLock("close") {
      closeCheckpoints()
      guard readers.shutDown() else { return }
      readers.abortIdleTransactions()
      closePointer()
      unsafe loss = nil
      for byte in [DataFile.LockedByte.checkpointedWriters, .otherWriters] {
        file.lock(byte, F_UNLCK)
      }
      unsafe namespaces?.close()
      unsafe checkpoints?.file.close()
      if readerTable != nil { file.discard() }
      file.close()
      if unsafe isRegistered { OpenFiles.unregister(file.identity) }
    }
  }

  /// Closes LMDB's environment, if it is open; the writer lock is held and no reader is inside.
  func closePointer() {
    guard let environment = unsafe pointer else { return }
    unsafe readerTable?.detach(from: environment)
    unsafe mdb_env_close(environment)
    unsafe pointer = nil
  }

  /// The files that liblmdb opens.
  var location: Location {
    readerTable.map { .memory(descriptor: file.descriptor, $0) } ?? .folder(place.folder)
  }

  /// The folder without symbolic links, unaffected by `chdir`; `nil` for an environment in memory.
  package var folder: String? { readerTable == nil ? place.folder : nil }

  /// From how many power failures the file was restored to a checkpoint.
  package var cutCount: UInt64 { unsafe cutsBeforeOpening }

  /// The `MDB_env`; the caller is a reader or holds the writer lock.
  func openPointer(_ function: String) throws(LMDBError) -> OpaquePointer {
    guard let environment = unsafe pointer else {
      throw unsafe loss ?? LMDBError(.closed, function: function)
    }
    return unsafe environment
  }

  /// Throws in a child of the process that opened the environment.
  @inline(__always)
  func checkProcess(_ function: StaticString) throws(LMDBError) {
    guard ForkGuard.isStillRunning(in: process) else {
      throw LMDBError(
        .usedAfterFork, function: function.description,
        detail: "opened by process \(process), used by process \(getpid())")
    }
  }
}
