import PandoStore

/// A store over a model store, which says of its answers which commit they show.
protocol NumberedStoring<E>: Storing {
  /// Whose commits they are; `nil` if the answers have no numbers.
  var followedStore: ModelStore? { get }

  /// Answers a query.
  func numberedAnswer(
    _ query: Query<E>
  ) async throws -> (result: QueryResult<E>, number: UInt64)
}
