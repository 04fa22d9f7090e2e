/// A store of entities of one type.
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
/// A ``CoreManager`` reads a stack of stores level by level. A custom store implements these five methods.
/// Use ``InMemoryStore``, ``DiskStore`` or `RemoteStore` where they suffice: they also order late answers.
///
/// - Note: Any thread may call it, several at the same time.
public protocol Storing<E>: Sendable {
  /// The type of the entities.
  associatedtype E: Entity

  /// The place of the entities.
  var level: StoreLevel { get }

  /// Returns entities by their identifiers.
  ///
  /// - Parameters:
  ///   - query: A query by identifiers.
  ///   - context: The options of the read; a store at another level than `remote` can ignore it.
  /// - Returns: The entities that exist, in the order of the identifiers.
  /// - Throws: The reason why they can't be read; an absent entity is no error.
  func get(withQuery query: Query<E>, in context: ReadContext<E>) async throws -> QueryResult<E>

  /// Returns the entities that match a query.
  ///
  /// - Parameters:
  ///   - query: Any query.
  ///   - context: The options of the read.
  /// - Returns: The matches, in the order of the query.
  /// - Throws: The reason why they can't be read.
  func search(withQuery query: Query<E>, in context: ReadContext<E>) async throws -> QueryResult<E>

  /// Stores entities, merged into stored ones.
  ///
  /// - Parameters:
  ///   - entities: The new values.
  ///   - context: The options of the write, with its sequence number if it is an answer.
  /// - Returns: The stored values: the newer one if the write is late, none if the entity was removed later.
  /// - Throws: The reason why nothing is stored.
  func set(_ entities: [E], in context: WriteContext<E>) async throws -> [E]

  /// Removes entities by their identifiers.
  ///
  /// - Parameters:
  ///   - identifiers: The identifiers; absent entities are no error.
  ///   - context: The options of the write.
  /// - Throws: The reason why nothing is removed.
  func remove(_ identifiers: [EntityIdentifier<E>], in context: WriteContext<E>) async throws

  /// Removes all entities that match a query.
  ///
  /// - Parameters:
  ///   - query: Any query.
  ///   - context: The options of the write.
  /// - Returns: The identifiers of the removed entities.
  /// - Throws: The reason why nothing is removed.
  func removeAll(
    withQuery query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>]
}
