import PandoModels

/// What a commit left of one entity that it touched.
struct EntityChange<E: Queryable>: Sendable {
  /// The identifier of the node.
  let identifier: ByteString
  /// The entity now; `nil` if it has gone.
  let entity: RankedEntity<E>?

  init(_ identifier: ByteString, _ entity: RankedEntity<E>?) {
    self.identifier = identifier
    self.entity = entity
  }
}
