/// Tells live queries of every change of entities, in the order of the changes.
///
/// There is one for each model store, whoever opened managers over it, and one for the entities of a
/// container that are not on disk.
protocol EntityHub: AnyObject, Sendable {
  /// Begins to follow a query: it gets its present entities, and what every later change makes of them.
  ///
  /// Any thread; returns at once.
  func begin<E: Entity>(_ query: LiveQuery<E>)

  /// How much work there was.
  var tally: HubTally { get }
}
