import PandoLMDB
import PandoSystem

/// The exclusive use of a folder for a copy, among all processes: a lock of the open folder, which the system releases
/// when the process ends.
final class CopyLock: Sendable {
  /// How often the folder is created again if other users remove it.
  private static let attemptCount = 1_000

  private let path: String
  private let descriptor: Locked<CInt>

  /// Creates the folder unless it exists, and waits for its lock.
  ///
  /// - Parameter path: The folder.
  /// - Throws: ``StoreError`` with the text of the system's error.
  init(_ path: String) throws {
    self.path = path
    for attempt in 1... {
      try StoreCopy.makeFolder(path)
      let folder = retryInterrupted {
        unsafe PandoSystem.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      }
      // The last user of the folder removes it.
      if folder < 0, errno == ENOENT, attempt < Self.attemptCount { continue }
      try StoreCopy.check(folder, path)
      let status = retryInterrupted { flock(folder, LOCK_EX) }
      if status == 0, Self.isName(path, of: folder) {
        descriptor = Locked(folder)
        return
      }
      PandoSystem.close(folder)
      try StoreCopy.check(status, path)
    }
    preconditionFailure("the loop ends by an error or a lock")
  }

  deinit { end() }

  private static func isName(_ path: String, of descriptor: CInt) -> Bool {
    var (open, named) = (stat(), stat())
    return unsafe fstat(descriptor, &open) == 0 && stat(path, &named) == 0
      && open.st_dev == named.st_dev && open.st_ino == named.st_ino
  }

  /// Removes the folder if it is empty, and releases the lock.
  ///
  /// Call it once.
  func end() {
    let folder = descriptor.withLock { exchange(&$0, with: -1) }
    guard folder >= 0 else { return }
    unsafe rmdir(path)
    PandoSystem.close(folder)
  }
}
