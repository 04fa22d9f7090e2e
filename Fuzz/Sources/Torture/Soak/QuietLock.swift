import Glibc

/// Lets many processes write side by side, and one of them find all others between two writes.
///
/// Two files are locked with `flock`: a thread that needs quiet holds the first, so that no new one comes in
/// while those who write leave the second. Each user needs a lock of its own.
final class QuietLock {
  private let door: CInt
  private let room: CInt

  init(_ path: String) throws {
    door = open("\(path).door", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    room = open("\(path).room", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    try require(door >= 0 && room >= 0, "\(path): errno \(errno)")
  }

  deinit {
    close(door)
    close(room)
  }

  /// Runs `body` while others may do the same.
  func working<Result>(_ body: () async throws -> Result) async throws -> Result {
    try await hold(door, LOCK_SH) { try await take(room, LOCK_SH) }
    defer { flock(room, LOCK_UN) }
    return try await body()
  }

  /// Runs `body` while no other thread works.
  func quiet<Result>(_ body: () async throws -> Result) async throws -> Result {
    try await hold(door, LOCK_EX) {
      try await hold(room, LOCK_EX) { try await body() }
    }
  }

  private func hold<Result>(
    _ file: CInt, _ kind: CInt, _ body: () async throws -> Result
  ) async throws -> Result {
    try await take(file, kind)
    defer { flock(file, LOCK_UN) }
    return try await body()
  }

  /// Asks again and again: a thread that waits in the system is one that other tasks lack.
  private func take(_ file: CInt, _ kind: CInt) async throws {
    while flock(file, kind | LOCK_NB) != 0 {
      try require(errno == EWOULDBLOCK || errno == EINTR, "flock: errno \(errno)")
      try await Task.sleep(for: .microseconds(200))
    }
  }
}
