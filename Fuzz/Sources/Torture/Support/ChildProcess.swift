import Foundation
import Glibc

/// Another process of this program, in a role of its own; its standard output is read line by line.
final class ChildProcess {
  /// How a process ended.
  enum End: Equatable, CustomStringConvertible {
    case exited(CInt)
    case killed(signal: CInt)

    var description: String {
      switch self {
      case .exited(let status): "status \(status)"
      case .killed(let signal): "signal \(signal)"
      }
    }
  }

  let identifier: pid_t
  private let output: CInt
  private let input: CInt?
  private var pending: [UInt8] = []
  private var isAtEnd = false
  private var end: End?

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - arguments: The role and its options.
  ///   - variables: Environment variables besides this process's own.
  ///   - marks: Where descriptor 3 of the process leads; nowhere if `nil`.
  ///   - takesInput: Whether this process sends it lines; else it reads what this process does.
  /// - Throws: ``TortureFailure`` if the system refuses.
  init(
    _ arguments: [String], variables: [String: String] = [:], marks: String? = nil,
    takesInput: Bool = false
  ) throws {
    let ends = try Self.makePipe()
    let inputEnds = takesInput ? try Self.makePipe() : nil
    let own = try Self.ownPath()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    if let inputEnds { posix_spawn_file_actions_adddup2(&actions, inputEnds[0], STDIN_FILENO) }
    posix_spawn_file_actions_addopen(&actions, 3, marks ?? "/dev/null", O_WRONLY | O_APPEND, 0)
    var environment = variables.map { "\($0)=\($1)" }
    var variable = environ
    while let text = variable.pointee {
      environment.append(String(cString: text))
      variable += 1
    }
    let argumentVector = ([own] + arguments).map { strdup($0) } + [nil]
    let environmentVector = environment.map { strdup($0) } + [nil]
    defer { for text in argumentVector + environmentVector { free(text) } }
    var identifier: pid_t = 0
    let status = posix_spawn(
      &identifier, own, &actions, nil, argumentVector, environmentVector)
    close(ends[1])
    if let inputEnds { close(inputEnds[0]) }
    guard status == 0 else {
      close(ends[0])
      if let inputEnds { close(inputEnds[1]) }
      throw TortureFailure("posix_spawn: errno \(status)")
    }
    self.identifier = identifier
    output = ends[0]
    input = inputEnds?[1]
  }

  deinit {
    if end == nil {
      Glibc.kill(identifier, SIGKILL)
      wait()
    }
    close(output)
    if let input { close(input) }
  }

  /// Makes a pipe that no process started later has.
  private static func makePipe() throws -> [CInt] {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw TortureFailure("pipe: errno \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends
  }

  /// Tells it a line; nothing happens if it has ended.
  func tell(_ line: String) { if let input { write(line, to: input) } }

  private static func ownPath() throws -> String {
    try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  }

  /// The library that is put before the C library; it lies beside this program.
  static func preloadPath() throws -> String {
    let own = try ownPath()
    let folder = own[..<(own.lastIndex(of: "/") ?? own.startIndex)]
    let path = "\(folder)/libTorturePreload.so"
    try require(access(path, R_OK) == 0, "\(path) is missing: build with Fuzz/torture")
    return path
  }

  /// Returns the next line, or `nil` at the end of the output or when the time is up.
  func line(timeoutInMilliseconds: Int? = nil) -> String? {
    let deadline = timeoutInMilliseconds.map {
      ContinuousClock.now + .milliseconds($0)
    }
    while true {
      if let newline = pending.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: pending[..<newline], as: UTF8.self)
        pending.removeSubrange(...newline)
        return line
      }
      if isAtEnd { return nil }
      var timeout: CInt = -1
      if let deadline {
        let rest = deadline - ContinuousClock.now
        timeout = CInt(clamping: rest / .milliseconds(1) < 0 ? 0 : Int(rest / .milliseconds(1)))
      }
      var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&descriptor, 1, timeout) > 0 else { return nil }
      var buffer = [UInt8](repeating: 0, count: 65536)
      let count = read(output, &buffer, buffer.count)
      if count > 0 { pending += buffer[..<count] } else { isAtEnd = true }
    }
  }

  /// Returns all lines until the end of the output.
  func remainingLines() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  /// Whether the process still has its output open.
  var isRunning: Bool { !isAtEnd }

  func kill(_ signal: CInt = SIGKILL) { Glibc.kill(identifier, signal) }

  /// Waits for the end of the process.
  @discardableResult
  func wait() -> End {
    if let end { return end }
    var status: CInt = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7f
    let result = signal == 0 ? End.exited((status >> 8) & 0xff) : .killed(signal: signal)
    end = result
    return result
  }

  /// Waits, and throws unless the process ended well.
  func requireSuccess(_ name: String) throws {
    let end = wait()
    try require(end == .exited(0), "\(name) ended with \(end)")
  }
}
