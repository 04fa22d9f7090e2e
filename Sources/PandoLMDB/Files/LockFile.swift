import CPandoLMDB
import PandoSystem

/// The lock file of an environment, which liblmdb makes, maps and writes to: the readers' slots and
/// the writer's mutex.
enum LockFile {
  static let name = "lock.mdb"

  /// Makes sure that the disk has room for every byte of the lock file, before liblmdb maps it.
  ///
  /// liblmdb makes the file by setting its size, which takes no room. Where the disk is full when a
  /// page of the map is first written to, the system ends the process with SIGBUS. The file's size
  /// is left alone: other processes may have mapped it as it is.
  ///
  /// No environment of this process may be open on the file, as closing a descriptor drops the locks
  /// that the process holds on it. A file that can't be opened is left for liblmdb to report, and a
  /// file system that can't reserve room is used without.
  ///
  /// - Parameters:
  ///   - folder: The folder of the environment.
  ///   - maximumReaders: How many slots for readers it is to have if it is new.
  ///   - mode: The permissions of a new file where there is no data file.
  /// - Returns: The number of the last commit in it, to be checked when the environment is open; `nil` if the
  ///   file can't be mapped.
  /// - Throws: ``LMDBError`` with code `diskFull` where there is no room, else the system's code.
  static func reserve(
    in folder: String, maximumReaders: Int, mode: UInt32
  ) throws(LMDBError) -> CommitSignal? {
    let path = "\(folder)/\(name)"
    let descriptor = openBesideData(name, in: folder, mode: mode)
    guard descriptor >= 0 else {
      if [EROFS, EACCES, EPERM, ENOENT].contains(errno) { return nil }
      throw .system("open", path)
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .system("fstat", path) }
    let size = max(Int(status.st_size), sizeInBytes(readers: maximumReaders))
    let flags = FALLOC_FL_KEEP_SIZE
    if retryInterrupted({ fallocate(descriptor, flags, 0, off_t(size.roundedUpToPage)) }) != 0,
      ![EOPNOTSUPP, ENOSYS, ENODEV, EINVAL].contains(errno)
    {
      throw .system("fallocate", path)
    }
    return CommitSignal(descriptor)
  }

  /// Refuses a folder on a file system that is mounted read-only: liblmdb works without a lock file there, so a writer, who
  /// reaches the folder another way, does not see the readers and uses their pages again.
  ///
  /// - Parameters:
  ///   - folder: The folder of the environment.
  ///   - isReadOnly: Whether it is opened for reading.
  ///   - assumingNoWriter: Whether the caller says that nobody writes.
  /// - Throws: ``LMDBError`` with code `readOnlyFileSystem`.
  static func refuseReadOnlyMount(
    _ folder: String, isReadOnly: Bool, assumingNoWriter: Bool
  ) throws(LMDBError) {
    if isReadOnly, assumingNoWriter { return }
    // The lock file may be a mount of its own.
    let isMountedReadOnly = [folder, "\(folder)/\(name)"].contains { path in
      var status = statvfs()
      return unsafe statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
    }
    guard isMountedReadOnly else { return }
    let reason =
      isReadOnly
      ? "a writer elsewhere does not see readers of a read-only mount; if nobody writes, open it with "
        + "assumingNoWriter, or --assuming-no-writer in the command"
      : "nothing can be written to a read-only mount"
    throw LMDBError(.readOnlyFileSystem, function: "open", detail: "\(folder): \(reason)")
  }

  /// The size that liblmdb 0.9 gives the file: two cache lines of common state, and one a reader.
  private static func sizeInBytes(readers: Int) -> Int {
    let cacheLineInBytes = 64
    return (readers + 2) * cacheLineInBytes
  }
}
