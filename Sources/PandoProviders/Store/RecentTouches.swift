package import PandoModels

/// Which commit was the last to touch a key, for the last commits.
///
/// Whoever keeps what was read at a commit asks here whether it still is what the store has.
package struct RecentTouches: Sendable {
  /// How many keys are remembered at most, twice: some megabytes.
  private static let countMaximum = 32_768

  private var recent: [ByteString: UInt64] = [:]
  private var older: [ByteString: UInt64] = [:]
  /// Nothing is known of the commits up to this one.
  private var floor: UInt64 = 0
  private var newestOfOlder: UInt64 = 0
  private var newest: UInt64 = 0

  package init() {}

  /// Notes that a commit touches keys; commits come in their order.
  package mutating func touch(_ keys: some Sequence<ByteString>, by number: UInt64) {
    newest = number
    for key in keys { recent[key] = number }
    guard recent.count > Self.countMaximum else { return }
    floor = newestOfOlder
    older = recent
    newestOfOlder = newest
    recent = [:]
  }

  /// Forgets all commits up to one: nobody asks for them, or nobody knows what they have touched.
  package mutating func forget(upTo number: UInt64) {
    if !recent.isEmpty { recent = [:] }
    if !older.isEmpty { older = [:] }
    floor = number
    newest = number
    newestOfOlder = number
  }

  /// Whether a commit after a number has touched anything, or may have.
  package func containsAny(after number: UInt64) -> Bool { number < newest }

  /// Whether a commit after a number has touched one of some keys, or may have.
  package func contains(_ keys: [ByteString], after number: UInt64) -> Bool {
    if number < floor { return true }
    guard containsAny(after: number) else { return false }
    return keys.contains { key in
      (recent[key] ?? 0) > number || (older[key] ?? 0) > number
    }
  }
}
