import Foundation

/// What is told, line by line, and checked step by step.
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
  ///   - lines: Who says what, with a bar between.
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
