import CPandoLMDB
import PandoSystem

/// The data file of an environment, opened beside liblmdb's own descriptors.
///
/// It is checked before liblmdb maps it, and kept open until the environment is closed, to learn which step
/// of a commit failed.
struct DataFile: ~Copyable, Sendable {
  static let name = "data.mdb"

  let identity: OpenFiles.Identity
  private let file: Descriptor

  /// Opens the file, and creates it where that is allowed.
  init(path: String, isReadOnly: Bool, mode: UInt32) throws(LMDBError) {
    let flags = isReadOnly ? O_RDONLY : O_RDWR | O_CREAT
    let descriptor = retryInterrupted { unsafe open(path, flags | O_CLOEXEC, mode) }
    guard descriptor >= 0 else { throw .system("open", path) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      let error = LMDBError.system("fstat", path)
      PandoSystem.close(descriptor)
      throw error
    }
    file = Descriptor(descriptor, hasLocks: true)
    identity = OpenFiles.Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// The number of the open file; -1 once it is closed.
  var descriptor: CInt { file.number }

  /// Closes the file; no other thread uses it.
  func close() { file.close() }

  /// The size of the file.
  func sizeInBytes() throws(LMDBError) -> Int {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .system("fstat", Self.name) }
    return Int(status.st_size)
  }

  /// Asks the file system for blocks behind the end of the file; its size stays.
  ///
  /// - Parameter end: Up to which place.
  /// - Returns: `nil`, or why there are none.
  func reserve(upTo end: Int) -> CInt? {
    guard let start = try? sizeInBytes(), start < end else { return nil }
    let status = retryInterrupted {
      fallocate(descriptor, FALLOC_FL_KEEP_SIZE, off_t(start), off_t(end - start))
    }
    return status == 0 ? nil : errno
  }

  /// Whether the file system has hardly any space left.
  ///
  /// A disk that fills up takes a part of a write, which liblmdb reports as an I/O error. What is
  /// left then is less than liblmdb writes at once, which is at most 64 pages.
  func isOnFullDisk() -> Bool {
    var status = statvfs()
    guard unsafe fstatvfs(descriptor, &status) == 0 else { return false }
    return UInt64(status.f_bavail) * UInt64(status.f_frsize) < 64 * 4096
  }

  /// How large this process may make files, if the file has hardly any room left below that (`ulimit -f`).
  func reachedLimit() -> UInt64? {
    guard let limit = processLimit(.fileSize), let size = try? sizeInBytes() else { return nil }
    return UInt64(size) + 64 * 4096 > limit ? limit : nil
  }

  /// Tells whether a flush of the file has failed since the last call.
  ///
  /// Linux remembers a failed write-back once for each open file description, so this descriptor
  /// still learns of a failure that liblmdb's own descriptor has reported.
  func hasFailedFlush() -> Bool {
    retryInterrupted { fdatasync(descriptor) } != 0
  }
}

extension DataFile {
  /// Makes the name of a data file survive a power cut: the names in its folder, and the folder's own.
  ///
  /// Flushing the file alone does not promise that it can be found again. A file system that can't
  /// flush folders, and a parent that this process may not read, are left to the system.
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
