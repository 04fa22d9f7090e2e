/// How many operations took how long.
struct LatencyDistribution: Sendable, Equatable {
  /// Operations, by the greatest number of nanoseconds of their bucket.
  private(set) var counts: [UInt64: Int]
  /// The slowest operation, in nanoseconds, exactly.
  private(set) var maximum: UInt64

  /// The distribution of nothing.
  static var none: LatencyDistribution { LatencyDistribution(counts: [:], maximum: 0) }

  /// How many operations were timed.
  var count: Int { counts.values.reduce(0, +) }

  /// Adds another distribution.
  mutating func add(_ other: LatencyDistribution) {
    counts.merge(other.counts, uniquingKeysWith: +)
    maximum = max(maximum, other.maximum)
  }

  /// The nanoseconds within which a share of the operations ended; 0 if there were none.
  func nanoseconds(atShare share: Double) -> UInt64 {
    let rank = Int((Double(count) * share).rounded(.up))
    var seen = 0
    for (nanoseconds, count) in counts.sorted(by: { $0.key < $1.key }) {
      seen += count
      if seen >= rank { return min(nanoseconds, maximum) }
    }
    return maximum
  }
}
