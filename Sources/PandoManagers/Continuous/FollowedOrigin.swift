import PandoProviders

/// Where iterations over something followed begin.
protocol FollowedOrigin<Value>: Sendable {
  associatedtype Value: Sendable

  /// Joins those who follow it, or begins to follow it.
  ///
  /// - Throws: Why it can't be followed at all.
  func join() throws -> Following<Value>
}

/// One who follows.
struct Following<Value: Sendable> {
  /// Kept alive as long as somebody follows.
  let live: any AnyObject & Sendable
  let observed: ObservedState<Value?>
  var cursor: ObserverCursor
}
