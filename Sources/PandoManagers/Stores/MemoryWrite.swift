import PandoModels
import PandoRecords
import PandoSystem

/// One write to a store in memory, under its lock, with the rules of order of a store on disk.
struct MemoryWrite<E: LocalEntity> {
  var state: InMemoryStore<E>.State
  private var changed: Set<EntityIdentifier<E>> = []
  private var order: [EntityIdentifier<E>] = []
  /// Whether a feed needs the changes.
  private let isFollowed: Bool

  init(_ state: consuming InMemoryStore<E>.State) {
    isFollowed = !state.feeds.isEmpty
    self.state = state
    self.state.place += 1
  }

  consuming func take() -> InMemoryStore<E>.State { state }

  /// The changes, each entity once; none without a feed.
  var changes: [EntityChange<E>] {
    if state.feeds.isEmpty { return [] }
    return order.map { identifier in
      EntityChange(
        ByteString(identifier.modelIdentifier),
        state.entries[identifier].map { RankedEntity($0.entity, rank: $0.rank) })
    }
  }

  private mutating func note(_ identifier: EntityIdentifier<E>) {
    guard isFollowed else { return }
    if changed.insert(identifier).inserted { order.append(identifier) }
  }

  /// The sequence number of the last write or removal of an entity.
  private func lastPlace(of identifier: EntityIdentifier<E>) -> UInt64 {
    state.entries[identifier]?.place ?? state.removals[identifier] ?? state.forgottenPlace
  }

  mutating func apply(
    _ entity: E, asOf: UInt64?, knownAt: UInt64? = nil
  ) -> AppliedEntity<E> {
    let identifier = state.current(entity.id)
    if let asOf, lastPlace(of: identifier) > asOf {
      return AppliedEntity(identifier, stored: state.entries[identifier]?.entity, isLate: true)
    }
    var entity = entity.named(state.names)
    if asOf != nil, let stored = state.entries[entity.id]?.entity {
      entity = LocalFields.restored([entity], from: [stored])[0]
    }
    put(overwriting(entity), place: knownAt ?? asOf ?? state.place)
    state.entries[entity.id]?.isSynchronized = asOf != nil
    return AppliedEntity(entity.id, stored: state.entries[entity.id]?.entity, isLate: false)
  }

  /// - Returns: No entity if there is none with the identifier.
  mutating func apply(_ update: EntityUpdate<E>) throws -> [AppliedEntity<E>] {
    guard let before = state.entries[state.current(update.identifier)]?.entity else { return [] }
    var entity = before
    if let (new, old) = update.replacement, new.id != before.id, new.id == old.id {
      // The caller read both versions before the server assigned the identifier.
      entity = try ModelChildren.rebase(
        new.named(state.names), from: old.named(state.names), onto: before)
    } else {
      try update.change(&entity)
    }
    // A node that occurs several times is the same in all places.
    entity = try ModelChildren.rebase(entity, from: before, onto: before)
    put(entity, place: state.place)
    state.entries[entity.id]?.isSynchronized = false
    return [AppliedEntity(entity.id, stored: entity, isLate: false)]
  }

  private func overwriting(_ entity: E) -> E {
    guard let stored = state.entries[entity.id]?.entity else { return entity }
    return stored.shouldOverwrite(with: entity) ? stored.merging(entity) : stored
  }

  /// Gives an entity the identifier that a server has assigned.
  mutating func rename(_ old: EntityIdentifier<E>, to new: EntityIdentifier<E>) {
    state.names[old] = new
    if let entry = state.entries[old] {
      drop(old)
      guard state.entries[new] == nil else { return }
      let entity = entry.entity.named(state.names)
      guard entity.id == new else { return }
      note(new)
      state.entries[new] = entry
      state.entries[new]?.entity = entity
    } else if let place = state.removals.removeValue(forKey: old) {
      // The entity was removed here while the server made it.
      if state.entries[new] == nil { state.removals[new] = max(place, state.removals[new] ?? 0) }
    }
  }

