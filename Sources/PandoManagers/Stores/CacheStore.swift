import PandoModels
import PandoStore
import PandoSystem
import Synchronization

/// A cache in memory before a persistent store.
///
/// ```swift
/// let stores = CacheStore(
///   keyValueStore: LRUStore(store: InMemoryStore<Book>(), limit: 100),
///   persistentStore: DiskStore(modelStore: store))
/// let books = CoreManager<Book>(stores: [stores])
/// ```
///
/// A read of identifiers is answered from memory if memory has all of them. Other reads go to the persistent
/// store and fill memory. A write goes to the persistent store, which compares and merges; memory then gets
/// the stored value. A write of more than 64 entities fills nothing. If the persistent store is a
/// `ModelStore`, memory drops entities that providers, other managers or other processes change.
///
/// A container makes this store for a type with memory and disk.
///
/// - Note: Any thread.
public final class CacheStore<E: Entity>: Sendable {
  /// The level of the persistent store.
  public var level: StoreLevel { persistentStore.level }

  let persistentStore: any LocalStoring<E>
  private let memory: any CacheMemory<E>
  /// The model store beneath and the follower of its commits; `nil` without a model store.
  private let followed: (store: ModelStore, follower: StoreFollower)?
  private let hitCount = Atomic(0)
  private let missCount = Atomic(0)
  /// Serializes writes to a persistent store that does not compare sequence numbers.
  private let gate = AsyncGate()

  /// Makes a cache from two stores.
  ///
  /// - Parameters:
  ///   - keyValueStore: An empty store in memory, used by this cache only.
  ///   - persistentStore: The store that decides.
  public convenience init(
    keyValueStore: any KeyValueStoring<E>, persistentStore: any Storing<E>
  ) {
    self.init(persistentStore) { GivenCacheMemory(keyValueStore, $0) }
  }

  /// Makes a cache before a persistent store.
  ///
  /// - Parameters:
  ///   - persistentStore: The store that decides.
  ///   - makeMemory: Makes the memory; its argument follows the commits of a model store, if there is one.
  init(
    _ persistentStore: any Storing<E>, _ makeMemory: (StoreFollower?) -> any CacheMemory<E>
  ) {
    let persistentStore = persistentStore.local
    self.persistentStore = persistentStore
    // The first call reports a store that can't be read.
    followed = persistentStore.followedStore.flatMap { store in
      (try? StoreFollower.follower(of: store)).map { (store, $0) }
    }
    memory = makeMemory(followed?.follower)
    followed?.follower.add(memory)
  }

  /// The persistent store, if its answers have commit numbers.
  private var numbered: (any LocalStoring<E>)? { followed == nil ? nil : persistentStore }
}

extension CacheStore {
  /// Returns entities by their identifiers: from memory if it has all of them.
  ///
  /// - Parameters:
  ///   - query: A query by identifiers.
  ///   - context: Passed to the persistent store.
  /// - Returns: The entities that exist.
  /// - Throws: The errors of the persistent store.
  /// - Complexity: O(*k* log *k*) for *k* identifiers in memory; else as the persistent store for all.
  public func get(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    if let found = try answerFromMemory(query) { return found }
    if let numbered {
      let answer = try await numbered.numberedAnswer(query)
      fill(answer)
      return answer.result
    }
    let token = memory.token
    let result = try await persistentStore.get(withQuery: query, in: context)
    memory.fill(result.entities, readAt: token, haveChildren: true)
    return result
  }

  /// Returns the entities that match a query.
  ///
  /// A query of identifiers is answered from memory if it has all of them, another one from the persistent
  /// store. An answer of more than 64 entities to another query does not fill memory.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Passed to the persistent store.
  /// - Returns: The entities, in the order of the query.
  /// - Throws: The errors of the persistent store.
  /// - Complexity: As ``get(withQuery:in:)`` for identifiers, else as the persistent store.
  public func search(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    if let found = try answerFromMemory(query) { return found }
    let isKept = query.identifiers != nil
    if let numbered {
      let answer = try await numbered.numberedAnswer(query)
      if isKept || answer.result.count <= Self.foundCountMaximum { fill(answer) }
      return answer.result
    }
    let token = memory.token
    let result = try await persistentStore.search(withQuery: query, in: context)
    if isKept || result.count <= Self.foundCountMaximum {
      memory.fill(result.entities, readAt: token, haveChildren: true)
    }
    return result
  }

