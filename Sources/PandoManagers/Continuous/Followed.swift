/// A query or a graph that is followed.
protocol Followed: AnyObject, Sendable {
  /// Tells it from all others.
  var number: UInt64 { get }

  /// Ends all iterations.
  func finish()
}
