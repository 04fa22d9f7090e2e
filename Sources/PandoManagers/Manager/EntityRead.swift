/// A read of entities by their identifiers, or of the entities that match a query.
package struct EntityRead<E: Entity>: Sendable {
  /// The query of the read.
  package let query: Query<E>
  /// The identifiers, if the query has no other condition.
  let identifiers: [EntityIdentifier<E>]?
  private let isGet: Bool
  /// The page of the result that the caller gets; `nil` for the whole result.
  private let page: (query: Query<E>, last: E)?

  init(getting identifiers: [EntityIdentifier<E>]) {
    query = Query(ids: identifiers)
    self.identifiers = identifiers
    isGet = true
    page = nil
  }

  package init(searching query: Query<E>) {
    self.query = query
    identifiers = query.identifiers
    isGet = false
    page = nil
  }

  /// A read of the whole result of a query, for the page that follows an entity.
  init(searching query: Query<E>, after last: E) {
    self.query = query.whole
    identifiers = query.identifiers
    isGet = false
    page = (query, last)
  }

  /// Whether a result has one entity for each identifier, or for another query at least one entity.
  func isSufficient(_ result: QueryResult<E>) -> Bool {
    guard let identifiers else { return !result.isEmpty }
    let wanted = Set(identifiers).count
    return result.count >= min(wanted, query.limit ?? wanted) && (wanted == 0 || !result.isEmpty)
  }

  /// Whether uniqueness is applied after the contract: the contract may reject the entity that a store keeps.
  func selectsUnique(in context: ReadContext<E>) -> Bool {
    context.contract != nil && !query.uniqueBy.isEmpty
  }

  func answer(
    of store: any Storing<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    if isGet { return try await store.get(withQuery: query, in: context) }
    guard selectsUnique(in: context) else {
      return try await store.search(withQuery: query, in: context)
    }
    let found = try await store.search(withQuery: query.matches, in: context)
    var result = query.select(from: found.entities, preferring: validity(in: context))
    result.takeNotes(of: found)
    return result
  }

  /// Answers the query from the entities that a server has sent.
  func answer(
    from entities: [E], in context: ReadContext<E>
  ) throws(QueryError) -> QueryResult<E> {
    try query.apply(to: entities, preferring: validity(in: context))
  }

  /// Whether all entities that the caller gets of a local result meet the contract.
  func isValid(_ result: QueryResult<E>, in context: ReadContext<E>) -> Bool {
    guard let isValid = validity(in: context) else { return true }
    return wanted(of: result).allSatisfy(isValid)
  }

  /// A server's result without the entities that break the contract.
  func valid(_ result: QueryResult<E>, in context: ReadContext<E>) -> QueryResult<E> {
    guard let isValid = validity(in: context) else { return result }
    var valid = QueryResult(result.entities.filter(isValid), groupedBy: query.groupedBy)
    valid.takeNotes(of: result)
    return valid
  }

  private func validity(in context: ReadContext<E>) -> ((E) -> Bool)? {
    context.contract.map { contract in { contract.isValid($0, for: query) } }
  }

  private func wanted(of result: QueryResult<E>) -> [E] {
    guard let page else { return result.entities }
    // The caller gets the error when it takes the page.
    return (try? page.query.window(of: result.entities, after: page.last))?.entities ?? []
  }
}
