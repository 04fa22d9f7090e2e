import PandoProviders

/// A followed query or graph, of any type.
protocol Followed: AnyObject, Sendable {
  /// Unique in this process.
  var number: UInt64 { get }

  /// Ends all iterations.
  func finish()
}

/// A followed query or graph with its present value.
///
/// Iterations share it and hold it; a hub holds it weakly. It ends with the last iteration.
protocol LiveResult<Value>: Followed {
  associatedtype E: Queryable
  associatedtype Value: Sendable

  var state: FollowedState<Value> { get }
  /// Closures that run after the last iteration.
  var endings: Endings { get }

  /// Shows an answer that is not stored, so that nothing changes it later.
  ///
  /// - Returns: `false` if only stored values can be shown.
  func show(_ answer: QueryResult<E>) -> Bool
}

extension LiveResult {
  /// The state that observers read.
  var observed: ObservedState<Value?> { state.observed }

  func finish() { observed.finish() }
}
