/// Which request a read or a write makes.
public struct RemoteEndpoint<E: Entity>: Sendable {
  /// What the remote store makes its request from; `nil` for what the entity type says.
  package let request: (any Sendable)?

  package init(request: (any Sendable)?) { self.request = request }

  /// What the entity type says.
  public static var derived: RemoteEndpoint { RemoteEndpoint(request: nil) }
}
