import PandoProviders

/// A query or a graph that is followed, whatever it is of.
protocol Followed: AnyObject, Sendable {
  /// Tells it from all others.
  var number: UInt64 { get }

  /// Ends all iterations.
  func finish()
}

/// A query or a graph that somebody follows.
///
/// Iterations share it and keep it alive; a hub does not. When the last one ends, it is forgotten.
protocol LiveResult<Value>: Followed {
  associatedtype E: Queryable
  associatedtype Value: Sendable

  var state: FollowedState<Value> { get }
  /// What is done when nobody follows it any more.
  var endings: Endings { get }

  /// Shows an answer that is stored nowhere, and that nothing changes later.
  ///
  /// - Returns: `false` if only what is stored can be shown.
  func show(_ answer: QueryResult<E>) -> Bool
}

extension LiveResult {
  /// What observers pull from.
  var observed: ObservedState<Value?> { state.observed }

  func finish() { observed.finish() }
}
