public import PandoStore

extension ModelSnapshot {
  /// Returns the identifier that an entity has now: the server's, once the server has given one.
  ///
  /// - Parameter identifier: An identifier, perhaps one from before the server knew the entity.
  /// - Returns: The identifier under which the entity is stored; the same if it has got no other.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*) for a local identifier.
  public func currentIdentifier<E: Entity>(
    of identifier: EntityIdentifier<E>
  ) throws -> EntityIdentifier<E> {
    guard identifier.isLocal else { return identifier }
    let current = try currentIdentifier(of: identifier.modelIdentifier)
    return EntityIdentifier(modelIdentifier: current) ?? identifier
  }

  /// Returns whether a server has an entity as it is here.
  ///
  /// An identifier under which nothing is stored is `unsynced`; `pending` if its removal waits, `refused` if a server has
  /// refused that.
  ///
  /// ```swift
  /// let state = try store.read { try $0.synchronizationState(of: issue.id) }
  /// ```
  /// - Parameter identifier: The identifier of the entity.
  /// - Returns: The state.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func synchronizationState<E: Entity>(
    of identifier: EntityIdentifier<E>
  ) throws -> SynchronizationState {
    try synchronizationState(of: currentIdentifier(of: identifier).modelIdentifier)
  }
}
