import PandoModels
public import PandoStore

extension ModelSnapshot {
  /// Returns the present identifier of an entity: the server's, if a server has assigned one.
  ///
  /// - Parameter identifier: An identifier of the entity, present or local.
  /// - Returns: The identifier under which the entity is stored; `identifier` if no other was assigned.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n*) for a local identifier.
  public func currentIdentifier<E: Entity>(
    of identifier: EntityIdentifier<E>
  ) throws -> EntityIdentifier<E> {
    guard identifier.isLocal, let alias = try alias(of: identifier.modelIdentifier) else {
      return identifier
    }
    return EntityIdentifier(modelIdentifier: alias.new) ?? identifier
  }

  /// Returns the present identifier of a node: the server's, if a server has assigned one.
  ///
  /// - Parameter modelIdentifier: An identifier of the node.
  /// - Returns: The identifier under which the node is stored; `modelIdentifier` if no other was assigned.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func currentIdentifier(of modelIdentifier: String) throws -> String {
    try alias(of: modelIdentifier)?.new ?? modelIdentifier
  }

  private func alias(of modelIdentifier: String) throws -> IdentifierAlias? {
    guard let bytes = try property(QueueNames.alias(modelIdentifier)) else { return nil }
    return try IdentifierAlias.read(bytes, of: modelIdentifier)
  }
}
