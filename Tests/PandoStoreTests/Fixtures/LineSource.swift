import PandoSystem

/// Hands out lines one after another, from any thread.
final class LineSource: Sendable {
  private let lines: Locked<ArraySlice<String>>

  init(_ lines: [String]) { self.lines = Locked(lines[...]) }

  func next() -> String? { lines.withLock { $0.popFirst() } }
}
