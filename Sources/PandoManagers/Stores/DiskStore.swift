import PandoModels
public import PandoStore
import PandoSystem

/// Entities in a `ModelStore`, on disk or in memory, as ordinary nodes of it.
///
/// ```swift
/// let books = CoreManager<Book>(stores: [DiskStore(modelStore: store)])
/// try await books.set(book)
/// let same = try store.read { try $0.entity(book.id) }
/// ```
///
/// A written entity changes in every provider and every stored tree that holds it; their writes change it
/// here. Each call is one transaction. Use ``CacheStore`` to put a memory before it.
/// - Note: Any thread.
public struct DiskStore<E: LocalEntity>: Sendable {
  /// The store of the entities.
  public let modelStore: ModelStore

  /// `disk`, or `memory` for a model store in memory.
  public var level: StoreLevel { modelStore.isInMemory ? .memory : .disk }

  /// Whether a server has entities of the type, so that writes need sequence numbers.
  let keepsOrder: Bool

  /// Makes a store of entities in a model store.
  ///
  /// - Parameter modelStore: An open store; any number of types, managers and providers may share it.
  public init(modelStore: ModelStore) {
    self.modelStore = modelStore
    keepsOrder = E.self is any ServedEntity.Type
    NamespaceTypes.others(of: E.self)
  }
}

extension DiskStore: LocalStoring {
  /// Whether a write needs a sequence number: a server of the type, or of the program's own, will answer to it.
  private func keepsOrder(in context: WriteContext<E>) -> Bool {
    keepsOrder || context.endpoint != nil
  }

  package var updatesInPlace: Bool { true }

  package func takeReadPlace() async throws -> UInt64 {
    let follower = try StoreFollower.follower(of: modelStore)
    let namespace = E.identifierNamespace
    if !modelStore.isReadOnly, follower.isFirst(namespace) {
      // Removals by any writer need tombstones from now on.
      try await modelStore.write { try $0.keepTombstones(ofNamespace: namespace) }
    }
    return try nextPlace(follower)
  }

  private func nextPlace(_ follower: StoreFollower) throws -> UInt64 {
    try modelStore.read { follower.takeReadPlace(after: try $0.commitValue) }
  }

  package var runsSteps: Bool { true }

