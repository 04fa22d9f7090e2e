import CPandoSpawn
import Foundation
import Glibc

/// A program that runs in a process of its own, with its input and output at hand.
///
/// Its three standard descriptors are the only ones it has, no signal is blocked or ignored in it, and
/// it is killed when nobody holds this any more or the tests end. Not `Process` of Foundation, which
/// reads past the end of a buffer when very many files are open (Swift 6.3.1).
public final class ChildProcess: @unchecked Sendable {
  // Sendable because one thread at a time writes (`input`), and one reads (`rest`).
  private let life: Life
  private var input: FileHandle?
  private let output: FileHandle
  private var rest = Data()

  /// Starts a program, whose errors appear among those of the tests.
  ///
  /// - Parameters:
  ///   - program: A path, or the name of a program that was built beside the tests.
  ///   - arguments: What follows the program's name.
  ///   - environment: What differs from the environment of the tests.
  ///   - directory: Where it runs; by default where the tests do.
  /// - Throws: ``Failure`` when it cannot be started.
  public init(
    _ program: String, _ arguments: [String] = [], environment: [String: String] = [:],
    directory: String? = nil
  ) throws {
    let (forIt, mine) = try Self.makePipe()
    let (fromIt, its) = try Self.makePipe()
    life = try Life(
      program, arguments, environment, directory,
      [forIt.fileDescriptor, its.fileDescriptor, STDERR_FILENO])
    (input, output) = (mine, fromIt)
  }

  deinit { send(SIGKILL) }

  /// Its number.
  public var identifier: Int32 { life.identifier }

  /// Whether it has ended.
  public var hasEnded: Bool { life.status != nil }

  /// Gives it a text.
  ///
  /// - Parameter text: What it reads next.
  /// - Throws: ``Failure`` when it does not read any more.
  public func write(_ text: String) throws {
    guard let descriptor = input?.fileDescriptor else { throw Failure("write", EBADF) }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = try withoutBrokenPipes {
        bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      }
      bytes = bytes.dropFirst(count)
    }
  }

  /// Ends its input.
  public func closeInput() { input = nil }

  /// Waits for the next line it prints; `nil` when there is none any more.
  ///
  /// - Parameters:
  ///   - file: Where; the watchdog names it when the line never comes.
  ///   - line: Where.
  /// - Returns: The line without its end.
  public func nextLine(file: StaticString = #fileID, line: UInt = #line) -> String? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest = Data(rest[(end + 1)...]) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      let more = Waits.during("a line of \(life.description)", file, line) { output.availableData }
      rest += more
      if more.isEmpty {
        defer { rest = Data() }
        return rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
      }
    }
  }

  /// Sends it a signal; nothing happens if it has ended.
  ///
  /// - Parameter signal: For example `SIGSTOP`.
  public func send(_ signal: Int32) { life.send(signal) }

  /// Waits for its end; whatever it prints must fit into a pipe or have been read.
  ///
  /// - Parameters:
  ///   - file: Where; the watchdog names it when the end never comes.
  ///   - line: Where.
  /// - Returns: Its status, negative for the signal that ended it.
  @discardableResult
  public func wait(file: StaticString = #fileID, line: UInt = #line) -> Int32 {
    life.wait(file, line)
  }

  /// Ends it as a crash would, and waits for its end.
  ///
  /// - Parameters:
  ///   - file: Where; the watchdog names it when the end never comes.
  ///   - line: Where.
  public func kill(file: StaticString = #fileID, line: UInt = #line) {
    send(SIGKILL)
    wait(file: file, line: line)
  }

  private static func makePipe() throws -> (reading: FileHandle, writing: FileHandle) {
    var ends: [CInt] = [-1, -1]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw Failure("pipe2", errno) }
    return (
      FileHandle(fileDescriptor: ends[0], closeOnDealloc: true),
      FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    )
  }

  /// A write to a pipe whose reader has gone is an error; the signal would end the tests.
  private func withoutBrokenPipes(_ write: () -> Int) throws -> Int {
    var (brokenPipe, before, now) = (sigset_t(), sigset_t(), timespec())
    sigemptyset(&brokenPipe)
    sigaddset(&brokenPipe, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &brokenPipe, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let count = write()
    guard count < 0, errno != EINTR else { return max(count, 0) }
    let code = errno
    if code == EPIPE { sigtimedwait(&brokenPipe, nil, &now) }
    throw Failure("write", code)
  }

  /// A system call that failed.
  public struct Failure: Error {
    /// Which one, of what.
    public let function: String
    /// The system's code.
    public let code: Int32

    init(_ function: String, _ code: Int32) { (self.function, self.code) = (function, code) }
  }
}
