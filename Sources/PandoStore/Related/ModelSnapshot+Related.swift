import PandoSystem

extension ModelSnapshot {
  /// Returns the entities that a query asks for, each with related values.
  ///
  /// ```swift
  /// let rows = try store.read { try $0.find(projects, with: .answer(.count, of: open, by: \.project)) }
  /// ```
  /// - Parameters:
  ///   - query: The query; its `groupedBy` has no effect.
  ///   - related: The related values.
  /// - Returns: The entities with their values; a value is a tuple if there are several.
  /// - Throws: As ``find(_:)`` and ``answer(_:to:)``.
  /// - Complexity: As ``find(_:)`` for the entities, and as ``find(_:)`` for the models of all of them together. An
  ///   index of the field by which a model names the entity finds these models.
  @_disfavoredOverload
  public func find<E: Queryable, each Value>(
    _ query: Query<E>, with related: repeat Related<E, each Value>
  ) throws -> RelatedResult<E, (repeat each Value)> {
    for related in repeat each related { try related.source.validate() }
    var query = query
    query.groupedBy = nil
    let entities = try find(query).entities
    let keys = entities.map { QueryValue.string($0.modelIdentifier ?? "") }
    let values = (repeat try (each related).source.values(of: keys, in: self))
    return RelatedResult(
      ChunkedArray(
        entities.enumerated().map { place, entity in
          RelatedRow(entity, (repeat (each values)[place]))
        }), since: nil)
  }
}

extension ModelStore {
  /// Returns the entities that a query asks for, each with related values.
  ///
  /// ```swift
  /// let newest = Query<Comment>(order: [.descending(\.created)])
  /// for (post, comment) in try store.find(posts, with: .first(of: newest, by: \.post)) { … }
  /// ```
  /// - Parameters:
  ///   - query: The query.
  ///   - related: The related values.
  /// - Returns: The entities with their values; a tuple for several.
  /// - Throws: As ``ModelSnapshot/find(_:with:)`` and ``read(_:)``.
  /// - Complexity: As ``ModelSnapshot/find(_:with:)``.
  @_disfavoredOverload
  public func find<E: Queryable, each Value>(
    _ query: Query<E>, with related: repeat Related<E, each Value>
  ) throws -> RelatedResult<E, (repeat each Value)> {
    try read { try $0.find(query, with: repeat each related) }
  }

  /// Returns the entities that a query asks for, each with related values; reads on a reader thread.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - related: The related values.
  /// - Returns: The entities with their values; a tuple for several.
  /// - Throws: As ``ModelSnapshot/find(_:with:)`` and the `async` form of ``read(_:)``.
  /// - Complexity: As ``ModelSnapshot/find(_:with:)``.
  @_disfavoredOverload
  public func find<E: Queryable, each Value>(
    _ query: Query<E>, with related: repeat Related<E, each Value>
  ) async throws -> RelatedResult<E, (repeat each Value)> {
    try await read { try $0.find(query, with: repeat each related) }
  }
}
