import Foundation

/// A section of the README of the examples.
public struct READMESection {
  /// The text between its title and the next one.
  public let text: String

  /// Reads a section.
  ///
  /// - Parameter title: Its title.
  /// - Throws: ``ServiceError`` when there is none, and what keeps the file from being read.
  public init(_ title: String) throws {
    let url = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../README.md")
    let readme = try String(contentsOf: url.standardized, encoding: .utf8)
    let parts = readme.components(separatedBy: "\n## \(title)\n")
    guard parts.count == 2 else { throw ServiceError("the README has no section \(title)") }
    text = parts[1].components(separatedBy: "\n## ")[0]
  }

  /// The lines of its fenced blocks of a kind.
  ///
  /// - Parameter kind: The info string, for example `sh`.
  /// - Returns: The lines, in order.
  public func lines(of kind: String) -> [String] {
    text.components(separatedBy: "```\(kind)\n").dropFirst()
      .compactMap { $0.components(separatedBy: "\n```").first }
      .flatMap { $0.components(separatedBy: "\n") }
  }
}
