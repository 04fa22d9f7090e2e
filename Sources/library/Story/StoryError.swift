/// A step of the story that went otherwise than told.
struct StoryError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ reason: String) { description = "the story does not hold: \(reason)" }
}
