import PandoSystem

/// This command once more, in a process of its own, whose output is read line by line.
final class SecondProcess {
  private let identifier: pid_t
  private let descriptor: Int32
  private var rest: [UInt8] = []

  /// Starts it.
  ///
  /// - Parameter arguments: What follows `pando`.
  /// - Throws: A ``CommandError`` when it can't be started.
  init(_ arguments: [String]) throws {
    var ends: [Int32] = [0, 0]
    // Both ends close in the other process; its output is a copy.
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

  /// Waits for its next line.
  ///
  /// - Returns: The line without its end.
  /// - Throws: A ``CommandError`` when it has ended.
  func nextLine() throws -> String {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest.removeSubrange(...end) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      var chunk = [UInt8](repeating: 0, count: 4096)
      // The bytes are written into the array, which is as long as it is said to be.
      let count = unsafe read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw CommandError(.failure, at: "the second process", "it has ended too early")
      }
      rest += chunk[..<count]
    }
  }

  /// Ends it, and waits until it has ended.
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
