import PandoSystem

/// Entities in the memory of this process, without limit.
///
/// ```swift
/// let drafts = CoreManager<Draft>(stores: [InMemoryStore()])
/// try await drafts.set(draft)
/// ```
///
/// By itself it is the store of a ``LocalEntity``; before a disk store it is a cache.
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
    /// When those were removed that are not there any more.
    var removals: [EntityIdentifier<E>: UInt64] = [:]
    /// The identifiers that a server has given, by those before.
    var names: [EntityIdentifier<E>: EntityIdentifier<E>] = [:]
    /// Removals up to this place may be forgotten.
    var forgottenPlace: UInt64 = 0
    var place: UInt64
    var lastRank: UInt64 = 0
    /// Who is told of every change.
    var feeds = WeakList<MemoryFeed<E>>()

    /// The identifier that an entity has now.
    func current(_ identifier: EntityIdentifier<E>) -> EntityIdentifier<E> {
      names.isEmpty || !identifier.isLocal ? identifier : names[identifier] ?? identifier
    }
  }

  /// The most removals that are remembered; beyond it the older half is forgotten.
  static var removalCountMaximum: Int { 100_000 }

  /// Always `memory`.
  public var level: StoreLevel { .memory }

  let state: Locked<State>

  /// Makes an empty store.
  public convenience init() { self.init(firstPlace: 0) }

  /// Makes an empty store whose writes are numbered from a place on.
  ///
  /// - Parameter firstPlace: Above all places of earlier runs that somebody may still hold.
  package init(firstPlace: UInt64) { state = Locked(State(place: firstPlace)) }

  /// How many entities there are.
  public var count: Int { state.withLock { $0.entries.count } }

  /// Carries out a write and tells the feeds of it, in the order of the writes.
  func write<Result: Sendable>(
    _ body: (inout MemoryWrite<E>) throws -> Result
  ) rethrows -> Result {
    // Strong references leave the lock with the result, and end outside.
    let (result, _) = try state.withLock { state in
      // Moved and not copied: the tables in it are changed in place.
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

  /// Answers a query from all there is.
  func answer(_ query: Query<E>) throws -> QueryResult<E> {
    let query = query.current(in: state.withLock { $0.names })
    let entries = state.withLock { state in
      query.identifiers.map { Set($0).compactMap { state.entries[$0] } }
        ?? Array(state.entries.values)
    }
    let ordered = entries.filter { query.matches($0.entity) }.ordered { $0.rank < $1.rank }
    return try query.apply(to: ordered.map(\.entity))
  }
}

extension InMemoryStore: KeyValueStoring {
  /// Returns an entity.
  ///
  /// - Parameter identifier: Its identifier.
  /// - Returns: The entity; `nil` if it is not there.
  public func entity(forID identifier: EntityIdentifier<E>) -> E? {
    state.withLock { state in state.entries[state.current(identifier)]?.entity }
  }

  /// Returns entities by their identifiers.
  ///
  /// - Parameter identifiers: The identifiers.
  /// - Returns: Those that are there, in the order of the identifiers.
  public func entities(forIDs identifiers: [EntityIdentifier<E>]) -> [E] {
    state.withLock { state in
      identifiers.compactMap { state.entries[state.current($0)]?.entity }
    }
  }

  /// Keeps entities as they are given.
  ///
  /// - Parameter entities: The entities.
  /// - Returns: Nothing: there is room for all.
  @discardableResult
  public func keep(_ entities: [E]) -> [EntityIdentifier<E>] {
    write { write in
      for entity in entities { write.put(entity, place: write.state.place) }
    }
    return []
  }

  /// Lets go of entities.
  ///
  /// - Parameter identifiers: Their identifiers.
  public func drop(_ identifiers: [EntityIdentifier<E>]) {
    write { write in
      for identifier in identifiers { write.drop(identifier) }
    }
  }

  /// Lets go of all entities.
  public func dropAll() {
    write { write in
      for identifier in Array(write.state.entries.keys) { write.drop(identifier) }
    }
  }

  /// Returns entities by their identifiers.
  ///
  /// - Parameters:
  ///   - query: A query by identifiers.
  ///   - context: Does not matter.
  /// - Returns: Those that are there.
  /// - Throws: ``QueryError`` for a query that makes no sense.
  /// - Complexity: O(*k* log *k*) for *k* identifiers.
  public func get(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> { try answer(query) }

  /// Returns the entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Does not matter.
  /// - Returns: The entities, in the order of the query.
  /// - Throws: ``QueryError`` for a query that makes no sense.
  /// - Complexity: O(*n* + *m* log *m*) for *n* entities of which *m* match, whatever the limit; as
  ///   ``get(withQuery:in:)`` for identifiers.
  public func search(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> { try answer(query) }

  /// Removes all entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: How old the removal is.
  /// - Returns: The identifiers of those that were removed.
  /// - Throws: ``QueryError`` for a query that makes no sense.
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
