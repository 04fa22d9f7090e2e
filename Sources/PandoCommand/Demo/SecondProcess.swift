import PandoSystem

/// A second process of this command, whose output is read line by line.
final class SecondProcess {
  private let identifier: pid_t
  private let descriptor: Int32
  private var rest: [UInt8] = []

  /// Starts the process.
  ///
  /// - Parameter arguments: The arguments after `pando`.
  /// - Throws: A ``CommandError`` if it can't be started.
  init(_ arguments: [String]) throws {
    var ends: [Int32] = [0, 0]
    // The other process closes both ends; its output is a copy.
    guard unsafe pipe(&ends) == 0 else { throw Self.failure(errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[1]) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    // The copies live until the call returns, which copies them again.
    var words = unsafe (["pando"] + arguments).map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    var identifier: pid_t = 0
    let status = unsafe posix_spawn(
      &identifier, "/proc/self/exe", &actions, nil, &words, environ)
    guard status == 0 else {
      close(ends[0])
      throw Self.failure(status)
    }
    (self.identifier, descriptor) = (identifier, ends[0])
  }

  deinit { end() }

  /// Waits for the next line.
  ///
  /// - Returns: The line without its end.
  /// - Throws: A ``CommandError`` if the process has ended.
  func nextLine() throws -> String {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest.removeSubrange(...end) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      var chunk = [UInt8](repeating: 0, count: 4096)
      // The system writes at most `chunk.count` bytes into the array.
      let count = unsafe read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw CommandError(.failure, at: "the second process", "it has ended too early")
      }
      rest += chunk[..<count]
    }
  }

  /// Terminates the process and waits for its end.
  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    kill(identifier, SIGTERM)
    while waitpid(identifier, nil, 0) < 0, errno == EINTR {}
    close(descriptor)
  }

  private var hasEnded = false

  private static func failure(_ code: Int32) -> CommandError {
    CommandError(.failure, at: "the second process", SystemError.text(code))
  }
}
