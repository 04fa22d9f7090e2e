import PandoSystem

/// Numbers for what is followed, each given once in a process.
enum FollowedNumber {
  private static let last = Locked<UInt64>(0)

  /// A number that nobody has.
  static func next() -> UInt64 {
    last.withLock { last in
      last += 1
      return last
    }
  }
}
