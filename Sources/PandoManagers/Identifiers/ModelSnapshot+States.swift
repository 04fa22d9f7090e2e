public import PandoStore

extension ModelSnapshot {
  /// Returns the present identifier of an entity: the server's, once the server has assigned one.
  ///
  /// - Parameter identifier: An identifier, also one from before the server assigned its own.
  /// - Returns: The identifier under which the entity is stored; the same if the server has assigned no other.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*) for a local identifier.
  public func currentIdentifier<E: Entity>(
    of identifier: EntityIdentifier<E>
  ) throws -> EntityIdentifier<E> {
    guard identifier.isLocal else { return identifier }
    let current = try currentIdentifier(of: identifier.modelIdentifier)
    return EntityIdentifier(modelIdentifier: current) ?? identifier
  }

  /// Returns whether a server has the stored value of an entity.
  ///
  /// An identifier under which nothing is stored is `unsynced`. It is `pending` if its removal waits, and `refused` if
  /// a server has refused the removal.
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
