/// A condition for entities of an answer, for example that they have a lazy value that the caller needs.
///
/// ```swift
/// struct WithSummary: EntityContract {
///   func isValid(_ book: Book, for query: Query<Book>) -> Bool { book.summary.isRequested }
/// }
/// let found = try await books.all(in: .localOr(.remote()).with(contract: WithSummary()))
/// ```
///
/// A contract for one read can be a closure: `.with { book, _ in book.summary.isRequested }`.
///
/// A search, get, page or aggregate does not use the answer of a local store that has an invalid entity. The
/// manager reads the next store, then the server if the context falls back to it; if nothing is left, the result
/// is empty. The entities that count are those of the result, after offset and limit. A followed query, a graph's
/// local roots and a server's answer are shown without the invalid entities. If the query has `uniqueBy`, it
/// keeps, of the entities with equal values, the first valid one; a search then reads all matches.
///
/// Called on the task that reads and, for followed results, on threads that compute changes; several at the
/// same time. It must not block.
public protocol EntityContract<E>: Sendable {
  /// The type of the entities.
  associatedtype E: Queryable

  /// Whether an entity meets the contract.
  ///
  /// - Parameters:
  ///   - entity: An entity of a store's answer.
  ///   - query: The query.
  /// - Returns: Whether the caller can use it.
  func isValid(_ entity: E, for query: Query<E>) -> Bool
}

/// A contract from a closure.
package struct ClosureContract<E: Entity>: EntityContract {
  private let condition: @Sendable (E, Query<E>) -> Bool

  package init(_ condition: @escaping @Sendable (E, Query<E>) -> Bool) {
    self.condition = condition
  }

  package func isValid(_ entity: E, for query: Query<E>) -> Bool { condition(entity, query) }
}
