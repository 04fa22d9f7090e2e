import PandoModels

extension ModelSnapshot {
  /// Returns the identifier that a node has now: the server's, once the server has given one.
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
