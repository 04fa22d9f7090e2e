import Foundation

/// The events, line by line: each names a view, its path and its context.
@MainActor
final class Log {
  /// How an event came.
  enum Path: String {
    /// It was asked for.
    case asks
    /// The store's, or another cache's, answer.
    case cache
    /// The network's answer.
    case network
    /// The view's own change, shown before it is stored.
    case own
    /// The change of another writer, given to the delegate.
    case notified
    /// A commit, given to the listener of all updates.
    case commit
    /// An event of the service as a whole.
    case service
  }

  /// One line.
  struct Line {
    let number: Int
    let who: String
    let path: Path
    let text: String
    let context: String?
  }

  /// Everything said so far.
  private(set) var lines: [Line] = []
  private var waiting: [(matches: (Line) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
    []
  private let prints: Bool

  /// Begins with line 1.
  ///
  /// - Parameter prints: Whether lines go to standard output.
  init(prints: Bool = true) {
    self.prints = prints
  }

  /// Says something.
  func callAsFunction(_ who: String, _ path: Path, _ text: String, context: String? = nil) {
    let line = Line(number: lines.count + 1, who: who, path: path, text: text, context: context)
    lines.append(line)
    let number = String(line.number)
    var columns = String(repeating: " ", count: max(0, 3 - number.count)) + number
    columns += "  " + who.padding(toLength: 13, withPad: " ", startingAt: 0)
    columns += path.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0) + text
    plain(columns + (context.map { "  ← \($0)" } ?? ""))
    let matching = waiting.filter { $0.matches(line) }
    waiting.removeAll { $0.matches(line) }
    for entry in matching { entry.continuation.resume() }
  }

  /// Says something without a number.
  func plain(_ text: String) {
    // A reader that went away does not end a service.
    if prints { try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8)) }
  }

  /// Waits for a line, if it has not come yet.
  ///
  /// - Parameters:
  ///   - number: The last line that does not count.
  ///   - matches: Whether a line is the one.
  func line(after number: Int, where matches: @escaping (Line) -> Bool) async {
    if lines.dropFirst(number).contains(where: matches) { return }
    await withCheckedContinuation { waiting.append((matches, $0)) }
  }
}
