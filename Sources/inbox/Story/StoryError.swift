/// A step of the story that went otherwise than told.
struct StoryError: Error, Equatable, CustomStringConvertible {
  private let reason: String

  init(_ reason: String) {
    self.reason = reason
  }

  var description: String { "the story does not hold: \(reason)" }
}
