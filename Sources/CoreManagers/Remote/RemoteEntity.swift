/// An entity that a server keeps.
public protocol RemoteEntity: Entity {}

/// An entity of a server that can be made and changed here.
public protocol MutableEntity: RemoteEntity {
  /// This entity under another identifier.
  ///
  /// - Parameter id: The identifier that the server has given.
  /// - Returns: The same entity, named so.
  func withIdentifier(_ id: EntityIdentifier<Self>) -> Self
}
