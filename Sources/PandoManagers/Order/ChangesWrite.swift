import PandoModels
import PandoStore

/// What a page of changes does beside storing its entities, in the same step.
struct ChangesWrite<E: Entity>: Sendable {
  /// What the server has no longer.
  var removed: [EntityIdentifier<E>]
  /// What the server has no longer, if it has had it.
  var unnamed: [EntityIdentifier<E>] = []
  /// With the last page of all: what a server had sent before this place and is not newer goes.
  var extraPlace: UInt64?
  /// With the last page of all: what is as old as a read from this place on was named.
  var namedPlace: UInt64 = 0
  /// The place at which the page had come.
  ///
  /// Other reads that began before it may be older than the page, though they began after it: they come too
  /// late. What they would have brought, the server tells.
  let knownAt: UInt64
  let ledger: SyncLedger
  let before: SyncState
  var after: SyncState
}

/// A removal that the rules of the store refuse, and why.
package struct RefusedRemoval: Sendable {
  let identifier: String
  let error: any Error
}

extension ModelTransaction {
  /// Carries out what a page of changes says, after its entities have been applied.
  mutating func carryOut<E: Entity>(
    _ changes: ChangesWrite<E>, _ applied: [AppliedEntity<E>], asOf: UInt64
  ) throws -> (removed: [EntityIdentifier<E>], refused: [RefusedRemoval]) {
    try changes.ledger.confirm(changes.before, in: snapshot)
    var after = changes.after
    // Of what is newer here the server may have told what it has now: it is asked again later.
    after.addPending(applied.filter(\.isLate).map(\.identifier.modelIdentifier))
    let named = Set(applied.map(\.identifier))
    let gone = changes.removed.unique.filter { !named.contains($0) }
    let isMaking = try snapshot.isMaking(E.identifierNamespace)
    after.addPending(
      try gone.map(\.modelIdentifier).filter { identifier in
        let state = try snapshot.sequenceState(of: identifier)
        // What is being made may be this: its answer has not come yet.
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
      // What was written here or read before the first page had come was not named by a page, perhaps.
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
    // The answer that gives one its name may have come since that was looked up.
    after.unnamed = try after.unnamed.map { try snapshot.currentIdentifier(of: $0) }
    // What is being made may be removed there before its answer comes.
    if !isMaking {
      after.unnamed.removeAll { EntityIdentifier<E>(modelIdentifier: $0)?.isLocal ?? true }
    }
    after.addPending(refused.map(\.identifier))
    try changes.ledger.set(after, in: &self)
    // What is asked for later is newer than what came now, also after a restart.
    _ = takeSequenceNumber()
    return (removed, refused)
  }

  /// Removes entities as far as the rules of the store allow for it, in whatever order.
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
  /// Whether requests wait that are about entities of a namespace which the server does not know yet.
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
