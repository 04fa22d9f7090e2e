import PandoModels
package import PandoStore
import PandoSystem

/// A store with a second one to recover from.
///
/// ```swift
/// let safe = RecoverableStore(
///   mainStore: DiskStore<Book>(modelStore: store),
///   recoveryStore: DiskStore<Book>(modelStore: other))
/// let books = CoreManager<Book>(stores: [safe])
/// ```
///
/// Before the first call, an empty or failing main store is filled from the recovery store; otherwise
/// the recovery store is filled from the main store. Reads come from the main store; what it has
/// written goes to the recovery store too, whose errors are told and hinder nobody. What it lacks
/// then comes with the next write that it takes.
///
/// - Note: Any thread.
public final class RecoverableStore<E: Entity>: Sendable {
  struct Progress: Sendable {
    /// Whether the main store has what there was in one of both.
    var isReady = false
    /// Whether the recovery store lacks something that the main store has.
    var isBehind = false
    /// What has been written since the main store was found empty and the recovery store could not be
    /// read: of that the recovery store does not count any more.
    var writtenUnread: Set<EntityIdentifier<E>>?
  }

  /// That of the main store.
  public var level: StoreLevel { mainStore.level }

  let mainStore: any LocalStoring<E>
  let recoveryStore: any Storing<E>
  private let events: ManagerEventHandler?
  private let gate = AsyncGate()
  /// Changed inside the gate.
  let progress = Locked(Progress())

  /// Puts two stores together.
  ///
  /// - Parameters:
  ///   - mainStore: The store that counts.
  ///   - recoveryStore: The store that follows it.
  ///   - events: Told when the recovery store fails.
  public init(
    mainStore: any Storing<E>, recoveryStore: any Storing<E>, events: ManagerEventHandler? = nil
  ) {
    self.mainStore = mainStore.local
    self.recoveryStore = recoveryStore
    self.events = events
  }

  /// Fills one store from the other, once; tries again where that could not be done.
  func prepare() async throws {
    if progress.withLock({ $0.isReady }) { return }
    try await gate.run {
      if !progress.withLock({ $0.isReady }) { try await fill() }
    }
  }

  func report(_ error: any Error) {
    events?(ManagerEvent(.failedRecovery, E.modelTypeName, error))
  }

  /// Writes to the main store and then to the recovery store, in one order.
  private func write<Result>(
    _ body: () async throws -> Result,
    touching identifiers: (Result) -> [EntityIdentifier<E>],
    then recover: (Result) async throws -> Void
  ) async throws -> Result {
    try await prepare()
    return try await gate.run {
      let result = try await body()
      let isUnread = progress.withLock { progress in
        progress.writtenUnread?.formUnion(identifiers(result))
        return progress.writtenUnread != nil
      }
      // What has not been read is not written over.
      if !isUnread { await follow { try await recover(result) } }
      return result
    }
  }
}

extension RecoverableStore: LocalStoring {
  package func takeReadPlace() async throws -> UInt64 { try await mainStore.takeReadPlace() }

  package var runsSteps: Bool { mainStore.runsSteps }

  /// Returns entities of the main store by their identifiers.
  ///
  /// - Parameters:
  ///   - query: A query by identifiers.
  ///   - context: Given to the main store.
  /// - Returns: Those that are there.
  /// - Throws: What the main store throws.
  /// - Complexity: As the main store. Before the first call all entities are read, and one store is filled from
  ///   the other.
  public func get(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    try await prepare()
    return try await mainStore.get(withQuery: query, in: context)
  }

  /// Returns the entities of the main store that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Given to the main store.
  /// - Returns: The entities, in the order of the query.
  /// - Throws: What the main store throws.
  /// - Complexity: As the main store. Before the first call all entities are read, and one store is filled from
  ///   the other.
  public func search(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    try await prepare()
    return try await mainStore.search(withQuery: query, in: context)
  }

  package func apply(
    _ entities: [E], in context: WriteContext<E>
  ) async throws -> AppliedWrite<E> {
    try await write {
      try await mainStore.apply(entities, in: context)
    } touching: { applied in
      applied.entities.map(\.identifier)
    } then: { applied in
      try await follow(applied)
    }
  }

  private func follow(_ applied: AppliedWrite<E>) async throws {
    _ = try await recoveryStore.set(applied.stored, in: .local)
    let gone = applied.entities.filter { $0.stored == nil }.map(\.identifier)
    if !gone.isEmpty { try await recoveryStore.remove(gone, in: .local) }
  }

  package func apply(_ answer: AnswerWrite<E>) async throws -> AppliedAnswer<E> {
    try await write {
      try await mainStore.apply(answer)
    } touching: { applied in
      applied.write.entities.map(\.identifier) + applied.removed
    } then: { applied in
      try await follow(applied.write)
      if !applied.removed.isEmpty {
        try await recoveryStore.remove(applied.removed, in: .local)
      }
    }
  }

  package func applyRemoval(
    of identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws -> UInt64 {
    try await write {
      try await mainStore.applyRemoval(of: identifiers, in: context)
    } touching: { _ in
      identifiers
    } then: { _ in
      // A late removal leaves some of them.
      let left = try await mainStore.get(withQuery: Query(ids: identifiers), in: .local).entities
      let kept = Set(left.map(\.id))
      try await recoveryStore.remove(identifiers.filter { !kept.contains($0) }, in: .local)
    }
  }

  /// Removes all entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Given to the main store.
  /// - Returns: The identifiers of those that were removed.
  /// - Throws: What the main store throws.
  /// - Complexity: As both stores, and before the first call as ``get(withQuery:in:)``. All entities are copied
  ///   if the recovery store has missed something.
  public func removeAll(
    withQuery query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] {
    try await write {
      try await mainStore.removeAll(withQuery: query, in: context)
    } touching: {
      $0
    } then: { removed in
      if !removed.isEmpty { try await recoveryStore.remove(removed, in: .local) }
    }
  }
}

extension RecoverableStore {
  package var followedStore: ModelStore? { mainStore.followedStore }

  package func numberedAnswer(
    _ query: Query<E>
  ) async throws -> (result: QueryResult<E>, number: UInt64) {
    try await prepare()
    return try await mainStore.numberedAnswer(query)
  }
}
