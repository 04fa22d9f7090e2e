public import PandoManagers

/// What a server is asked for, or is to do.
///
/// ```swift
/// static func request(for path: RemotePath<Rule>) throws -> APIRequest? {
///   switch path {
///   case .get(let id): APIRequest(.get, "/rules/\(id)")
///   case .search: APIRequest(.get, "/rules")
///   default: nil  // not done by this server
///   }
/// }
/// ```
public indirect enum RemotePath<E: Entity>: Sendable {
  /// One entity.
  case get(EntityIdentifier<E>)
  /// Several entities.
  case getAll([EntityIdentifier<E>])
  /// The entities that match.
  case search(Query<E>)
  /// Make an entity that has a local identifier.
  case create(E)
  /// Store an entity that the server knows.
  case update(E)
  /// Remove an entity.
  case remove(EntityIdentifier<E>)
  /// Remove the entities that match.
  case removeAll(Query<E>)
  /// What has changed since a cursor that an earlier answer gave; all for `nil`. See
  /// ``RemotePayload/changes(removed:cursor:more:expired:)``.
  case changes(since: String?)
}

extension APIPath {
  /// This path with the identifier of an entity as one more segment.
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
