/// The count so far for a question.
package enum Tally: Sendable {
  case count(Int)
  case sum(NumberSum)
  case extreme(QueryValue?, isMaximum: Bool)
  /// Values among which one is found by its rank.
  case values([QueryValue])
  indirect case groups([GroupValues: Tally])
  case combined([Tally])

  /// The number of entities; 0 for another tally.
  package var count: Int { if case .count(let count) = self { count } else { 0 } }

  /// The sum; empty for another tally.
  package var sum: NumberSum { if case .sum(let sum) = self { sum } else { NumberSum() } }

  /// The lowest or highest value; `nil` for another tally.
  package var extreme: QueryValue? { if case .extreme(let value, _) = self { value } else { nil } }

  /// The tallies of groups; empty for another tally.
  package var groups: [GroupValues: Tally] {
    if case .groups(let groups) = self { groups } else { [:] }
  }

  /// The tallies of several quantities; empty for another tally.
  package var parts: [Tally] { if case .combined(let parts) = self { parts } else { [] } }

  /// The value at a percentile by nearest rank; `nil` of no values.
  ///
  /// - Complexity: O(*n* log *n*) for *n* values.
  func value(atPercentile percentile: Double) -> QueryValue? {
    guard case .values(let values) = self, !values.isEmpty else { return nil }
    if values.count == 1 { return values[0] }
    return values.sorted()[Self.rank(percentile, of: values.count) - 1]
  }

  /// The nearest rank of a percentile among values, from 1.
  static func rank(_ percentile: Double, of count: Int) -> Int {
    min(max(1, Int((percentile * Double(count) / 100).rounded(.up))), count)
  }

  /// Counts what another tally of the same measure has counted.
  mutating func add(_ other: Tally) {
    switch (self, other) {
    case (.count(let count), .count(let more)): self = .count(count + more)
    case (.sum(var sum), .sum(let more)):
      sum.add(more)
      self = .sum(sum)
    case (.extreme(let best, let isMaximum), .extreme(let value?, _)):
      if best.map({ isMaximum ? $0 < value : value < $0 }) ?? true {
        self = .extreme(value, isMaximum: isMaximum)
      }
    case (.values(let values), .values(let more)): self = .values(values + more)
    case (.groups(let groups), .groups(let more)):
      self = .groups(groups.merging(more) { $0.adding($1) })
    case (.combined(let parts), .combined(let more)):
      self = .combined(zip(parts, more).map { $0.adding($1) })
    default: break
    }
  }

  private func adding(_ other: Tally) -> Tally {
    var sum = self
    sum.add(other)
    return sum
  }
}

extension QueryValue {
  /// Whether it counts in a sum, a minimum and a maximum: null, not-a-number and values of several
  /// parts do not.
  package var isValue: Bool { kind != .null && kind != .notANumber && kind != .composite }
}
