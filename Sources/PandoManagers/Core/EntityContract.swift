/// Says whether an entity is good enough for a query: has the lazy values that the caller needs, say.
///
/// ```swift
/// struct WithSummary: EntityContract {
///   func isValid(_ book: Book, for query: Query<Book>) -> Bool { book.summary.isRequested }
/// }
/// let found = try await books.all(in: .localOr(.remote()).with(contract: WithSummary()))
/// ```
///
/// One invalid entity in the answer of a local store means that the next store is asked; invalid ones
/// in the answer of a server are left out.
///
/// Asked on the task that reads and, for what is followed, on threads that work out changes, several at the
/// same time; must not block.
public protocol EntityContract<E>: Sendable {
  /// The type of the entities.
  associatedtype E: Queryable

  /// Whether an entity is good enough.
  ///
  /// - Parameters:
  ///   - entity: An entity that a store has answered with.
  ///   - query: What was asked.
  /// - Returns: Whether the caller can use it.
  func isValid(_ entity: E, for query: Query<E>) -> Bool
}

/// A contract made of a closure.
///
/// ```swift
/// let contract = ClosureContract<Book> { book, _ in book.summary.isRequested }
/// let found = try await books.all(in: .localOr(.remote()).with(contract: contract))
/// ```
public struct ClosureContract<E: Entity>: EntityContract {
  private let condition: @Sendable (E, Query<E>) -> Bool

  /// Makes a contract.
  ///
  /// - Parameter condition: Whether an entity is good enough for a query.
  public init(_ condition: @escaping @Sendable (E, Query<E>) -> Bool) { self.condition = condition }

  /// Whether an entity is good enough.
  ///
  /// - Parameters:
  ///   - entity: An entity that a store has answered with.
  ///   - query: What was asked.
  /// - Returns: What the closure says.
  public func isValid(_ entity: E, for query: Query<E>) -> Bool { condition(entity, query) }
}
