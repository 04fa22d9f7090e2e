import Synchronization

/// Hands out lines one after another, from any thread.
final class LineSource: Sendable {
  private let lines: Mutex<ArraySlice<String>>

  init(_ lines: [String]) { self.lines = Mutex(lines[...]) }

  func next() -> String? { lines.withLock { $0.popFirst() } }
}
