package import PandoModels

/// The last commit that changed a key, for recent commits.
///
/// Data that was read at a commit is current if no later commit has changed its keys.
package struct RecentTouches: Sendable {
  /// The maximum count of keys in each of the two tables, which take some megabytes.
  private static let countMaximum = 32_768

  private var recent: [ByteString: UInt64] = [:]
  private var older: [ByteString: UInt64] = [:]
  /// No information is kept about the commits up to this number.
  private var floor: UInt64 = 0
  private var newestOfOlder: UInt64 = 0
  private var newest: UInt64 = 0

  package init() {}

  /// Records that a commit changes keys; commits are recorded in order.
  package mutating func touch(_ keys: [ByteString], by number: UInt64) {
    newest = number
    for key in keys { recent[key] = number }
    guard recent.count > Self.countMaximum else { return }
    floor = newestOfOlder
    older = recent
    newestOfOlder = newest
    recent = [:]
  }

  /// Removes all information about the commits up to a number.
  ///
  /// Used if no load runs, or if their changes are unknown.
  package mutating func forget(upTo number: UInt64) {
    if !recent.isEmpty { recent = [:] }
    if !older.isEmpty { older = [:] }
    floor = number
    newest = number
    newestOfOlder = number
  }

  /// Returns true if a later commit has or may have changed anything.
  package func containsAny(after number: UInt64) -> Bool { number < newest }

  /// Returns true if a later commit has or may have changed one of the keys.
  package func contains(_ keys: [ByteString], after number: UInt64) -> Bool {
    if number < floor { return true }
    guard containsAny(after: number) else { return false }
    return keys.contains { key in
      (recent[key] ?? 0) > number || (older[key] ?? 0) > number
    }
  }
}
