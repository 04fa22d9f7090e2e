import ModelCore

/// An entity with its place in the natural order.
package struct RankedEntity<E: Entity>: Sendable {
  /// The identifier of the node.
  package let identifier: ByteString
  package let entity: E
  /// Grows in natural order.
  package let rank: UInt64

  package init(_ entity: E, rank: UInt64) {
    identifier = ByteString(entity.id.modelIdentifier)
    self.entity = entity
    self.rank = rank
  }
}

/// What a commit left of one entity that it touched.
package struct EntityChange<E: Entity>: Sendable {
  /// The identifier of the node.
  package let identifier: ByteString
  /// The entity now; `nil` if it has gone.
  package let entity: RankedEntity<E>?

  package init(_ identifier: ByteString, _ entity: RankedEntity<E>?) {
    self.identifier = identifier
    self.entity = entity
  }
}
