import PandoLMDB
import PandoSystem

/// Says to other processes that this one migrates a store: a lock on a file beside the data, which goes with
/// the process.
///
/// Only those look at it who wait for the lock of the writer, to say what they wait for.
struct MigrationLock {
  private let path: String
  private let descriptor: CInt

  private static let name = "migration.lock"

  private static func file(in path: String) -> String { "\(path)/\(name)" }

  /// Takes the lock; the lock of the writer is held.
  init(takenIn path: String) {
    self.path = path
    descriptor = openBesideData(Self.name, in: path, mode: 0o600)
    // Without it others can't say what they wait for, and that is all.
    guard descriptor >= 0 else { return }
    // One that looks has the lock for a moment.
    var attempts = 10
    while attempts > 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      attempts -= 1
      usleep(1_000)
    }
  }

  /// Gives the lock back, once.
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
