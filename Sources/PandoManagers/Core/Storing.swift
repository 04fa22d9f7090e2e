/// A place where entities of one type are kept.
///
/// ```swift
/// var level: StoreLevel { .disk }
/// func search(
///   withQuery query: Query<Book>, in context: ReadContext<Book>
/// ) async throws -> QueryResult<Book> {
///   try query.apply(to: await catalogue.all())
/// }
/// ```
///
/// Stores are put together to stacks; a ``CoreManager`` asks them level by level. A store of a
/// service's own needs nothing but these five calls.
///
/// - Note: Any thread may call it, several at the same time.
public protocol Storing<E>: Sendable {
  /// The type of the entities.
  associatedtype E: Entity

  /// Where the store keeps them.
  var level: StoreLevel { get }

  /// Returns entities by their identifiers.
  ///
  /// - Parameters:
  ///   - query: A query by identifiers.
  ///   - context: How the caller reads; a store below the level `remote` can ignore it.
  /// - Returns: Those that are there, in the order of the identifiers.
  /// - Throws: Why they can't be had; an absent entity is no error.
  func get(withQuery query: Query<E>, in context: ReadContext<E>) async throws -> QueryResult<E>

  /// Returns the entities that match a query.
  ///
  /// - Parameters:
  ///   - query: Any query.
  ///   - context: How the caller reads.
  /// - Returns: Those that match, in the order of the query.
  /// - Throws: Why they can't be had.
  func search(withQuery query: Query<E>, in context: ReadContext<E>) async throws -> QueryResult<E>

  /// Stores entities; one that is there already is merged with the new value.
  ///
  /// - Parameters:
  ///   - entities: The new values.
  ///   - context: How the caller writes, and which place the write has in the order of writes.
  /// - Returns: What is stored now of these entities; one that was newer already as it is, one that
  ///   was removed later not at all.
  /// - Throws: Why they can't be stored; then none is.
  func set(_ entities: [E], in context: WriteContext<E>) async throws -> [E]

  /// Removes entities by their identifiers.
  ///
  /// - Parameters:
  ///   - identifiers: The identifiers; those of absent entities do no harm.
  ///   - context: How the caller writes.
  /// - Throws: Why they can't be removed; then none is.
  func remove(_ identifiers: [EntityIdentifier<E>], in context: WriteContext<E>) async throws

  /// Removes all entities that match a query.
  ///
  /// - Parameters:
  ///   - query: Any query.
  ///   - context: How the caller writes.
  /// - Returns: The identifiers of those that were removed.
  /// - Throws: Why they can't be removed; then none is.
  func removeAll(
    withQuery query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>]
}
