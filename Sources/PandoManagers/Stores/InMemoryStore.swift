import PandoSystem

/// Entities in the memory of this process, without a limit.
///
/// ```swift
/// let drafts = CoreManager<Draft>(stores: [InMemoryStore()])
/// try await drafts.set(draft)
/// ```
///
/// A manager uses it as the store of a ``LocalEntity``, or as a cache before a disk store. The entities end
/// with the process; use ``DiskStore`` to keep them, and ``LRUStore`` to limit their number.
///
/// - Note: Any thread.
public final class InMemoryStore<E: LocalEntity>: Sendable {
  struct Entry: Sendable {
    var entity: E
    var rank: UInt64
    var place: UInt64
    var isSynchronized = false
  }

  struct State: Sendable {
    var entries: [EntityIdentifier<E>: Entry] = [:]
    /// The tombstones: sequence numbers of removals.
    var removals: [EntityIdentifier<E>: UInt64] = [:]
    /// Identifiers that a server has assigned, by the local ones before.
    var names: [EntityIdentifier<E>: EntityIdentifier<E>] = [:]
    /// The greatest sequence number of a deleted tombstone.
    var forgottenPlace: UInt64 = 0
    var place: UInt64
    var lastRank: UInt64 = 0
    /// The feeds that publish each change.
    var feeds = WeakList<MemoryFeed<E>>()

    /// The present identifier of an entity.
    func current(_ identifier: EntityIdentifier<E>) -> EntityIdentifier<E> {
      names.isEmpty || !identifier.isLocal ? identifier : names[identifier] ?? identifier
    }
  }

  /// The largest number of tombstones; above it the older half is deleted.
  static var removalCountMaximum: Int { 100_000 }

  /// Always `memory`.
  public var level: StoreLevel { .memory }

  let state: Locked<State>

  /// Makes an empty store.
  public convenience init() { self.init(firstPlace: 0) }

  /// Makes an empty store with sequence numbers above a given one.
  ///
  /// - Parameter firstPlace: A number above all sequence numbers of earlier runs that may still be in use.
  package init(firstPlace: UInt64) { state = Locked(State(place: firstPlace)) }

  /// The number of entities.
  public var count: Int { state.withLock { $0.entries.count } }

  /// Runs a write and publishes its changes to the feeds, in the order of the writes.
  func write<Result: Sendable>(
    _ body: (inout MemoryWrite<E>) throws -> Result
  ) rethrows -> Result {
    // The strong references to feeds are released outside the lock.
    let (result, _) = try state.withLock { state in
      // The state is moved, not copied, so its tables are changed in place.
      var write = MemoryWrite(exchange(&state, with: State(place: 0)))
      let result = Swift.Result { try body(&write) }
      let changes = write.changes
      _ = exchange(&state, with: write.take())
      let feeds = changes.isEmpty ? [] : state.feeds.objects
      for feed in feeds { feed.publish(changes, at: state.place) }
      return (try result.get(), feeds)
    }
    return result
  }

  /// Answers a query from all entities.
  func answer(_ query: Query<E>) throws -> QueryResult<E> {
    let query = query.current(in: state.withLock { $0.names })
    let entries = state.withLock { state in
      query.identifiers.map { Set($0).compactMap { state.entries[$0] } }
        ?? Array(state.entries.values)
    }
    let ordered = entries.filter { query.filter.accepts($0.entity) }.ordered { $0.rank < $1.rank }
    return try query.apply(to: ordered.map(\.entity))
  }
}

extension InMemoryStore: KeyValueStoring {
  /// Returns an entity.
  ///
  /// - Parameter identifier: Its identifier.
  /// - Returns: The entity; `nil` if the store lacks it.
  public func entity(forID identifier: EntityIdentifier<E>) -> E? {
    state.withLock { state in state.entries[state.current(identifier)]?.entity }
  }

  /// Returns entities by their identifiers.
  ///
  /// - Parameter identifiers: The identifiers.
  /// - Returns: The entities that the store has, in the order of the identifiers.
  public func entities(forIDs identifiers: [EntityIdentifier<E>]) -> [E] {
    state.withLock { state in
      identifiers.compactMap { state.entries[state.current($0)]?.entity }
    }
  }

  /// Stores entities without merging.
  ///
  /// - Parameter entities: The entities.
  /// - Returns: No identifiers, because the store has no limit.
  @discardableResult
  public func keep(_ entities: [E]) -> [EntityIdentifier<E>] {
    write { write in
      for entity in entities { write.put(entity, place: write.state.place) }
    }
    return []
  }

