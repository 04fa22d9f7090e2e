import PandoModels
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
    guard identifier.isLocal, let alias = try alias(of: identifier.modelIdentifier) else {
      return identifier
    }
    return EntityIdentifier(modelIdentifier: alias.new) ?? identifier
  }

  /// Returns the identifier that a node has now: the server's, once the server has given one.
  ///
  /// - Parameter modelIdentifier: The identifier of a node.
  /// - Returns: The identifier under which the node is stored; the same if it has got no other.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func currentIdentifier(of modelIdentifier: String) throws -> String {
    try alias(of: modelIdentifier)?.new ?? modelIdentifier
  }

  private func alias(of modelIdentifier: String) throws -> IdentifierAlias? {
    guard let bytes = try property(QueueNames.alias(modelIdentifier)) else { return nil }
    return try IdentifierAlias.read(bytes, of: modelIdentifier)
  }
}