  /// The largest answer to a query without identifiers that fills memory.
  ///
  /// Keeping an entity costs more than reading it. Entities of a page are likely to be read again by
  /// identifier. Those of a long list are not, and they would replace entities that are.
  private static var foundCountMaximum: Int { 64 }

  /// Reads written entities and fills memory with them.
  ///
  /// The write has succeeded, so a failed read is no error; memory then lacks the entities.
  private func refill(_ identifiers: [EntityIdentifier<E>]) async {
    guard !identifiers.isEmpty, identifiers.count <= Self.foundCountMaximum else { return }
    let query = Query<E>(ids: identifiers.unique)
    if let numbered {
      if let answer = try? await numbered.numberedAnswer(query) { fill(answer) }
      return
    }
    let token = memory.token
    guard let result = try? await persistentStore.get(withQuery: query, in: .local) else { return }
    memory.fill(result.entities, readAt: token, haveChildren: true)
  }

  private func fill(_ answer: (result: QueryResult<E>, number: UInt64)) {
    if let (store, follower) = followed {
      // Memory first drops what earlier commits changed, so that all it holds is of one version. The next
      // call reports a store that can't be read.
      guard (try? follower.catchUp(to: answer.number, of: store)) != nil else { return }
    }
    memory.fill(answer.result.entities, readAt: answer.number, haveChildren: true)
  }

  private func answerFromMemory(_ query: Query<E>) throws -> QueryResult<E>? {
    guard let identifiers = query.identifiers?.unique else { return nil }
    if let (store, follower) = followed, !follower.isInStep(with: store) {
      // Commits of other processes are applied before memory answers.
      try store.read { _ = try follower.catchUp(with: $0) }
    }
    let found = memory.entities(forIDs: identifiers)
    count(found != nil)
    return try found.map { try query.apply(to: $0) }
  }
}

extension CacheStore {
  /// How many reads by identifier memory, and how many the persistent store answered.
  public var counters: (hits: Int, misses: Int) {
    (hitCount.load(ordering: .relaxed), missCount.load(ordering: .relaxed))
  }

  private func count(_ isHit: Bool) {
    if isHit { hitCount.add(1, ordering: .relaxed) } else { missCount.add(1, ordering: .relaxed) }
  }
}

extension CacheStore {
  package var answersDirectly: Bool { true }

  package func directAnswer(_ identifier: EntityIdentifier<E>) throws -> DirectAnswer<E> {
    guard let (store, follower) = followed else {
      guard let found = memory.entity(forID: identifier) else { return .unknown }
      count(true)
      return .found(found)
    }
    let isInStep = follower.isInStep(with: store)
    if isInStep, let found = memory.entity(forID: identifier) {
      count(true)
      return .found(found)
    }
    var childCount = 0
    var number: UInt64?
    let answer = try store.read { snapshot in
      let last = try follower.catchUp(with: snapshot)
      if !isInStep, let kept = memory.entity(forID: identifier) { return DirectAnswer.found(kept) }
      number = last
      return try persistentStore.entity(identifier, in: snapshot, &childCount)
    }
    if case .unknown = answer { return .unknown }
    count(number == nil)
    if let number, case .found(let found) = answer {
      memory.fill([found], readAt: number, haveChildren: childCount > 0)
    }
    return answer
  }
}

extension CacheStore: LocalStoring {
  package func takeReadPlace() async throws -> UInt64 { try await persistentStore.takeReadPlace() }

  package var runsSteps: Bool { persistentStore.runsSteps }

