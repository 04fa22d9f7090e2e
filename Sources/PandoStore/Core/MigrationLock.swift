import PandoLMDB
import PandoSystem

/// Shows other processes that this one migrates a store: a lock on a file beside the data, which
/// the system releases when the process ends.
///
/// Only processes that wait for the writer lock read it, to report the reason.
struct MigrationLock {
  private let path: String
  private let descriptor: CInt

  private static let name = "migration.lock"

  private static func file(in path: String) -> String { "\(path)/\(name)" }

  /// Takes the lock; the caller holds the writer lock.
  init(takenIn path: String) {
    self.path = path
    descriptor = openBesideData(Self.name, in: path, mode: 0o600)
    // Without it, other processes can't report the reason of their wait.
    guard descriptor >= 0 else { return }
    // A process that tests the lock holds it for a moment.
    var attempts = 10
    while attempts > 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      attempts -= 1
      usleep(1_000)
    }
  }

  /// Releases the lock, once.
  func release() {
    guard descriptor >= 0 else { return }
    unsafe unlink(Self.file(in: path))
    close(descriptor)
  }

  /// Whether a process migrates the store.
  static func isTaken(in path: String) -> Bool {
    let descriptor = unsafe open(file(in: path), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }
}
