import CPandoLMDB
import PandoSystem

/// The readers' slots and the writer's mutex of an environment in memory, laid out as a lock file (``LockLayout``).
///
/// liblmdb 0.9 finds a lock file by the name of the data file. An environment in memory has no such name. Pando opens it
/// without a lock file, and then gives liblmdb this table. The table belongs to one process. A forked child has a copy,
/// and does not use it.
@safe
final class ReaderTable: Sendable {
  /// The first byte.
  ///
  /// Safe to share: it stays mapped as long as this object exists, and liblmdb synchronizes its accesses.
  nonisolated(unsafe) let start: UnsafeMutableRawPointer
  private let byteCount: Int

  /// Makes an empty table.
  ///
  /// - Parameter maximumReaders: How many slots it has.
  /// - Throws: ``LMDBError`` with the system's code.
  init(maximumReaders: Int) throws(LMDBError) {
    byteCount = LockLayout.byteCount(readers: maximumReaders).roundedUpToPage
    let start = unsafe mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else {
      throw .system("mmap", "the table of \(maximumReaders) readers")
    }
    unsafe self.start = start
    unsafe start.storeBytes(of: LockLayout.magic, as: UInt32.self)
    unsafe start.storeBytes(
      of: LockLayout.format, toByteOffset: LockLayout.formatOffset, as: UInt32.self)
    for offset in [LockLayout.readersMutex, LockLayout.writerMutex] {
      try unsafe Self.makeMutex(start + offset)
    }
  }

  deinit { unsafe munmap(start, byteCount) }

  /// Makes a robust mutex, as liblmdb does: after the death of its owner the next thread gets it.
  private static func makeMutex(_ place: UnsafeMutableRawPointer) throws(LMDBError) {
    var attributes = pthread_mutexattr_t()
    try check(unsafe pthread_mutexattr_init(&attributes), "pthread_mutexattr_init")
    defer { unsafe pthread_mutexattr_destroy(&attributes) }
    try check(
      unsafe pthread_mutexattr_setrobust(&attributes, CInt(PTHREAD_MUTEX_ROBUST)),
      "pthread_mutexattr_setrobust")
    let mutex = unsafe place.bindMemory(to: pthread_mutex_t.self, capacity: 1)
    try check(unsafe pthread_mutex_init(mutex, &attributes), "pthread_mutex_init")
  }

  /// Gives the table to an environment that was opened without a lock file; no thread uses it yet.
  ///
  /// - Parameters:
  ///   - environment: The environment.
  ///   - descriptor: An open file for liblmdb's locks of living processes; the caller closes it.
  /// - Throws: ``LMDBError`` with code `versionMismatch` if liblmdb is not of version 0.9.
  func attach(to environment: OpaquePointer, descriptor: CInt) throws(LMDBError) {
    var info = unsafe MDB_envinfo()
    try check(unsafe mdb_env_info(environment, &info), "mdb_env_info")
    unsafe start.storeBytes(
      of: UInt64(info.me_last_txnid), toByteOffset: LockLayout.number, as: UInt64.self)
    unsafe start.storeBytes(of: 0, toByteOffset: LockLayout.usedSlotCount, as: UInt32.self)
    guard unsafe pando_set_readers(environment, start, descriptor) == 0 else {
      let version = unsafe String(cString: mdb_version(nil, nil, nil))
      throw LMDBError(
        .versionMismatch, function: "mdb_env_open",
        detail: "an environment in memory needs liblmdb 0.9, and this is \(version)")
    }
  }

  /// Takes the table from an environment before it is closed, so that liblmdb does not unmap it.
  func detach(from environment: OpaquePointer) {
    let status = unsafe pando_set_readers(environment, nil, -1)
    precondition(status == 0, "the environment has no table of readers")
  }
}
