/// How large a figure should be, or how small.
struct Goal: Sendable, Equatable {
  /// Which way is better.
  enum Direction: String, Sendable, Codable {
    case atLeast = "at least"
    case atMost = "at most"
  }

  let value: Double
  let direction: Direction

  /// A figure that should be so large.
  static func atLeast(_ value: Double) -> Goal { Goal(value: value, direction: .atLeast) }

  /// A figure that should be so small.
  static func atMost(_ value: Double) -> Goal { Goal(value: value, direction: .atMost) }

  /// Whether a figure is good enough.
  func isReached(by figure: Double) -> Bool {
    switch direction {
    case .atLeast: figure >= value
    case .atMost: figure <= value
    }
  }
}
