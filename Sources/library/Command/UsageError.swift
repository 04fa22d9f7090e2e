/// What is asked for makes no sense.
struct UsageError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ reason: String) { description = reason }
}
