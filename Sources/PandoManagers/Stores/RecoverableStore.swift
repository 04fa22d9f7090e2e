import PandoSystem
import PandoModels
import PandoStore

/// A store with a second one to recover from.
///
/// Before the first call, an empty or failing main store is filled from the recovery store; otherwise
/// the recovery store is filled from the main store. Reads come from the main store; what it has
/// written goes to the recovery store too, whose errors are told and hinder nobody.
///
/// - Note: Any thread.
public final class RecoverableStore<E: Entity>: Sendable {
  /// That of the main store.
  public var level: StoreLevel { mainStore.level }

  let mainStore: any Storing<E>
  let recoveryStore: any Storing<E>
  private let events: ManagerEventHandler?
  private let gate = AsyncGate()
  private let isReady = Locked(false)

  /// Puts two stores together.
  ///
  /// - Parameters:
  ///   - mainStore: The store that counts.
  ///   - recoveryStore: The store that follows it.
  ///   - events: Told when the recovery store fails.
  public init(
    mainStore: any Storing<E>, recoveryStore: any Storing<E>, events: ManagerEventHandler? = nil
  ) {
    self.mainStore = mainStore
    self.recoveryStore = recoveryStore
    self.events = events
  }

  /// Fills one store from the other, once.
  private func prepare() async throws {
    if isReady.withLock({ $0 }) { return }
    try await gate.run {
      guard !isReady.withLock({ $0 }) else { return }
      try await fill()
      isReady.withLock { $0 = true }
    }
  }

  private func fill() async throws {
    let main: [E]?
    var failure: (any Error)?
    do {
      main = try await mainStore.search(withQuery: .all, in: .local).entities
    } catch {
      main = nil
      failure = error
    }
    if let main, !main.isEmpty {
      await follow { [recoveryStore] in
        let kept = try await recoveryStore.search(withQuery: .all, in: .local).entities
        let present = Set(main.map(\.id))
        let extra = kept.map(\.id).filter { !present.contains($0) }
        if !extra.isEmpty { try await recoveryStore.remove(extra, in: .local) }
        _ = try await recoveryStore.set(main, in: .local)
      }
      return
    }
    let kept: [E]
    do {
      kept = try await recoveryStore.search(withQuery: .all, in: .local).entities
    } catch {
      report(error)
      if let failure { throw failure }
      return
    }
    do {
      if !kept.isEmpty { _ = try await mainStore.set(kept, in: .local) }
    } catch {
      throw failure ?? error
    }
  }

  private func report(_ error: any Error) {
    events?(ManagerEvent(.failedRecovery, E.modelTypeName, error))
  }

  /// Does something with the recovery store, whose errors are told and hinder nobody.
  private func follow(_ body: () async throws -> Void) async {
    do {
      try await body()
    } catch {
      report(error)
    }
  }

  /// Writes to the main store and then to the recovery store, in one order.
  private func write<Result>(
    _ body: () async throws -> Result, then recover: (Result) async throws -> Void
  ) async throws -> Result {
    try await prepare()
    return try await gate.run {
      let result = try await body()
      await follow { try await recover(result) }
      return result
    }
  }
}

extension RecoverableStore: OrderedStoring {
  private var ordered: (any OrderedStoring<E>)? { mainStore as? any OrderedStoring<E> }

  package func takeReadPlace() async throws -> UInt64 { try await ordered?.takeReadPlace() ?? 0 }

  package var runsSteps: Bool { ordered?.runsSteps ?? false }

  /// Returns entities of the main store by their identifiers.
  ///
  /// - Parameters:
  ///   - query: A query by identifiers.
  ///   - context: Given to the main store.
  /// - Returns: Those that are there.
  /// - Throws: What the main store throws.
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
      guard let ordered else {
        let stored = try await mainStore.set(entities, in: context)
        return AppliedWrite(
          stored.map { AppliedEntity($0.id, stored: $0, isLate: false) }, place: 0)
      }
      return try await ordered.apply(entities, in: context)
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
      guard let ordered else {
        let stored = try await mainStore.set(answer.entities, in: .answer(asOf: answer.asOf))
        let applied = stored.map { AppliedEntity($0.id, stored: $0, isLate: false) }
        return AppliedAnswer(write: AppliedWrite(applied, place: 0), removed: [])
      }
      return try await ordered.apply(answer)
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
      if let ordered { return try await ordered.applyRemoval(of: identifiers, in: context) }
      try await mainStore.remove(identifiers, in: context)
      return 0
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
  public func removeAll(
    withQuery query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] {
    try await write {
      try await mainStore.removeAll(withQuery: query, in: context)
    } then: { removed in
      if !removed.isEmpty { try await recoveryStore.remove(removed, in: .local) }
    }
  }
}

extension RecoverableStore: NumberedStoring {
  private var numbered: (any NumberedStoring<E>)? { mainStore as? any NumberedStoring<E> }

  var followedStore: ModelStore? { numbered?.followedStore }

  func numberedAnswer(
    _ query: Query<E>
  ) async throws -> (result: QueryResult<E>, number: UInt64) {
    guard let numbered else { preconditionFailure("the main store numbers no commits") }
    try await prepare()
    return try await numbered.numberedAnswer(query)
  }
}
