import ModelCore

/// An entity with its place in the natural order.
struct RankedEntity<E: Entity>: Sendable {
  /// The identifier of the node.
  let identifier: ByteString
  let entity: E
  /// Grows in natural order.
  let rank: UInt64

  init(_ entity: E, rank: UInt64) {
    identifier = ByteString(entity.id.modelIdentifier)
    self.entity = entity
    self.rank = rank
  }
}

/// What a commit left of one entity that it touched.
struct EntityChange<E: Entity>: Sendable {
  /// The identifier of the node.
  let identifier: ByteString
  /// The entity now; `nil` if it has gone.
  let entity: RankedEntity<E>?

  init(_ identifier: ByteString, _ entity: RankedEntity<E>?) {
    self.identifier = identifier
    self.entity = entity
  }
}
