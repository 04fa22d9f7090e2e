import PandoSystem

/// Numbers of followed queries and graphs, unique in a process.
enum FollowedNumber {
  private static let last = Locked<UInt64>(0)

  /// Returns a new number.
  static func next() -> UInt64 {
    last.withLock { last in
      last += 1
      return last
    }
  }
}