  package func apply(
    _ entities: [E], in context: WriteContext<E>
  ) async throws -> AppliedWrite<E> {
    if persistentStore.comparesPlaces {
      let applied = try await persistentStore.apply(entities, in: context)
      if numbered == nil { memory.forget(applied.entities.map(\.identifier)) }
      await refill(applied.stored.map(\.id))
      return applied
    }
    let stored = try await gate.run { try await overwrite(entities, in: context) }
    return AppliedWrite(
      stored.map { AppliedEntity($0.id, stored: $0, isLate: false) }, place: 0)
  }

  /// Writes the changed entities to a store that does not compare by itself.
  private func overwrite(_ entities: [E], in context: WriteContext<E>) async throws -> [E] {
    let query = Query(ids: entities.map(\.id).unique)
    var token = memory.token
    let present = try await persistentStore.get(withQuery: query, in: .local).entities
    var stored = Dictionary(present.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    var changed: [EntityIdentifier<E>] = []
    for entity in entities {
      guard let value = stored[entity.id].map({ $0.overwritten(by: entity) }) ?? entity else {
        continue
      }
      stored[entity.id] = value
      changed.append(entity.id)
    }
    let values = changed.unique.compactMap { stored[$0] }
    if !values.isEmpty {
      // Earlier reads may have found the old values, also if the write fails.
      defer { memory.forget(changed) }
      for entity in try await persistentStore.set(values, in: context) {
        stored[entity.id] = entity
      }
    }
    // The gate admits no other write through this cache.
    if !values.isEmpty { token = memory.token }
    if stored.count <= Self.foundCountMaximum {
      memory.fill(Array(stored.values), readAt: token, haveChildren: true)
    }
    return entities.compactMap { stored[$0.id] }
  }

  package func apply(_ answer: AnswerWrite<E>) async throws -> AppliedAnswer<E> {
    guard persistentStore.comparesPlaces else {
      let context = WriteContext<E>.answer(asOf: answer.asOf)
      let write = try await apply(answer.entities, in: context)
      let gone = try await persistentStore.gone(by: answer)
      if !gone.isEmpty { try await remove(gone, in: context) }
      return AppliedAnswer(write: write, removed: gone)
    }
    let applied = try await persistentStore.apply(answer)
    if numbered == nil { memory.forget(answer.entities.map(\.id) + applied.removed) }
    await refill(applied.write.stored.map(\.id))
    return applied
  }

  package func applyRemoval(
    of identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws -> UInt64 {
    if persistentStore.comparesPlaces {
      defer { if numbered == nil { memory.forget(identifiers) } }
      return try await persistentStore.applyRemoval(of: identifiers, in: context)
    }
    return try await gate.run {
      defer { memory.forget(identifiers) }
      return try await persistentStore.applyRemoval(of: identifiers, in: context)
    }
  }

  /// Removes all entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Passed to the persistent store.
  /// - Returns: The identifiers of the removed entities.
  /// - Throws: The errors of the persistent store.
  /// - Complexity: As the persistent store.
  public func removeAll(
    withQuery query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] {
    if !persistentStore.comparesPlaces {
      return try await gate.run { try await removeAndForget(query, context) }
    }
    return try await removeAndForget(query, context)
  }

  private func removeAndForget(
    _ query: Query<E>, _ context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] {
    let removed = try await persistentStore.removeAll(withQuery: query, in: context)
    if numbered == nil { memory.forget(removed) }
    return removed
  }
}

extension Entity {
  /// The value to store if a new one arrives; `nil` if no write is needed.
  func overwritten(by new: Self) -> Self? {
    guard let local = self as? any LocalEntity else { return self == new ? nil : new }
    return Self.merge(new, into: local)
  }

  private static func merge<L: LocalEntity>(_ new: Self, into stored: L) -> Self? {
    guard let new = new as? L, stored.shouldOverwrite(with: new) else { return nil }
    return stored.merging(new) as? Self
  }
}
