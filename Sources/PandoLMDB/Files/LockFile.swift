import CPandoLMDB
import PandoSystem

/// The lock file of an environment, which liblmdb creates and maps: reader slots and the writer's
/// mutex.
enum LockFile {
  static let name = "lock.mdb"

  /// Allocates disk blocks for the whole lock file before liblmdb maps it.
  ///
  /// liblmdb creates the file by setting its size, which allocates nothing. If the disk is full at
  /// the first write to a mapped page, the system ends the process with SIGBUS. The size does not
  /// change: other processes may have mapped the file.
  ///
  /// This process may have no environment open on the file: closing a descriptor drops the locks
  /// that the process holds on it. If the file can't be opened, liblmdb reports that. If the file
  /// system can't reserve blocks, Pando works without.
  ///
  /// - Parameters:
  ///   - folder: The folder of the environment.
  ///   - maximumReaders: The number of reader slots of a new file.
  ///   - mode: The permissions of a new file without a data file.
  /// - Returns: The number of the last commit in it, to be checked once the environment is open;
  ///   `nil` if the file can't be mapped.
  /// - Throws: ``LMDBError`` with code `diskFull` if the disk has no room, else the system's code.
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
    let size = max(Int(status.st_size), LockLayout.byteCount(readers: maximumReaders))
    let flags = FALLOC_FL_KEEP_SIZE
    if retryInterrupted({ fallocate(descriptor, flags, 0, off_t(size.roundedUpToPage)) }) != 0,
      ![EOPNOTSUPP, ENOSYS, ENODEV, EINVAL].contains(errno)
    {
      throw .system("fallocate", path)
    }
    return CommitSignal(descriptor)
  }

  /// Refuses a folder on a read-only mount: liblmdb uses no lock file there, so a writer on another
  /// mount reuses the readers' pages.
  ///
  /// - Parameters:
  ///   - folder: The folder of the environment.
  ///   - isReadOnly: Whether it is opened read-only.
  ///   - assumingNoWriter: Whether the caller asserts that no process writes.
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
      ? "a writer elsewhere does not see readers of a read-only mount; if no process writes, open it with "
        + "assumingNoWriter, or --assuming-no-writer in the command"
      : "nothing can be written to a read-only mount"
    throw LMDBError(.readOnlyFileSystem, function: "open", detail: "\(folder): \(reason)")
  }
}
