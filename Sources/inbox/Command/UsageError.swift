/// A command line that makes no sense.
struct UsageError: Error, Equatable {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
