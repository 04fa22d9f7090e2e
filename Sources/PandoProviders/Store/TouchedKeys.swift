import PandoModels

/// Which commits have touched which keys since the oldest load that is on its way began.
struct TouchedKeys {
  /// How many keys are remembered; loads that are older are read again.
  private static let keyCountMaximum = 65_536

  private var numbers: [ByteString: UInt64] = [:]
  /// Nothing is known of this commit and those before.
  private var floor: UInt64 = 0

  /// Notes that a commit touches keys.
  mutating func touch(_ keys: some Sequence<ByteString>, by number: UInt64) {
    for key in keys { numbers[key] = number }
    if numbers.count > Self.keyCountMaximum { forget(upTo: number) }
  }

  /// Whether a commit after a number has touched one of the keys, or may have.
  func contains(_ keys: [ByteString], after number: UInt64) -> Bool {
    number < floor || keys.contains { (numbers[$0] ?? 0) > number }
  }

  /// Forgets commits: nobody asks for them, or there are too many.
  mutating func forget(upTo number: UInt64) {
    floor = number
    if !numbers.isEmpty { numbers = [:] }
  }
}
