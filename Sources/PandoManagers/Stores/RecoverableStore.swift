import PandoModels
package import PandoStore
import PandoSystem

/// A main store with a second store to recover from.
///
/// ```swift
/// let safe = RecoverableStore(
///   mainStore: DiskStore<Book>(modelStore: store),
///   recoveryStore: DiskStore<Book>(modelStore: other))
/// let books = CoreManager<Book>(stores: [safe])
/// ```
///
/// Before the first call, an empty or failing main store is filled from the recovery store; otherwise the
/// recovery store is filled from the main store. Reads use the main store. Its writes are repeated in the
/// recovery store, whose errors are reported and not thrown. After an error, the next successful write copies
/// what is missing.
///
/// - Note: Any thread.
public final class RecoverableStore<E: Entity>: Sendable {
  struct Progress: Sendable {
    /// Whether the stores have been filled.
    var isReady = false
    /// Whether the recovery store lacks a write of the main store.
    var isBehind = false
    /// Entities written since the main store was empty and the recovery store could not be read; those that
    /// the recovery store has of them don't count.
    var writtenUnread: Set<EntityIdentifier<E>>?
  }

  /// The level of the main store.
  public var level: StoreLevel { mainStore.level }

  let mainStore: any LocalStoring<E>
  let recoveryStore: any Storing<E>
  private let events: ManagerEventHandler?
  private let gate = AsyncGate()
  /// Changed inside the gate.
  let progress = Locked(Progress())

  /// Makes a store from two stores.
  ///
  /// - Parameters:
  ///   - mainStore: The store that decides.
  ///   - recoveryStore: The store that follows it.
  ///   - events: Receives the errors of the recovery store.
  public init(
    mainStore: any Storing<E>, recoveryStore: any Storing<E>, events: ManagerEventHandler? = nil
  ) {
    self.mainStore = mainStore.local
    self.recoveryStore = recoveryStore
    self.events = events
  }

  /// Fills one store from the other, once; after an error the next call tries again.
  func prepare() async throws {
    if progress.withLock({ $0.isReady }) { return }
    try await gate.run {
      if !progress.withLock({ $0.isReady }) { try await fill() }
    }
  }

  func report(_ error: any Error) {
    events?(ManagerEvent(.failedRecovery, E.modelTypeName, error))
  }

  /// Writes to the main store and then to the recovery store, one write after another.
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
      // A recovery store that could not be read is not overwritten.
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
  ///   - context: Passed to the main store.
  /// - Returns: The entities that exist.
  /// - Throws: The errors of the main store.
  /// - Complexity: As the main store. The first call reads all entities and fills one store from the other.
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
  ///   - context: Passed to the main store.
  /// - Returns: The entities, in the order of the query.
  /// - Throws: The errors of the main store.
  /// - Complexity: As the main store. The first call reads all entities and fills one store from the other.
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
      // A late removal keeps newer entities.
      let left = try await mainStore.get(withQuery: Query(ids: identifiers), in: .local).entities
      let kept = Set(left.map(\.id))
      try await recoveryStore.remove(identifiers.filter { !kept.contains($0) }, in: .local)
    }
  }

  /// Removes all entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Passed to the main store.
  /// - Returns: The identifiers of the removed entities.
  /// - Throws: The errors of the main store.
  /// - Complexity: As both stores, and before the first call as ``get(withQuery:in:)``. Copies all entities
  ///   if the recovery store lacks a write.
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
