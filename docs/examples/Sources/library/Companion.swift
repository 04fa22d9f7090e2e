import Foundation
import Glibc

/// Another process of the story: this program in another role.
///
/// It gets a command a line and answers with some lines and ``end``.
final class Companion: @unchecked Sendable {
  // Sendable because one task of the story after another uses it.

  /// The line after an answer.
  static let end = "."

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var buffer = Data()

  /// Starts the process.
  ///
  /// - Parameter arguments: The role.
  /// - Throws: The reason why it can't start.
  init(_ arguments: String...) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    // Only the process itself holds the other ends: when it goes, that is seen here.
    try? input.fileHandleForReading.close()
    try? output.fileHandleForWriting.close()
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  /// Has a command carried out.
  ///
  /// - Parameter command: The command.
  /// - Returns: The lines of the answer, without ``end``.
  /// - Throws: ``StoryError`` if the process has gone.
  func ask(_ command: String) async throws -> [String] {
    try tell(command)
    var lines: [String] = []
    while true {
      let line = try await line()
      if line == Self.end { return lines }
      lines.append(line)
    }
  }

  /// Gives a command without waiting for its answer.
  func tell(_ command: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
  }

  /// Waits for the next line.
  func line() async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try self.readLine() }) }
    }
  }

  private func readLine() throws -> String {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer = Data(buffer[(end + 1)...])
        return line
      }
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw StoryError("a process of the story has gone") }
      buffer.append(data)
    }
  }

  /// Ends the process at once, whatever it does.
  func killNow() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Lets the process end by itself, as at the end of its input.
  func close() async {
    try? input.fileHandleForWriting.close()
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        self.process.waitUntilExit()
        continuation.resume()
      }
    }
  }
}
