import Dispatch
import Foundation
import Glibc

/// Tells how the library goes on without its server, and checks each line of it.
///
/// Server and session are processes of their own. Nothing is left to chance or to time: each command is
/// carried out to its end before the next, and what comes first is held back or let go by the story.
@MainActor
struct Story {
  /// A step that never ends must not keep anybody waiting.
  private static let timeLimit = DispatchTimeInterval.seconds(120)

  private let directory: String
  let log: Log

  /// Makes a story.
  ///
  /// - Parameters:
  ///   - directory: Where server and session keep their data; a new one.
  ///   - log: Where it is told.
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
    let alarm = soundAlarm()
    defer { alarm.cancel() }
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

  private func soundAlarm() -> DispatchWorkItem {
    let alarm = DispatchWorkItem { @Sendable in
      let line = "library: the story does not hold: a step has not come to its end\n"
      try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
      _exit(1)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.timeLimit, execute: alarm)
    return alarm
  }
}
