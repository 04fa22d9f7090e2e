import Dispatch
import Foundation
import Glibc
import Pando

/// Tells the story of the data flow, in a service of its own, and checks each step of it.
///
/// Nothing in it is left to chance or to time: what comes first is held back or let go by the story,
/// and after each step everything that is on its way is waited for.
@MainActor
final class Story {
  /// The story takes well under a second; a step that never ends must not keep anybody waiting.
  private static let timeLimit = DispatchTimeInterval.seconds(60)

  let directory: String
  let port: UInt16
  let log: Log
  private var title = ""
  /// The lines before the present step.
  private(set) var lineCount = 0

  /// Makes a story.
  ///
  /// - Parameters:
  ///   - directory: Where its store is; what is in it is shown first.
  ///   - port: Where its service listens; 0 for any free port.
  ///   - log: Where it is told.
  init(directory: String, port: UInt16, log: Log = Log()) {
    self.log = log
    self.directory = directory
    self.port = port
  }

  /// Tells it from beginning to end.
  ///
  /// - Throws: A ``StoryError`` at the first step that goes otherwise, and what keeps the service
  ///   from running.
  func tell() async throws {
    let backend = try Backend()
    let alarm = soundAlarm()
    let service = try InboxService(directory: directory, backendPort: backend.port, log)
    try service.listen(onPort: port)
    try await openMessage(service, backend)
    try await openMessageWithSlowCache(backend)
    try await openContacts(service, backend)
    try await push(service)
    try await edit(service)
    try await delete(service)
    try await terminate(service)
    await backend.stop()
    try await startAgain()
    alarm.cancel()
    log.plain("\nThe story holds: \(log.lines.count) lines, each where it belongs.")
  }

  /// Begins a step.
  func step(_ title: String) {
    self.title = title
    lineCount = log.lines.count
    log.plain("\n● \(title)")
  }

  /// Checks that the step has led to these lines and to no others.
  ///
  /// Lines about commits are left out where a directory that was used before may have nothing to
  /// write.
  func expect(_ expected: [Expectation], ignoringCommits: Bool = false) throws(StoryError) {
    let lines = log.lines[lineCount...].filter { !ignoringCommits || $0.path != .commit }
    for (line, expectation) in zip(lines, expected) where !expectation.matches(line) {
      throw StoryError("“\(title)”: line \(line.number) should be \(expectation)")
    }
    if lines.count > expected.count {
      throw StoryError("“\(title)”: line \(lines[expected.count].number) should not be there")
    }
    if lines.count < expected.count {
      throw StoryError("“\(title)”: \(expected[lines.count]) is missing at its end")
    }
  }

  private func soundAlarm() -> DispatchWorkItem {
    let alarm = DispatchWorkItem { @Sendable in
      let line = "inbox: the story does not hold: a step has not come to its end\n"
      try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
      _exit(1)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.timeLimit, execute: alarm)
    return alarm
  }
}
