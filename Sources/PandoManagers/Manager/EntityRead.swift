/// A read: of entities by their identifiers, or of those that match a query.
package struct EntityRead<E: Entity>: Sendable {
  /// The query of the read.
  package let query: Query<E>
  /// The identifiers, if the query has no other condition.
  let identifiers: [EntityIdentifier<E>]?
  private let isGet: Bool

  init(getting identifiers: [EntityIdentifier<E>]) {
    query = Query(ids: identifiers)
    self.identifiers = identifiers
    isGet = true
  }

  package init(searching query: Query<E>) {
    self.query = query
    identifiers = query.identifiers
    isGet = false
  }

  /// Whether a result has one entity for each identifier, or for another query at least one entity.
  func isSufficient(_ result: QueryResult<E>) -> Bool {
    guard let identifiers else { return !result.isEmpty }
    let wanted = Set(identifiers).count
    return result.count >= min(wanted, query.limit ?? wanted) && (wanted == 0 || !result.isEmpty)
  }

  func answer(
    of store: any Storing<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    isGet
      ? try await store.get(withQuery: query, in: context)
      : try await store.search(withQuery: query, in: context)
  }
}
