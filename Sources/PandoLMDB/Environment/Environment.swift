import CPandoLMDB
import PandoSystem
import Synchronization

/// A key-value store in one folder, shared by the threads of this process and by other processes.
///
/// Any number of readers see whole versions and never wait for the one writer. Open a file once in
/// a process and share the environment; a second open is refused.
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
  /// The folder.
  public let path: String
  /// How it was opened.
  public let configuration: Configuration

  /// A number no other environment of this process has.
  let number: EnvironmentNumber
  /// The read transactions and their gate.
  let readers: ReaderPool
  /// One writer at a time.
  let writer = WriterLock()
  /// How many readers wait for a slot.
  let slotWaits = Atomic(0)
  /// Writes that share commits, where they do.
  let commits = GroupCommit()
  /// The data file, for checks beside liblmdb.
  let file: DataFile
  /// Where the data file lies.
  let place: DataFilePlace
  /// Tables that are open, in the order they were opened.
  let tables = Locked(TableRegistry())
  /// Whether reads go on with a map that shows less than the lock file says was committed.
  let readsStaleMap = Atomic(false)
  /// Who sleeps until there is a commit.
  let commitWaiters = CommitWaiters()
  /// Since when the writer waits for that of another process.
  package let writerWait = WriterWait()
  /// Why writes are refused, once they are.
  let writeRefusal = Locked<LMDBError?>(nil)

  /// The process that opened it.
  private let process = ForkGuard.currentProcess()
  /// The `MDB_env`; `nil` once closed.
  ///
  /// Changed only while the writer lock is held and no reader is inside, so whoever is a reader or
  /// holds the lock may read it.
  nonisolated(unsafe) var pointer: OpaquePointer?

  /// The number of the last commit in the lock file; `nil` where that can't be mapped.
  ///
  /// Written by the initializer alone, which nobody else can be inside.
  nonisolated(unsafe) private(set) var signal: CommitSignal?

  /// What keeps liblmdb's mutexes safe from other PID namespaces; `nil` where there is no lock file.
  ///
  /// Written by the initializer alone, which nobody else can be inside.
  nonisolated(unsafe) private(set) var namespaces: NamespaceGuard?

  /// How often the file has been mapped anew, perhaps at another address.
  ///
  /// Changed and read as ``pointer`` is.
  nonisolated(unsafe) var mapNumber: UInt32 = 0

  /// Why there is no `MDB_env` although nobody has closed this: it was to be opened again, and that failed.
  ///
  /// Changed and read as ``pointer`` is.
  nonisolated(unsafe) var loss: LMDBError?

  /// When the writer last looked for readers that have died.
  ///
  /// Used only while the writer lock is held.
  nonisolated(unsafe) var staleReaderCheck = ContinuousClock.now

  /// Whether ``OpenFiles`` lists the file for this environment.
  ///
  /// Written by the initializer alone, which nobody else can be inside.
  nonisolated(unsafe) private var isRegistered = false

  /// Up to which place the disk has given the file blocks, as far as is known; the largest number where it gives none.
  ///
  /// Used only while the writer lock is held.
  nonisolated(unsafe) var diskRoomEnd = 0

  /// How many pages the last write lacked of the room that removals need, whether it was refused or was a removal itself;
  /// -1 if it lacked none.
  let missingPageCount = Atomic(-1)

  private static let lastNumber = Atomic<UInt32>(0)

  /// Written by the initializer alone, which nobody else can be inside.
  nonisolated(unsafe) private var cutsBeforeOpening: UInt64 = 0

  /// When checkpoints are made; `nil` where there are none.
  ///
  /// Written by the initializer alone, which nobody else can be inside.
  nonisolated(unsafe) private(set) var checkpoints: Checkpointer?

  /// Opens an environment.
  ///
  /// The file is checked before it is mapped: a file that is truncated or is no LMDB file is an
  /// error. A data file that is empty or whose making was cut short, so that nothing can have been
  /// committed to it, counts as new.
  ///
  /// - Parameters:
  ///   - path: A folder; created with mode 0700 if absent, unless opened for reading only.
  ///   - configuration: How to open it.
  /// - Throws: ``LMDBError`` with code `alreadyOpen` if this process has it open, `invalidFile`,
  ///   `versionMismatch` or `truncatedFile` if the file is not whole, else the system's error.
  /// - Complexity: Independent of the size of the file, and a few flushes if it may be written. Of a file that ends
  ///   before its last page the free list is read.
  /// - Precondition: The sizes and limits of `configuration` are above zero.
  public init(path: String, configuration: Configuration = Configuration()) throws(LMDBError) {
    configuration.checkLimits()
    self.path = path
    self.configuration = configuration
    number = EnvironmentNumber(
      rawValue: Self.lastNumber.add(1, ordering: .relaxed).newValue)
    readers = ReaderPool(idleCountMax: configuration.maximumIdleReaders)
    if !configuration.isReadOnly { try Self.createFolder(path) }
    try LockFile.refuseReadOnlyMount(
      path, isReadOnly: configuration.isReadOnly, assumingNoWriter: configuration.assumingNoWriter)
    let filePath = "\(path)/\(DataFile.name)"
    file = try DataFile(
      path: filePath, isReadOnly: configuration.isReadOnly, mode: configuration.fileMode)
    place = DataFilePlace(path, file, configuration.durability)
    // What fails from here on runs `deinit`, which puts everything back.
    try OpenFiles.register(file.identity, path: filePath)
    unsafe isRegistered = true
    unsafe cutsBeforeOpening = try Self.settleCheckpoint(file, folder: path, configuration)
    let size = try file.checkHeader(
      folder: path, isReadOnly: configuration.isReadOnly, mode: configuration.fileMode)
    unsafe (pointer, signal) = try Self.makePointer(
      path, configuration, mapSizeInBytes: size, dataSizeInBytes: file.sizeInBytes())
    unsafe namespaces = NamespaceGuard(folder: path)
    checkSignal()
    if !configuration.isReadOnly, configuration.durability != .unsynchronized {
      // The first commit flushes its pages and the empty meta pages together: a power cut may keep
      // some of the former and none of the latter, and such a file would look damaged.
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

  deinit {
    // Nobody reads or writes: they would hold a reference.
    if ForkGuard.isStillRunning(in: process) { close() }
  }

  /// Closes the environment; later calls on it throw `closed`.
  ///
  /// Waits for reads and writes that have begun. Closing twice does nothing.
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
      if let environment = unsafe pointer { unsafe mdb_env_close(environment) }
      unsafe pointer = nil
      unsafe loss = nil
      for byte in [DataFile.LockedByte.checkpointedWriters, .otherWriters] {
        file.lock(byte, F_UNLCK)
      }
      unsafe namespaces?.close()
      unsafe checkpoints?.file.close()
      file.close()
      if unsafe isRegistered { OpenFiles.unregister(file.identity) }
    }
  }

  /// The folder without links, which stays the same after `chdir`.
  package var folder: String { place.folder }

  /// From how many power cuts the file has been brought back to a checkpoint.
  package var cutCount: UInt64 { unsafe cutsBeforeOpening }

  /// The `MDB_env`, for whoever is a reader or holds the writer lock.
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
