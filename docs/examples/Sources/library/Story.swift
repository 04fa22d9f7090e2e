import Foundation

/// Tells how the library goes on without its server, and checks each line of it.
///
/// Server and session are processes of their own. Nothing is left to chance or to time: each command is
/// carried out to its end before the next, and the story holds back or releases each answer.
@MainActor
struct Story {
  private let directory: String
  let log: Log

  /// Makes a story.
  ///
  /// - Parameters:
  ///   - directory: Where server and session keep their data; a new one.
  ///   - log: The log of the story.
  init(directory: String, log: Log = Log()) {
    self.directory = directory
    self.log = log
  }

  /// Tells it from beginning to end.
  ///
  /// - Throws: ``StoryError`` at the first line that is another one, and what keeps the processes from
  ///   running.
  func tell() async throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let first = try Companion("--server", "0", "--directory", directory)
    let port = try await first.line()
    var session = try open(port)
    try await fetch(first, session)
    first.killNow()
    try await work(session)
    session.killNow()
    session = try open(port)
    try await startAgain(session)
    let second = try await serveSlowly(port)
    try await interrupt(second, session)
    session = try open(port)
    try await finish(second, session)
    try await refuse(second, session)
    await session.close()
    await second.close()
    log.plain("\nThe story holds: \(log.lineCount) lines, each as it should be.")
  }

  private func open(_ port: String) throws -> Companion {
    try Companion("--session", port, "--directory", "\(directory)/store")
  }

  private func serveSlowly(_ port: String) async throws -> Companion {
    let server = try Companion(
      "--server", port, "--directory", directory, "--hold", "POST /books")
    _ = try await server.line()
    return server
  }
}

/// The lines of the story, checked step by step.
@MainActor
final class Log {
  private let prints: Bool
  private var title = ""
  private(set) var lineCount = 0

  /// Begins with line 1.
  ///
  /// - Parameter prints: Whether lines go to standard output.
  init(prints: Bool = true) { self.prints = prints }

  /// Begins a step.
  func step(_ title: String) {
    self.title = title
    plain("\n● \(title)")
  }

  /// Tells lines, each of which has to be the one that is expected.
  ///
  /// - Parameters:
  ///   - lines: The lines, each a speaker and a text with a bar between.
  ///   - expected: The same, as it should be.
  /// - Throws: ``StoryError`` at the first line that is another one.
  func tell(_ lines: [String], _ expected: String...) throws(StoryError) {
    for (index, line) in lines.enumerated() {
      lineCount += 1
      let parts = line.split(separator: "|", maxSplits: 1).map(String.init)
      let number = String(repeating: " ", count: lineCount < 10 ? 2 : 1) + "\(lineCount)"
      let who = (parts.first ?? "").padding(toLength: 11, withPad: " ", startingAt: 0)
      plain("\(number)  \(who)\(parts.count > 1 ? parts[1] : "nothing")")
      guard index < expected.count else {
        throw StoryError("“\(title)”: line \(lineCount) should not be there")
      }
      guard line == expected[index] else {
        throw StoryError("“\(title)”: line \(lineCount) should be: \(expected[index])")
      }
    }
    guard lines.count == expected.count else {
      throw StoryError("“\(title)”: missing at its end: \(expected[lines.count])")
    }
  }

  /// Says something without a number.
  func plain(_ text: String) {
    if prints { StandardOutput.write(text) }
  }
}

/// A step of the story that went otherwise than expected.
struct StoryError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ reason: String) { description = "the story does not hold: \(reason)" }
}
