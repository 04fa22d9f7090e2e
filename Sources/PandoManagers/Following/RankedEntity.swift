import PandoModels
import PandoStore

/// An entity with its rank in natural order.
struct RankedEntity<E: Queryable>: Sendable {
  /// The identifier of the node.
  let identifier: ByteString
  let entity: E
  /// Increases in natural order.
  let rank: UInt64

  init(_ entity: E, rank: UInt64) {
    identifier = ByteString(entity.modelIdentifier ?? "")
    self.entity = entity
    self.rank = rank
  }
}

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
