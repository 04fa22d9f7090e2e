/// A line that a step of the story has to lead to.
struct Expectation: CustomStringConvertible {
  private let who: String
  private let path: Log.Path
  private let parts: [String]
  private let context: String?

  /// Describes a line.
  ///
  /// - Parameters:
  ///   - who: Who says it.
  ///   - path: How it came there.
  ///   - parts: What its text contains.
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
