import PandoModels

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
