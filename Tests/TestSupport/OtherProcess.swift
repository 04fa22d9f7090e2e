import Foundation

/// Another process that writes people into a store: the program `StoreTestProcess`, which lies beside the
/// tests.
public final class OtherProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// One at a time, so that no other process inherits the writing end of a pipe.
  private static let starting = NSLock()

  /// Starts it.
  ///
  /// - Parameter path: The directory of the store.
  /// - Throws: What keeps it from starting.
  public init(_ path: String) throws {
    let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.executableURL = program.deletingLastPathComponent()
      .appending(path: "StoreTestProcess")
    process.arguments = ["write-people", path]
    process.standardInput = input
    process.standardOutput = output
    try Self.starting.withLock { try process.run() }
  }

  /// Has one line carried out, and waits until that is committed.
  ///
  /// - Parameter line: `set ID NAME` or `delete ID`.
  /// - Throws: ``Ended`` when the process has gone.
  public func perform(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    var answer = ""
    while !answer.hasSuffix("\n") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw Ended() }
      answer += String(decoding: data, as: UTF8.self)
    }
  }

  /// It ended before it was told to.
  public struct Ended: Error {}

  /// Lets it end.
  ///
  /// - Throws: What keeps its input from being closed.
  public func end() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
