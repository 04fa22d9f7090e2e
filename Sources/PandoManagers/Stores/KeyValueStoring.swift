/// A store in memory that can be read and written without waiting: what caches are made of.
///
/// ```swift
/// let memory: any KeyValueStoring<Book> = InMemoryStore<Book>()
/// memory.keep([book])
/// let again = memory.entity(forID: book.id)
/// ```
///
/// Any thread may call it, several at the same time. A cache may hold a lock meanwhile: it must not block, nor
/// call the cache.
public protocol KeyValueStoring<E>: Storing {
  /// Returns entities by their identifiers.
  ///
  /// - Parameter identifiers: The identifiers.
  /// - Returns: Those that are there, in the order of the identifiers.
  func entities(forIDs identifiers: [EntityIdentifier<E>]) -> [E]

  /// Returns an entity.
  ///
  /// - Parameter identifier: Its identifier.
  /// - Returns: The entity; `nil` if it is not there.
  func entity(forID identifier: EntityIdentifier<E>) -> E?

  /// Keeps entities as they are given.
  ///
  /// - Parameter entities: The entities.
  /// - Returns: The identifiers of those that had to go to make room.
  @discardableResult
  func keep(_ entities: [E]) -> [EntityIdentifier<E>]

  /// Lets go of entities.
  ///
  /// - Parameter identifiers: Their identifiers.
  func drop(_ identifiers: [EntityIdentifier<E>])

  /// Lets go of all entities.
  func dropAll()
}

extension KeyValueStoring {
  /// Returns an entity as ``entities(forIDs:)`` does.
  ///
  /// - Parameter identifier: Its identifier.
  /// - Returns: The entity; `nil` if it is not there.
  public func entity(forID identifier: EntityIdentifier<E>) -> E? {
    entities(forIDs: [identifier]).first
  }
}
