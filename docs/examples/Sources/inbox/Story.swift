/// Tells the story of the data flow, in a service of its own, and checks each step of it.
///
/// Nothing in it is left to chance or to time: the story holds back or releases each answer,
/// and after each step it waits for everything that is pending.
@MainActor
final class Story {
  let directory: String
  let port: UInt16
  let log: Log
  private var title = ""
  /// The lines before the present step.
  private(set) var lineCount = 0

  /// Makes a story.
  ///
  /// - Parameters:
  ///   - directory: Where its store is; its contents are shown first.
  ///   - port: Where its service listens; 0 for any free port.
  ///   - log: The log of the story.
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
    let service = try InboxService(directory: directory, backendPort: backend.port, log)
    try service.listen(onPort: port)
    try await openMessage(service, backend)
    try await openMessageWithSlowCache(backend)
    try await openContacts(service, backend)
    try await push(service)
    try await edit(service)
    try await shareWithAnotherProcess(service)
    try await delete(service)
    try await terminate(service)
    await backend.stop()
    try await startAgain()
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
}

/// A line that a step of the story has to lead to.
struct Expectation: CustomStringConvertible {
  private let who: String
  private let path: Log.Path
  private let parts: [String]
  private let context: String?

  /// Describes a line.
  ///
  /// - Parameters:
  ///   - who: The view or service of the line.
  ///   - path: How it came there.
  ///   - parts: The parts of its text.
  ///   - context: The context it has; `nil` for none.
  init(_ who: String, _ path: Log.Path, _ parts: String..., context: String? = nil) {
    self.who = who
    self.path = path
    self.parts = parts
    self.context = context
  }

  /// Whether a line is the one.
  func matches(_ line: Log.Line) -> Bool {
    line.who == who && line.path == path && line.context == context
      && parts.allSatisfy { line.text.contains($0) }
  }

  var description: String {
    let words = [who, path.rawValue] + (parts.isEmpty ? [] : [parts.joined(separator: " … ")])
    return (words + (context.map { ["← \($0)"] } ?? [])).joined(separator: ", ")
  }
}

/// A step of the story that went otherwise than expected.
struct StoryError: Error, Equatable, CustomStringConvertible {
  private let reason: String

  init(_ reason: String) {
    self.reason = reason
  }

  var description: String { "the story does not hold: \(reason)" }
}
