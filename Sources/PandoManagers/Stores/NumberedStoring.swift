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

/// A store whose entities are those of a model store, and so can be read from a snapshot of it.
protocol SnapshotStoring<E>: NumberedStoring {
  /// Returns an entity as a snapshot shows it.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - snapshot: A snapshot of ``NumberedStoring/followedStore``.
  ///   - childCount: Set to how many nodes were read for it beside its own.
  /// - Returns: The entity; `nil` if there is none.
  /// - Throws: What a read of the store throws.
  func entity(
    _ identifier: EntityIdentifier<E>, in snapshot: ModelSnapshot, _ childCount: inout Int
  ) throws -> E?
}
