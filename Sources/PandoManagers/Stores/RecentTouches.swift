import PandoModels

/// Which commit was the last to touch a node, for the last commits.
struct RecentTouches {
  /// How many nodes are remembered at most, twice: some megabytes.
  private static let countMaximum = 32_768

  private var recent: [ByteString: UInt64] = [:]
  private var older: [ByteString: UInt64] = [:]
  /// Nothing is known of the commits up to this one.
  private var floor: UInt64 = 0
  private var newestOfOlder: UInt64 = 0
  private var newest: UInt64 = 0

  mutating func touch(_ keys: [ByteString], by number: UInt64) {
    newest = number
    for key in keys { recent[key] = number }
    guard recent.count > Self.countMaximum else { return }
    floor = newestOfOlder
    older = recent
    newestOfOlder = newest
    recent = [:]
  }

  mutating func forgetAll(upTo number: UInt64) {
    recent = [:]
    older = [:]
    floor = number
    newest = number
    newestOfOlder = number
  }

  func contains(_ keys: [ByteString], after number: UInt64) -> Bool {
    if number < floor { return true }
    return keys.contains { key in
      (recent[key] ?? 0) > number || (older[key] ?? 0) > number
    }
  }
}
