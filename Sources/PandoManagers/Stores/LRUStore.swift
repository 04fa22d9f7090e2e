import PandoSystem

/// A store in memory with a largest number of entities.
///
/// ```swift
/// let memory = LRUStore(store: InMemoryStore<Book>(), limit: 100)
/// let books = CoreManager<Book>(stores: [memory])
/// ```
///
/// Above the limit it removes the entity used longest ago. Getting, finding and setting an entity uses it.
///
/// - Note: Any thread.
public final class LRUStore<E: Entity>: Sendable {
  /// The largest number of entities.
  public let limit: Int
  /// The level of the store inside.
  public var level: StoreLevel { store.level }

  let store: any KeyValueStoring<E>
  private let uses: Locked<RecentTable<EntityIdentifier<E>, Void>>

  /// Limits a store.
  ///
  /// *Precondition:* the limit is not negative.
  ///
  /// - Parameters:
  ///   - store: An empty store, used by this one only.
  ///   - limit: The largest number of entities; 0 for none.
  public init(store: any KeyValueStoring<E>, limit: Int) {
    precondition(limit >= 0, "an LRU store can't have the limit \(limit)")
    self.store = store
    self.limit = limit
    uses = Locked(RecentTable())
  }

  private func touch(_ entities: [E]) {
    uses.withLock { uses in
      for entity in entities { _ = uses.use(entity.id) }
    }
  }

  /// Marks entities as used, and removes the oldest ones above the limit.
  private func add(_ identifiers: [EntityIdentifier<E>]) -> [EntityIdentifier<E>] {
    uses.withLock { uses in
      for identifier in identifiers { uses.put((), forKey: identifier) }
      var gone: [EntityIdentifier<E>] = []
      while uses.count > limit, let oldest = uses.removeOldest() { gone.append(oldest.key) }
      if !gone.isEmpty { store.drop(gone) }
      return gone
    }
  }
}

extension LRUStore: KeyValueStoring {
  /// Returns an entity, and marks it as used.
  ///
  /// - Parameter identifier: Its identifier.
  /// - Returns: The entity; `nil` if the store lacks it.
  public func entity(forID identifier: EntityIdentifier<E>) -> E? {
    guard let found = store.entity(forID: identifier) else { return nil }
    _ = uses.withLock { $0.use(identifier) }
    return found
  }

  /// Returns entities by their identifiers, and marks them as used.
  ///
  /// - Parameter identifiers: The identifiers.
  /// - Returns: The entities that the store has, in the order of the identifiers.
  public func entities(forIDs identifiers: [EntityIdentifier<E>]) -> [E] {
    let found = store.entities(forIDs: identifiers)
    touch(found)
    return found
  }

  /// Stores entities without merging, and marks them as used.
  ///
  /// - Parameter entities: The entities.
  /// - Returns: The identifiers of entities that the store removed to make room.
  @discardableResult
  public func keep(_ entities: [E]) -> [EntityIdentifier<E>] {
    let gone = store.keep(entities)
    return gone + add(entities.map { $0.id })
  }

  /// Removes entities, without tombstones.
  ///
  /// - Parameter identifiers: Their identifiers.
  public func drop(_ identifiers: [EntityIdentifier<E>]) {
    store.drop(identifiers)
    uses.withLock { uses in
      for identifier in identifiers { uses.remove(identifier) }
    }
  }

  /// Removes all entities, without tombstones.
  public func dropAll() {
    store.dropAll()
    uses.withLock { $0 = RecentTable() }
  }

  /// Returns entities by their identifiers, and marks them as used.
  ///
  /// - Parameters:
  ///   - query: A query by identifiers.
  ///   - context: Passed to the store inside.
  /// - Returns: The entities that exist.
  /// - Throws: The errors of the store inside.
  /// - Complexity: As the store inside, and O(*m*) for *m* found entities.
  public func get(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    let result = try await store.get(withQuery: query, in: context)
    touch(result.entities)
    return result
  }

  /// Returns the entities that match a query, and marks them as used.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Passed to the store inside.
  /// - Returns: The entities, in the order of the query.
  /// - Throws: The errors of the store inside.
  /// - Complexity: As the store inside, and O(*m*) for *m* found entities.
  public func search(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    let result = try await store.search(withQuery: query, in: context)
    touch(result.entities)
    return result
  }

  private func forgetMissing(_ identifiers: [EntityIdentifier<E>]) {
    let left = Set(store.entities(forIDs: identifiers).map { $0.id })
    uses.withLock { uses in
      for identifier in identifiers where !left.contains(identifier) { uses.remove(identifier) }
    }
  }

  /// Removes all entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Passed to the store inside.
  /// - Returns: The identifiers of the removed entities.
  /// - Throws: The errors of the store inside.
  /// - Complexity: As the store inside, and O(*m*) for *m* removed entities.
  public func removeAll(
    withQuery query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] {
    let removed = try await store.removeAll(withQuery: query, in: context)
    uses.withLock { uses in
      for identifier in removed { uses.remove(identifier) }
    }
    return removed
  }
}

extension LRUStore: LocalStoring {
  package var answersDirectly: Bool { true }

  package func directAnswer(_ identifier: EntityIdentifier<E>) -> DirectAnswer<E> {
    entity(forID: identifier).map { .found($0) } ?? .absent
  }

  package func takeReadPlace() async throws -> UInt64 { try await store.local.takeReadPlace() }

  package func apply(
    _ entities: [E], in context: WriteContext<E>
  ) async throws -> AppliedWrite<E> {
    let applied = try await store.local.apply(entities, in: context)
    _ = add(applied.stored.map { $0.id })
    return applied
  }

  package func apply(_ answer: AnswerWrite<E>) async throws -> AppliedAnswer<E> {
    let applied = try await store.local.apply(answer)
    _ = add(applied.write.stored.map { $0.id })
    uses.withLock { uses in
      for identifier in applied.removed { uses.remove(identifier) }
    }
    return applied
  }

  package func applyRemoval(
    of identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws -> UInt64 {
    let place = try await store.local.applyRemoval(of: identifiers, in: context)
    forgetMissing(identifiers)
    return place
  }
}
