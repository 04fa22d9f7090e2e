/// A store in memory that answers without waiting, as the memory of a cache.
///
/// ```swift
/// let memory: any KeyValueStoring<Book> = InMemoryStore<Book>()
/// memory.keep([book])
/// let again = memory.entity(forID: book.id)
/// ```
///
/// Any thread may call it, several at the same time. A cache may hold a lock during a call, so a method must
/// not block or call the cache.
public protocol KeyValueStoring<E>: Storing {
  /// Returns entities by their identifiers.
  ///
  /// - Parameter identifiers: The identifiers.
  /// - Returns: The entities that the store has, in the order of the identifiers.
  func entities(forIDs identifiers: [EntityIdentifier<E>]) -> [E]

  /// Returns an entity.
  ///
  /// - Parameter identifier: Its identifier.
  /// - Returns: The entity; `nil` if the store lacks it.
  func entity(forID identifier: EntityIdentifier<E>) -> E?

  /// Stores entities without merging.
  ///
  /// - Parameter entities: The entities.
  /// - Returns: The identifiers of entities that the store removed to make room.
  @discardableResult
  func keep(_ entities: [E]) -> [EntityIdentifier<E>]

  /// Removes entities, without tombstones.
  ///
  /// - Parameter identifiers: Their identifiers.
  func drop(_ identifiers: [EntityIdentifier<E>])

  /// Removes all entities, without tombstones.
  func dropAll()
}

extension KeyValueStoring {
  /// Returns the first result of ``entities(forIDs:)``.
  ///
  /// - Parameter identifier: Its identifier.
  /// - Returns: The entity; `nil` if the store lacks it.
  public func entity(forID identifier: EntityIdentifier<E>) -> E? {
    entities(forIDs: [identifier]).first
  }
}
