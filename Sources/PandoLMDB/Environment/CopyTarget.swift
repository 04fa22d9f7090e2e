import CPandoLMDB
import PandoSystem

/// The place of a copy under way: a file that is renamed to the data file once it is complete.
///
/// ```
/// data.mdb.partial ── locked, written, checked, flushed ──► data.mdb
/// ```
/// The lock allows one copy at a time in a folder; the system releases it when the process ends. A
/// new copy overwrites the file that a killed process left.
struct CopyTarget {
  /// How often the folder is created again after another failed copy has removed it.
  private static let attemptCount = 100

  /// The final path of the copy.
  let path: String
  /// The file, for reading and writing.
  let descriptor: CInt
  private let folder: String
  private let partial: String
  private let hasMadeFolder: Bool

  /// Makes the file, and the folder if it is absent.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - mode: The permissions of the copy.
  /// - Throws: ``LMDBError`` with code `fileExists` if the folder has a data file or another copy
  ///   is under way there; else the system's code. The folder is then unchanged.
  init(folder: String, mode: UInt32) throws(LMDBError) {
    self.folder = folder
    path = "\(folder)/\(DataFile.name)"
    partial = "\(path).partial"
    var hasMadeFolder = try Environment.createFolder(folder)
    do throws(LMDBError) {
      try Self.checkIsFree(folder)
      descriptor = try Self.open(partial, in: folder, mode, &hasMadeFolder)
    } catch {
      if hasMadeFolder { unsafe rmdir(folder) }
      throw error
    }
    self.hasMadeFolder = hasMadeFolder
    do throws(LMDBError) {
      // Another copy may have been renamed before this one had the lock.
      try Self.checkIsFree(folder)
      if ftruncate(descriptor, 0) != 0 { throw .system("ftruncate", partial) }
    } catch {
      remove()
      close()
      throw error
    }
  }

  /// Refuses a folder with a data file or the remains of one.
  private static func checkIsFree(_ folder: String) throws(LMDBError) {
    var status = stat()
    for name in [DataFile.name, CheckpointFile.name] {
      let path = "\(folder)/\(name)"
      if unsafe lstat(path, &status) == 0 {
        throw LMDBError(.fileExists, function: "copy", detail: path)
      }
    }
  }

  /// Opens and locks the file.
  private static func open(
    _ path: String, in folder: String, _ mode: UInt32, _ hasMadeFolder: inout Bool
  ) throws(LMDBError) -> CInt {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    for _ in 0..<attemptCount {
      let descriptor = retryInterrupted { unsafe PandoSystem.open(path, flags, mode) }
      if descriptor < 0, errno == ENOENT {
        if try Environment.createFolder(folder) { hasMadeFolder = true }
        continue
      }
      guard descriptor >= 0 else { throw .system("open", path) }
      do throws(LMDBError) {
        if try lock(descriptor, path) { return descriptor }
      } catch {
        PandoSystem.close(descriptor)
        throw error
      }
      PandoSystem.close(descriptor)
    }
    throw LMDBError(.noSuchFile, function: "open", detail: path)
  }

  /// Locks the file.
  ///
  /// - Returns: `false` if the file was renamed or removed before the lock.
  private static func lock(_ descriptor: CInt, _ path: String) throws(LMDBError) -> Bool {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .system("fstat", path) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1 else {
      throw LMDBError(.fileExists, function: "copy", detail: "\(path) is not left by a copy")
    }
    if retryInterrupted({ flock(descriptor, LOCK_EX | LOCK_NB) }) != 0 {
      guard errno == EWOULDBLOCK else { throw .system("flock", path) }
      throw LMDBError(
        .fileExists, function: "copy", detail: "\(path): another copy is being made there")
    }
    return isName(path, of: descriptor)
  }

  private static func isName(_ path: String, of descriptor: CInt) -> Bool {
    var (open, named) = (stat(), stat())
    return unsafe fstat(descriptor, &open) == 0 && lstat(path, &named) == 0
      && open.st_dev == named.st_dev && open.st_ino == named.st_ino
  }

  /// Flushes the copy and renames it.
  ///
  /// - Throws: ``LMDBError`` with code `fileExists` if the folder has a data file by now; else the
  ///   system's code.
  func publish() throws(LMDBError) {
    if retryInterrupted({ fsync(descriptor) }) != 0 { throw .system("fsync", partial) }
    if renameUnlessTaken(partial, path) != 0 { throw .system("rename", path) }
    try DataFile.flushNames(in: folder)
  }

  /// Removes the copy, under either name, and the folder if this copy created it.
  func remove() {
    for name in [partial, path] where Self.isName(name, of: descriptor) { unsafe unlink(name) }
    if hasMadeFolder { unsafe rmdir(folder) }
  }

  /// Releases the lock.
  func close() {
    // A forked child also has the file open, so closing it would not release the lock.
    flock(descriptor, LOCK_UN)
    PandoSystem.close(descriptor)
  }
}
