import PandoModels
import PandoStore
import PandoSystem

/// The effects of a page of changes beside its entities, in the same step.
struct ChangesWrite<E: Entity>: Sendable {
  /// Entities that the server has removed.
  var removed: [EntityIdentifier<E>]
  /// Entities that the server does not have; removed if a server had sent them.
  var unnamed: [EntityIdentifier<E>] = []
  /// With the last page of a full synchronization: entities of a server up to this number are removed.
  var extraPlace: UInt64?
  /// With the last page of a full synchronization: a page contained every entity read from this number on.
  var namedPlace: UInt64 = 0
  /// The sequence number at which the page arrived.
  ///
  /// A read that began after the request of the page and before this number may be older than the page. It
  /// counts as late; the server sends its changes with a later page.
  let knownAt: UInt64
  let ledger: SyncLedger
  let before: SyncState
  var after: SyncState
}

/// A removal that the rules of the store refuse.
package struct RefusedRemoval: Sendable {
  let identifier: String
  let error: any Error
}

extension ModelTransaction {
  /// Applies the rest of a page of changes, after its entities.
  mutating func carryOut<E: Entity>(
    _ changes: ChangesWrite<E>, _ applied: [AppliedEntity<E>], asOf: UInt64
  ) throws -> (removed: [EntityIdentifier<E>], refused: [RefusedRemoval]) {
    try changes.ledger.confirm(changes.before, in: snapshot)
    var after = changes.after
    // The page may have newer values of entities that are newer here, so the next run requests them.
    after.addPending(applied.filter(\.isLate).map(\.identifier.modelIdentifier))
    let named = Set(applied.map(\.identifier))
    let gone = changes.removed.unique.filter { !named.contains($0) }
    let isMaking = try snapshot.isMaking(E.identifierNamespace)
    after.addPending(
      try gone.map(\.modelIdentifier).filter { identifier in
        let state = try snapshot.sequenceState(of: identifier)
        // A waiting insert may be this entity, because its answer has not arrived.
        if try snapshot.isRefused(identifier) { return true }
        return state.isStored ? state.sequenceNumber > asOf : isMaking
      })
    var refused: [RefusedRemoval] = []
    var removed = try removeAllowed(gone, asOf: asOf, changes.knownAt, &refused)
    var extra = changes.unnamed.map(\.modelIdentifier)
    if changes.extraPlace != nil { extra = try snapshot.identifiers(ofType: E.modelTypeName) }
    let place = changes.extraPlace ?? asOf
    extra = try extra.filter { identifier in
      let state = try snapshot.sequenceState(of: identifier)
      if state.sequenceNumber <= place { return state.isDated }
      // Of entities written here, or read before the first page arrived, perhaps no page has a value.
      let isNamed =
        state.isDated && state.sequenceNumber >= changes.namedPlace
        && SequenceNumber.isOfRead(state.sequenceNumber)
      if !isNamed, !after.pending.contains(where: { $0.hasSameBytes(as: identifier) }) {
        after.unnamed.append(identifier)
      }
      return false
    }
    removed += try removeAllowed(
      extra.compactMap { EntityIdentifier<E>(modelIdentifier: $0) }, asOf: place, changes.knownAt,
      &refused)
    // A server may have assigned identifiers since they were resolved.
    after.unnamed = try after.unnamed.map { try snapshot.currentIdentifier(of: $0) }
    // The server may remove an entity before the answer to its insert arrives.
    if !isMaking {
      after.unnamed.removeAll { EntityIdentifier<E>(modelIdentifier: $0)?.isLocal ?? true }
    }
    after.addPending(refused.map(\.identifier))
    try changes.ledger.set(after, in: &self)
    // Later requests are newer than this page, also after a restart.
    _ = takeSequenceNumber()
    return (removed, refused)
  }

  /// Removes the entities that the rules of the store allow to remove, in any order.
  private mutating func removeAllowed<E: Entity>(
    _ identifiers: [EntityIdentifier<E>], asOf: UInt64, _ knownAt: UInt64,
    _ refused: inout [RefusedRemoval]
  ) throws -> [EntityIdentifier<E>] {
    var removed: [EntityIdentifier<E>] = []
    var left = identifiers
    while true {
      var refusals: [(EntityIdentifier<E>, any Error)] = []
      for identifier in left {
        do {
          removed += try removeEntities([identifier], asOf: asOf, knownAt: knownAt)
        } catch let error as StoreError where error.code == .restricted {
          refusals.append((identifier, error))
        }
      }
      if refusals.count == left.count {
        refused += refusals.map { RefusedRemoval(identifier: $0.0.modelIdentifier, error: $0.1) }
        return removed
      }
      left = refusals.map(\.0)
    }
  }
}

extension ModelSnapshot {
  /// Whether a waiting request names an entity of a namespace that has no identifier of the server.
  fileprivate func isMaking(_ namespace: String) throws -> Bool {
    let local = EntityIdentifierText.modelIdentifier(
      EntityIdentifierText.localPrefix, in: namespace)
    var isMaking = false
    try forEachProperty(withPrefix: QueueNames.mark(local)) { _, _ in
      isMaking = true
      return false
    }
    return isMaking
  }
}
