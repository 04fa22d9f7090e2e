public import PandoManagers

/// An operation on a server.
///
/// ```swift
/// static func request(for path: RemotePath<Rule>) throws -> APIRequest? {
///   switch path {
///   case .get(let id): APIRequest(.get, "/rules/\(id)")
///   case .search: APIRequest(.get, "/rules")
///   default: nil  // the server has no such operation
///   }
/// }
/// ```
public indirect enum RemotePath<E: Entity>: Sendable {
  /// Read one entity.
  case get(EntityIdentifier<E>)
  /// Read several entities.
  case getAll([EntityIdentifier<E>])
  /// Read the entities that match.
  case search(Query<E>)
  /// Create an entity that has a local identifier.
  case create(E)
  /// Store an entity that has an identifier of the server.
  case update(E)
  /// Remove an entity.
  case remove(EntityIdentifier<E>)
  /// Remove the entities that match.
  case removeAll(Query<E>)
  /// Read what has changed since the cursor of an earlier answer, or everything for `nil`; see
  /// ``RemotePayload/changes(removed:cursor:more:expired:)``.
  case changes(since: String?)
}

extension APIPath {
  /// Returns this path with the identifier of an entity as one more segment.
  ///
  /// - Parameter identifier: A server's identifier, or a local one.
  /// - Returns: The longer path.
  public func appending<E: Entity>(_ identifier: EntityIdentifier<E>) -> APIPath {
    var path = self
    path.text += (text.hasSuffix("/") ? "" : "/") + APIPath.escaping(identifier.text)
    if identifier.isLocal { path.localIdentifiers.append(identifier.modelIdentifier) }
    return path
  }
}