  /// Removes entities, without tombstones.
  ///
  /// - Parameter identifiers: Their identifiers.
  public func drop(_ identifiers: [EntityIdentifier<E>]) {
    write { write in
      for identifier in identifiers { write.drop(identifier) }
    }
  }

  /// Removes all entities, without tombstones.
  public func dropAll() {
    write { write in
      for identifier in Array(write.state.entries.keys) { write.drop(identifier) }
    }
  }

  /// Returns entities by their identifiers.
  ///
  /// - Parameters:
  ///   - query: A query by identifiers.
  ///   - context: Ignored.
  /// - Returns: The entities that exist.
  /// - Throws: `QueryError` for an invalid query.
  /// - Complexity: O(*k* log *k*) for *k* identifiers.
  public func get(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> { try answer(query) }

  /// Returns the entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Ignored.
  /// - Returns: The entities, in the order of the query.
  /// - Throws: `QueryError` for an invalid query.
  /// - Complexity: O(*n* + *m* log *m*) for *n* entities of which *m* match, whatever the limit; as
  ///   ``get(withQuery:in:)`` for identifiers.
  public func search(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> { try answer(query) }

  /// Removes all entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Has the sequence number of the removal, if it is an answer.
  /// - Returns: The identifiers of the removed entities.
  /// - Throws: `QueryError` for an invalid query.
  /// - Complexity: O(*n* log *n*) for *n* entities, whatever matches.
  public func removeAll(
    withQuery query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] {
    try query.validate()
    return try write { write in
      let query = query.current(in: write.state.names)
      let ordered = write.state.entries.values.ordered { $0.rank < $1.rank }
      let found = try query.apply(to: ordered.map(\.entity)).entities.map(\.id)
      return write.remove(found, asOf: context.asOf, onlySynchronized: false)
    }
  }
}

extension InMemoryStore: LocalStoring {
  package var updatesInPlace: Bool { true }
  package var answersDirectly: Bool { true }

  package func directAnswer(_ identifier: EntityIdentifier<E>) -> DirectAnswer<E> {
    entity(forID: identifier).map { .found($0) } ?? .absent
  }

  package func takeReadPlace() async -> UInt64 {
    state.withLock { state in
      state.place += 1
      return state.place
    }
  }

  package func apply(
    _ entities: [E], in context: WriteContext<E>
  ) async throws -> AppliedWrite<E> {
    for entity in entities { try entity.id.validate() }
    return try write { write in
      if let update = context.update {
        return AppliedWrite(try write.apply(update), place: write.state.place)
      }
      for (old, new) in context.names { write.rename(old, to: new) }
      let applied = entities.map { write.apply($0, asOf: context.asOf) }
      return AppliedWrite(applied, place: context.asOf ?? write.state.place)
    }
  }

  package func apply(_ answer: AnswerWrite<E>) async throws -> AppliedAnswer<E> {
    for entity in answer.entities { try entity.id.validate() }
    return try write { write in
      if let changes = answer.changes { try changes.ledger.confirm(changes.before) }
      let applied = answer.entities.map {
        write.apply($0, asOf: answer.asOf, knownAt: answer.changes?.knownAt)
      }
      if answer.isInNaturalOrder { write.arrange(answer.entities.map(\.id)) }
      var removed: [EntityIdentifier<E>] = []
      if answer.discardsExtra {
        let answered = Set(answer.entities.map(\.id))
        let ordered = write.state.entries.values.ordered { $0.rank < $1.rank }
        let extra = try answer.query.apply(to: ordered.map(\.entity)).entities.map(\.id)
          .filter { !answered.contains($0) }
        removed = write.remove(extra, asOf: answer.asOf, onlySynchronized: true)
      }
      removed += write.remove(
        answer.gone.map { write.state.current($0) }, asOf: answer.asOf, onlySynchronized: false)
      if let changes = answer.changes {
        removed = write.carryOut(changes, applied, asOf: answer.asOf)
      }
      return AppliedAnswer(
        write: AppliedWrite(applied, place: answer.asOf), removed: removed)
    }
  }

  package func applyRemoval(
    of identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws -> UInt64 {
    write { write in
      let current = identifiers.map { write.state.current($0) }
      _ = write.remove(current, asOf: context.asOf, onlySynchronized: false)
      return context.asOf ?? write.state.place
    }
  }
}
