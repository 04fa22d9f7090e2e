import Locking
import Glibc
import LMDB
import Testing

/// A running `LMDBTestProcess`.
final class OtherProcess {
  private let id: pid_t
  private let output: CInt
  private var rest = ""

  /// Starts a scenario.
  init(_ scenario: String, _ folder: String) throws {
    (id, output) = try Self.starting.withLock { _ in
      try Self.start(["\(Self.productFolder)/LMDBTestProcess", scenario, folder])
    }
  }

  /// One at a time, so that no other process inherits the writing end of a pipe.
  private static let starting = Locked(())

  private static func start(_ command: [String]) throws -> (pid_t, CInt) {
    var pipeEnds: [CInt] = [0, 0]
    try #require(pipe(&pipeEnds) == 0)
    _ = fcntl(pipeEnds[0], F_SETFD, FD_CLOEXEC)
    _ = fcntl(pipeEnds[1], F_SETFD, FD_CLOEXEC)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipeEnds[1], STDOUT_FILENO)
    let arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    var id = pid_t()
    let status = posix_spawn(&id, command[0], &actions, nil, arguments + [nil], environ)
    close(pipeEnds[1])
    try #require(status == 0, "\(command[0]): \(status)")
    return (id, pipeEnds[0])
  }

  deinit {
    close(output)
  }

  /// Where the built programs are: beside the running one.
  static var productFolder: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(
      decoding: buffer[..<max(count, 0)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
  }

  /// Waits for the next line it prints; `nil` when it has ended.
  func nextLine() -> String? {
    while true {
      if let end = rest.firstIndex(of: "\n") {
        defer { rest = String(rest[rest.index(after: end)...]) }
        return String(rest[..<end])
      }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(output, &buffer, buffer.count)
      if count <= 0 { return nil }
      rest += String(decoding: buffer[..<count], as: UTF8.self)
    }
  }

  /// Waits for its end.
  ///
  /// - Returns: 0 if every expectation of the scenario was met.
  func wait() -> CInt {
    var status: CInt = 0
    while waitpid(id, &status, 0) == -1, errno == EINTR {}
    return status
  }

  /// Ends it as a crash would.
  func kill() {
    Glibc.kill(id, SIGKILL)
    _ = wait()
  }
}
