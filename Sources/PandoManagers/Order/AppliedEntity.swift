import PandoStore

/// The result of a write for one entity.
package final class AppliedEntity<E: Entity>: Sendable {
  package let identifier: EntityIdentifier<E>
  /// The stored value; `nil` if the entity was removed later than the write.
  package let stored: E?
  /// Whether the stored value is newer, so that nothing was written.
  package let isLate: Bool

  package init(_ identifier: EntityIdentifier<E>, stored: E?, isLate: Bool) {
    self.identifier = identifier
    self.stored = stored
    self.isLate = isLate
  }
}

/// The result of a write.
package struct AppliedWrite<E: Entity>: Sendable {
  /// The results for the entities, in the order given.
  package var entities: [AppliedEntity<E>]
  /// The sequence number of the write.
  package var place: UInt64

  package init(_ entities: [AppliedEntity<E>], place: UInt64) {
    self.entities = entities
    self.place = place
  }

  /// The stored values, in the order given.
  package var stored: [E] { entities.compactMap(\.stored) }
}

/// The result of storing an answer.
package struct AppliedAnswer<E: Entity>: Sendable {
  /// The results for the entities of the answer.
  package var write: AppliedWrite<E>
  /// The entities that the answer has removed.
  package var removed: [EntityIdentifier<E>]
  /// Removals that the rules of the store refused.
  package var refused: [RefusedRemoval] = []

  package init(write: AppliedWrite<E>, removed: [EntityIdentifier<E>]) {
    self.write = write
    self.removed = removed
  }
}

/// The age of an answer.
package struct AnswerPlace: Sendable {
  /// The sequence number of the request.
  package let asOf: UInt64
  /// The sequence number of the first write that waited for the server then; `nil` if none did.
  package var waitingSince: UInt64?

  /// Makes an age.
  package init(asOf: UInt64, waitingSince: UInt64? = nil) {
    (self.asOf, self.waitingSince) = (asOf, waitingSince)
  }
}

/// An answer of a server, to be stored in one step.
package struct AnswerWrite<E: Entity>: Sendable {
  /// The entities, in the server's order.
  package var entities: [E]
  /// The query of the request.
  package var query: Query<E>
  /// The sequence number of the request.
  package var asOf: UInt64
  /// Whether to remove matches of the query that the answer lacks.
  package var discardsExtra: Bool
  /// Whether the entities are in the server's natural order.
  package var isInNaturalOrder: Bool
  /// Further writes: entities of other types in the answer, and times.
  var included: [@Sendable (inout ModelTransaction, AnswerPlace) throws -> Void] = []
  /// The sequence number of the first write that waited for the server at the request; `nil` if none did.
  var waitingSince: UInt64?
  /// The rest of a page of changes.
  var changes: ChangesWrite<E>?
  /// Whether the server sent it without a request; then an entity with a waiting write is newer.
  var isUnasked = false
  /// Entities that the server has removed.
  var gone: [EntityIdentifier<E>] = []
}
