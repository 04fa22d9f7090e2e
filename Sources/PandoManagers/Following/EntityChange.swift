import PandoModels

/// The state of an entity after a commit that touched it.
struct EntityChange<E: Queryable>: Sendable {
  /// The identifier of the node.
  let identifier: ByteString
  /// The entity; `nil` if it was removed.
  let entity: RankedEntity<E>?

  init(_ identifier: ByteString, _ entity: RankedEntity<E>?) {
    self.identifier = identifier
    self.entity = entity
  }
}
