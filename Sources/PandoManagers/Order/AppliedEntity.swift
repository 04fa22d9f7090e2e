import PandoStore

/// What became of one entity of a write.
package final class AppliedEntity<E: Entity>: Sendable {
  /// Which entity.
  package let identifier: EntityIdentifier<E>
  /// What is stored now; `nil` if it was removed later than the write's place in the order.
  package let stored: E?
  /// Whether something newer was there, so that nothing was written.
  package let isLate: Bool

  package init(_ identifier: EntityIdentifier<E>, stored: E?, isLate: Bool) {
    self.identifier = identifier
    self.stored = stored
    self.isLate = isLate
  }
}

/// What became of a write.
package struct AppliedWrite<E: Entity>: Sendable {
  /// What became of the entities, in the order given.
  package var entities: [AppliedEntity<E>]
  /// The place of the write in the order: whatever is newer has a higher one.
  package var place: UInt64

  package init(_ entities: [AppliedEntity<E>], place: UInt64) {
    self.entities = entities
    self.place = place
  }

  /// What is stored now, in the order given.
  package var stored: [E] { entities.compactMap(\.stored) }
}

/// What became of the answer of a server.
package struct AppliedAnswer<E: Entity>: Sendable {
  /// What became of its entities.
  package var write: AppliedWrite<E>
  /// What went because it was not in the answer.
  package var removed: [EntityIdentifier<E>]
  /// What did not go because the rules of the store refuse it.
  package var refused: [RefusedRemoval] = []

  package init(write: AppliedWrite<E>, removed: [EntityIdentifier<E>]) {
    self.write = write
    self.removed = removed
  }
}

/// How old an answer is.
package struct AnswerPlace: Sendable {
  /// The place at which the server was asked.
  package let asOf: UInt64
  /// The place of the first write that waited to be sent then; `nil` if none did.
  package var waitingSince: UInt64?

  /// Makes a place.
  package init(asOf: UInt64, waitingSince: UInt64? = nil) {
    (self.asOf, self.waitingSince) = (asOf, waitingSince)
  }
}

/// The answer of a server, to be stored as a whole.
package struct AnswerWrite<E: Entity>: Sendable {
  /// The entities, in the server's order.
  package var entities: [E]
  /// What was asked.
  package var query: Query<E>
  /// The place at which it was asked.
  package var asOf: UInt64
  /// Whether what matches here and is not in the answer goes.
  package var discardsExtra: Bool
  /// Whether the order of the entities is the server's own.
  package var isInNaturalOrder: Bool
  /// Entities of other types that came with them.
  var included: [@Sendable (inout ModelTransaction, AnswerPlace) throws -> Void] = []
  /// The place of the first write that waited to be sent when it was asked; `nil` if none did.
  var waitingSince: UInt64?
  /// What else a page of changes says.
  var changes: ChangesWrite<E>?
  /// Whether nobody asked for it: then what waits here to be sent is newer.
  var isUnasked = false
  /// Entities that are gone.
  var gone: [EntityIdentifier<E>] = []
}
