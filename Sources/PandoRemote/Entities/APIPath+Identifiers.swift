public import PandoManagers

extension APIPath.StringInterpolation {
  /// Appends the identifier of an entity as one segment.
  ///
  /// - Parameter identifier: A server's identifier, or a local one.
  public mutating func appendInterpolation<E: Entity>(_ identifier: EntityIdentifier<E>) {
    text += APIPath.escaping(identifier.text)
    if identifier.isLocal { localIdentifiers.append(identifier.modelIdentifier) }
  }
}