  mutating func put(_ entity: E, place: UInt64) {
    if let entry = state.entries[entity.id] {
      if isFollowed, entry.entity != entity { note(entity.id) }
      state.entries[entity.id]?.entity = entity
      state.entries[entity.id]?.place = place
      return
    }
    note(entity.id)
    state.lastRank += 1
    state.entries[entity.id] = .init(entity: entity, rank: state.lastRank, place: place)
    if !state.removals.isEmpty { state.removals[entity.id] = nil }
  }

  mutating func drop(_ identifier: EntityIdentifier<E>) {
    if state.entries.removeValue(forKey: identifier) != nil { note(identifier) }
  }

  mutating func remove(
    _ identifiers: [EntityIdentifier<E>], asOf: UInt64?, knownAt: UInt64? = nil,
    onlySynchronized: Bool
  ) -> [EntityIdentifier<E>] {
    let removed = identifiers.filter { identifier in
      if let asOf, lastPlace(of: identifier) > asOf { return false }
      let entry = state.entries[identifier]
      if onlySynchronized, entry?.isSynchronized != true { return false }
      state.removals[identifier] = knownAt ?? asOf ?? state.place
      drop(identifier)
      return entry != nil
    }
    forgetRemovals()
    return removed
  }

  private mutating func forgetRemovals() {
    guard state.removals.count > InMemoryStore<E>.removalCountMaximum else { return }
    let ordered = state.removals.ordered { $0.value < $1.value }
    for entry in ordered.prefix(ordered.count / 2) {
      state.removals[entry.key] = nil
      state.forgottenPlace = max(state.forgottenPlace, entry.value)
    }
  }

  /// Puts entities into the order of a list; they share the ranks that they have together.
  mutating func arrange(_ identifiers: [EntityIdentifier<E>]) {
    var seen: Set<EntityIdentifier<E>> = []
    let members = identifiers.filter { state.entries[$0] != nil && seen.insert($0).inserted }
    let ranks = members.compactMap { state.entries[$0]?.rank }.ordered()
    for (identifier, rank) in zip(members, ranks) where state.entries[identifier]?.rank != rank {
      state.entries[identifier]?.rank = rank
      note(identifier)
    }
  }
}

extension MemoryWrite {
  /// Applies the rest of a page of changes, after its entities.
  mutating func carryOut(
    _ changes: ChangesWrite<E>, _ applied: [AppliedEntity<E>], asOf: UInt64
  ) -> [EntityIdentifier<E>] {
    var after = changes.after
    after.addPending(applied.filter(\.isLate).map(\.identifier.modelIdentifier))
    let named = Set(applied.map(\.identifier))
    let gone = changes.removed.unique.filter { !named.contains($0) }
    var removed = remove(
      gone, asOf: asOf, knownAt: changes.knownAt, onlySynchronized: false)
    after.addPending(gone.filter { state.entries[$0] != nil }.map(\.modelIdentifier))
    if changes.before.fullPlace != nil {
      after.named = changes.before.named.union(named.map(\.modelIdentifier))
    }
    var extra = changes.unnamed
    if changes.extraPlace != nil {
      extra = state.entries.keys.filter { !after.named.contains($0.modelIdentifier) }
      after.named = []
    }
    removed += remove(
      extra, asOf: changes.extraPlace ?? asOf, knownAt: changes.knownAt, onlySynchronized: true)
    let left = extra.filter { identifier in
      guard let entry = state.entries[identifier], !identifier.isLocal else { return false }
      // The answer to a write may not be stored yet.
      return entry.place > changes.extraPlace ?? asOf
        || !entry.isSynchronized && changes.extraPlace == nil
    }
    after.unnamed += left.map(\.modelIdentifier)
    changes.ledger.set(after)
    return removed
  }
}
