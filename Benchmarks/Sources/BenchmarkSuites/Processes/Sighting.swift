/// When a process has seen the commit of a number.
struct Sighting: Sendable {
  let number: Int
  /// By the monotonic clock, which all processes of a machine share.
  let nanoseconds: UInt64

  init(_ number: Int, at nanoseconds: UInt64) {
    self.number = number
    self.nanoseconds = nanoseconds
  }

  /// Reads ``text``.
  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2, let number = Int(words[0]), let nanoseconds = UInt64(words[1]) else {
      return nil
    }
    self.init(number, at: nanoseconds)
  }

  /// One line for another process.
  var text: String { "\(number) \(nanoseconds)" }
}

extension [Sighting] {
  /// How long after each commit it was seen, itself or a newer one, in nanoseconds; 0 where that was before
  /// the writer went on.
  ///
  /// - Parameter commits: When the commits 1, 2, … were made.
  /// - Returns: As many as there are commits up to the last that was seen.
  func latencies(after commits: [UInt64]) -> [UInt64] {
    var latencies: [UInt64] = []
    for sighting in sorted(by: { $0.nanoseconds < $1.nanoseconds }) {
      while latencies.count < Swift.min(sighting.number, commits.count) {
        let commit = commits[latencies.count]
        latencies.append(sighting.nanoseconds > commit ? sighting.nanoseconds - commit : 0)
      }
    }
    return latencies
  }
}