  /// Returns entities by their identifiers.
  ///
  /// - Parameters:
  ///   - query: A query by identifiers.
  ///   - context: Ignored.
  /// - Returns: The entities that exist.
  /// - Throws: `ModelError` with identifier and field if a stored entity doesn't fit the type; `StoreError`,
  ///   `LMDBError`.
  /// - Complexity: O(log *n*) for each node of the entities' trees.
  public func get(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> { try await modelStore.read { try Self.find(query, in: $0) } }

  /// Returns the entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Ignored.
  /// - Returns: The entities, in the order of the query.
  /// - Throws: `QueryError` for an invalid query; else as ``get(withQuery:in:)``.
  /// - Complexity: As `ModelSnapshot.find(_:)`; in natural order, if a server has sent one, all
  ///   matches are read, whatever the limit.
  public func search(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> { try await modelStore.read { try Self.find(query, in: $0) } }

  package func apply(
    _ entities: [E], in context: WriteContext<E>
  ) async throws -> AppliedWrite<E> {
    let keepsOrder = keepsOrder(in: context)
    let isLocal = context.firstStep == nil && context.steps.isEmpty
    return try await modelStore.write { transaction in
      let applied =
        if let update = context.update {
          try transaction.apply(
            update, after: context.firstStep, keepsOrder: keepsOrder, isLocal: isLocal)
        } else {
          try transaction.apply(
            entities, after: context.firstStep, asOf: context.asOf,
            keepsOrder: keepsOrder || context.asOf != nil, isLocal: isLocal)
        }
      for step in context.steps { try step(&transaction) }
      let place = context.asOf ?? (keepsOrder ? transaction.takeSequenceNumber() : 0)
      return AppliedWrite(applied, place: place)
    }
  }

  package func apply(_ answer: AnswerWrite<E>) async throws -> AppliedAnswer<E> {
    try await modelStore.write { transaction in
      let applied = try transaction.apply(
        answer.entities, asOf: answer.asOf, knownAt: answer.changes?.knownAt,
        isIncluded: answer.isUnasked, waitingSince: answer.waitingSince)
      let place = AnswerPlace(asOf: answer.asOf, waitingSince: answer.waitingSince)
      for included in answer.included { try included(&transaction, place) }
      if answer.isInNaturalOrder {
        if try transaction.arrange(answer.entities.map(\.id.modelIdentifier)) {
          try transaction.markArranged(E.modelTypeName)
        }
      }
      var removed: [EntityIdentifier<E>] = []
      if answer.discardsExtra {
        let answered = Set(answer.entities.map(\.id))
        let extra = try Self.find(answer.query, in: transaction.snapshot).entities.map(\.id)
          .filter { !answered.contains($0) }
        removed = try transaction.removeEntities(
          extra, asOf: answer.asOf, onlySynchronized: true)
      }
      // The answer to a waiting write decides about its entity.
      let gone = try answer.gone.filter {
        let name = try transaction.snapshot.currentIdentifier(of: $0).modelIdentifier
        return try !transaction.snapshot.isWaiting(name)
      }
      removed += try transaction.removeEntities(gone, asOf: answer.asOf)
      var outcome = AppliedAnswer(
        write: AppliedWrite(applied, place: answer.asOf), removed: removed)
      if let changes = answer.changes {
        (outcome.removed, outcome.refused) =
          try transaction.carryOut(changes, applied, asOf: answer.asOf)
      }
      return outcome
    }
  }

  package func applyRemoval(
    of identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws -> UInt64 {
    let keepsOrder = keepsOrder(in: context)
    return try await modelStore.write { transaction in
      try context.firstStep?([], &transaction)
      try transaction.removeEntities(identifiers, asOf: context.asOf, keepsOrder: keepsOrder)
      for step in context.steps { try step(&transaction) }
      return context.asOf ?? (keepsOrder ? transaction.takeSequenceNumber() : 0)
    }
  }

  /// Removes all entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Has the sequence number of the removal, if it is an answer.
  /// - Returns: The identifiers of the removed entities.
  /// - Throws: `QueryError` for an invalid query; `StoreError`, `LMDBError`.
  /// - Complexity: As ``search(withQuery:in:)``; then for each match O(log *n*) for each parent, and the size
  ///   of each collection that holds it; and a commit.
  public func removeAll(
    withQuery query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] {
    try query.validate()
    let keepsOrder = keepsOrder
    return try await modelStore.write { transaction in
      let found = try Self.find(query, in: transaction.snapshot).entities.map(\.id)
      let removed = try transaction.removeEntities(
        found, asOf: context.asOf, keepsOrder: keepsOrder)
      for step in context.steps { try step(&transaction) }
      return removed
    }
  }
}

extension DiskStore {
  package var answersDirectly: Bool { true }

  package func directAnswer(_ identifier: EntityIdentifier<E>) throws -> DirectAnswer<E> {
    var childCount = 0
    return try modelStore.read { try entity(identifier, in: $0, &childCount) }
  }

  package func entity(
    _ identifier: EntityIdentifier<E>, in snapshot: ModelSnapshot, _ childCount: inout Int
  ) throws -> DirectAnswer<E> {
    let current = identifier.isLocal ? try snapshot.currentIdentifier(of: identifier) : identifier
    let found = try snapshot.entity(current.modelIdentifier, as: E.self, &childCount)
    return found.map { .found($0) } ?? .absent
  }

  package var followedStore: ModelStore? { modelStore }

  package func numberedAnswer(
    _ query: Query<E>
  ) async throws -> (result: QueryResult<E>, number: UInt64) {
    try await modelStore.read { snapshot in
      (try Self.find(query, in: snapshot), try snapshot.commitValue)
    }
  }
}

extension DiskStore {
  /// Answers a query from a snapshot.
  static func find(_ query: Query<E>, in snapshot: ModelSnapshot) throws -> QueryResult<E> {
    try snapshot.find(query.current(in: snapshot))
  }
}
