import CPandoLMDB
import PandoSystem

/// The data file of an environment, opened in addition to liblmdb's own descriptors.
///
/// Pando checks it before liblmdb maps it, and keeps it open until the environment is closed, to
/// find which step of a commit failed.
struct DataFile: ~Copyable, Sendable {
  static let name = "data.mdb"
  /// The text for the path of a file without a name, in errors.
  static let memoryName = "in memory"

  let identity: OpenFiles.Identity
  private let file: Descriptor

  /// Opens the file; creates it unless it is read-only.
  init(path: String, isReadOnly: Bool, mode: UInt32) throws(LMDBError) {
    let flags = isReadOnly ? O_RDONLY : O_RDWR | O_CREAT
    let descriptor = retryInterrupted { unsafe open(path, flags | O_CLOEXEC, mode) }
    guard descriptor >= 0 else { throw .system("open", path) }
    try self.init(descriptor, path: path)
  }

  /// Makes a file without a name, in memory.
  ///
  /// - Throws: ``LMDBError`` with the system's code.
  init(inMemory _: Void) throws(LMDBError) {
    let descriptor = unsafe pando_memory_file("pando")
    guard descriptor >= 0 else { throw .system("memfd_create", Self.memoryName) }
    try self.init(descriptor, path: Self.memoryName)
  }

  private init(_ descriptor: CInt, path: String) throws(LMDBError) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      let error = LMDBError.system("fstat", path)
      PandoSystem.close(descriptor)
      throw error
    }
    file = Descriptor(descriptor, hasLocks: true)
    identity = OpenFiles.Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// The descriptor; -1 once closed.
  var descriptor: CInt { file.number }

  /// Closes the file; no other thread may use it.
  func close() { file.close() }

  /// The size of the file.
  func sizeInBytes() throws(LMDBError) -> Int {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .system("fstat", Self.name) }
    return Int(status.st_size)
  }

  /// Allocates blocks behind the end of the file; its size stays.
  ///
  /// - Parameter end: The end of the blocks.
  /// - Returns: `nil`, or the error number.
  func reserve(upTo end: Int) -> CInt? {
    guard let start = try? sizeInBytes(), start < end else { return nil }
    let status = retryInterrupted {
      fallocate(descriptor, FALLOC_FL_KEEP_SIZE, off_t(start), off_t(end - start))
    }
    return status == 0 ? nil : errno
  }

  /// Releases the blocks of the file; its size stays.
  ///
  /// A forked child may have a file in memory open. Without this call it would keep the memory until it exits.
  func discard() {
    guard let size = try? sizeInBytes(), size > 0 else { return }
    _ = retryInterrupted {
      fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, off_t(size))
    }
  }

  /// Whether the file system has hardly any space left.
  ///
  /// A disk that fills up takes a part of a write, which liblmdb reports as an I/O error. The
  /// remaining space is then less than one write of liblmdb, at most 64 pages.
  func isOnFullDisk() -> Bool {
    var status = statvfs()
    guard unsafe fstatvfs(descriptor, &status) == 0 else { return false }
    return UInt64(status.f_bavail) * UInt64(status.f_frsize) < 64 * 4096
  }

  /// The file size limit of this process (`ulimit -f`), if the file has almost reached it.
  func reachedLimit() -> UInt64? {
    guard let limit = processLimit(.fileSize), let size = try? sizeInBytes() else { return nil }
    return UInt64(size) + 64 * 4096 > limit ? limit : nil
  }

  /// Whether a flush of the file has failed since the last call.
  ///
  /// Linux reports a failed write-back once to each open file description. So this descriptor also
  /// gets a failure that liblmdb's descriptor has already reported.
  func hasFailedFlush() -> Bool {
    retryInterrupted { fdatasync(descriptor) } != 0
  }
}

extension DataFile {
  /// Flushes the name of a data file: the entries of its folder, and the folder's own.
  ///
  /// A flush of the file alone does not ensure that its name survives a power failure. Folders that
  /// can't be flushed, or a parent that this process may not read, are skipped.
  ///
  /// - Parameter path: The folder.
  /// - Throws: ``LMDBError`` with the system's code.
  static func flushNames(in path: String) throws(LMDBError) {
    for folder in [path, "\(path)/.."] {
      let descriptor = retryInterrupted {
        unsafe PandoSystem.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      }
      guard descriptor >= 0 else {
        if errno == EACCES || errno == EPERM { continue }
        throw .system("open", folder)
      }
      defer { PandoSystem.close(descriptor) }
      if retryInterrupted({ fsync(descriptor) }) != 0, errno != EINVAL {
        throw .system("fsync", folder)
      }
    }
  }
}

/// Repeats a system call that a signal interrupted.
package func retryInterrupted<Result: SignedInteger>(_ call: () -> Result) -> Result {
  while true {
    let result = call()
    if result != -1 || errno != EINTR { return result }
  }
}

extension Int {
  /// The next multiple of the system's page size; at most 2⁶⁰, which is more than any process can map.
  var roundedUpToPage: Int {
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    return (Swift.min(self, 1 << 60) + page - 1) / page * page
  }
}
