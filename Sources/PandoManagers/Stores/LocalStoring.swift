package import PandoStore

/// A store of a stack, with operations that ``Storing`` lacks.
///
/// Each write has a sequence number, called its place. A write that is older than the last write or removal
/// of its entity is late and changes nothing. The store compares and writes in one step.
///
/// ``Storing/local`` makes a custom store conform to it.
package protocol LocalStoring<E>: Storing {
  /// Whether the store compares sequence numbers; in another store the last write wins.
  var comparesPlaces: Bool { get }

  /// Whether the store runs the update of a context in one step.
  var updatesInPlace: Bool { get }

  /// Takes the sequence number of a request to a server, after all writes so far.
  func takeReadPlace() async throws -> UInt64

  /// Whether the store runs the steps of a context in the transaction of a write.
  var runsSteps: Bool { get }

  /// Stores entities.
  func apply(_ entities: [E], in context: WriteContext<E>) async throws -> AppliedWrite<E>

  /// Stores an answer of a server, in one step.
  @discardableResult
  func apply(_ answer: AnswerWrite<E>) async throws -> AppliedAnswer<E>

  /// Removes entities; if the context has a sequence number, only those that have not changed since.
  ///
  /// - Returns: The sequence number of the removal.
  func applyRemoval(
    of identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws -> UInt64

  /// Whether ``directAnswer(_:)`` can find entities.
  var answersDirectly: Bool { get }

  /// Returns an entity on the caller's thread, without waiting and without a query.
  ///
  /// It costs little more than a read of the memory or the model store beneath.
  ///
  /// - Parameter identifier: Its identifier.
  /// - Returns: The entity, or why there is none.
  /// - Throws: The errors of ``Storing/get(withQuery:in:)``.
  func directAnswer(_ identifier: EntityIdentifier<E>) throws -> DirectAnswer<E>

  /// The model store that holds the entities; `nil` if they are elsewhere.
  var followedStore: ModelStore? { get }

  /// Answers a query, with the number of the commit that the answer shows.
  ///
  /// *Precondition:* ``followedStore`` is not `nil`.
  func numberedAnswer(
    _ query: Query<E>
  ) async throws -> (result: QueryResult<E>, number: UInt64)

  /// Returns an entity as a snapshot shows it.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - snapshot: A snapshot of ``followedStore``.
  ///   - childCount: Set to the number of nodes read for it beside its own.
  /// - Returns: The entity, or `unknown` if the store does not read snapshots.
  /// - Throws: The errors of a read of the store.
  func entity(
    _ identifier: EntityIdentifier<E>, in snapshot: ModelSnapshot, _ childCount: inout Int
  ) throws -> DirectAnswer<E>
}

/// A store's answer to a read of one entity without waiting.
package indirect enum DirectAnswer<E: Entity> {
  /// The store holds it.
  case found(E)
  /// The store does not hold it.
  case absent
  /// ``Storing/get(withQuery:in:)`` has to find out.
  case unknown
}

extension LocalStoring {
  package var comparesPlaces: Bool { true }
  package var updatesInPlace: Bool { false }
  package var runsSteps: Bool { false }
  package var answersDirectly: Bool { false }
  package func directAnswer(_ identifier: EntityIdentifier<E>) -> DirectAnswer<E> { .unknown }
  package var followedStore: ModelStore? { nil }

  package func numberedAnswer(
    _ query: Query<E>
  ) async throws -> (result: QueryResult<E>, number: UInt64) {
    preconditionFailure("\(Self.self) is not over a model store")
  }

  package func entity(
    _ identifier: EntityIdentifier<E>, in snapshot: ModelSnapshot, _ childCount: inout Int
  ) -> DirectAnswer<E> { .unknown }

  /// Stores entities, merged into stored ones.
  ///
  /// - Parameters:
  ///   - entities: The new values.
  ///   - context: The options of the write, with its sequence number if it is an answer.
  /// - Returns: The stored values.
  /// - Throws: The reason why nothing is stored.
  /// - Complexity: O(1) for each entity in memory; on disk O(log *n*) for each node of its tree, and a
  ///   commit. A store over others costs as much as they do.
  public func set(_ entities: [E], in context: WriteContext<E>) async throws -> [E] {
    try await apply(entities, in: context).stored
  }

  /// Removes entities by their identifiers.
  ///
  /// - Parameters:
  ///   - identifiers: The identifiers; absent entities are no error.
  ///   - context: The options of the write.
  /// - Throws: The reason why nothing is removed.
  /// - Complexity: O(1) for each entity in memory; on disk O(log *n*) for each parent, the size of each
  ///   collection that holds it, and a commit. A store over others costs as much as they do.
  public func remove(
    _ identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws { _ = try await applyRemoval(of: identifiers, in: context) }
}

extension Storing {
  /// The store itself, or a custom store with the operations of ``LocalStoring``.
  package var local: any LocalStoring<E> {
    self as? any LocalStoring<E> ?? UnorderedStore(store: self)
  }

  /// The entities to remove because an answer lacks or names them.
  func gone(by answer: AnswerWrite<E>) async throws -> [EntityIdentifier<E>] {
    guard answer.discardsExtra else { return answer.gone }
    let answered = Set(answer.entities.map(\.id))
    let extra = try await search(withQuery: answer.query, in: .local).entities.map(\.id)
      .filter { !answered.contains($0) && !$0.isLocal }
    return extra + answer.gone
  }
}

/// A custom store, which does not compare sequence numbers: the last write wins.
private struct UnorderedStore<Base: Storing>: LocalStoring {
  typealias E = Base.E

  let store: Base

  var level: StoreLevel { store.level }
  var comparesPlaces: Bool { false }

  func takeReadPlace() -> UInt64 { 0 }

  func get(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> { try await store.get(withQuery: query, in: context) }

  func search(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> { try await store.search(withQuery: query, in: context) }

  func removeAll(
    withQuery query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] {
    try await store.removeAll(withQuery: query, in: context)
  }

  func apply(_ entities: [E], in context: WriteContext<E>) async throws -> AppliedWrite<E> {
    let stored = try await store.set(entities, in: context)
    return AppliedWrite(
      stored.map { AppliedEntity($0.id, stored: $0, isLate: false) }, place: 0)
  }

  func apply(_ answer: AnswerWrite<E>) async throws -> AppliedAnswer<E> {
    let context = WriteContext<E>.answer(asOf: answer.asOf)
    let write = try await apply(answer.entities, in: context)
    let gone = try await store.gone(by: answer)
    if !gone.isEmpty { try await store.remove(gone, in: context) }
    return AppliedAnswer(write: write, removed: gone)
  }

  func applyRemoval(
    of identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws -> UInt64 {
    try await store.remove(identifiers, in: context)
    return 0
  }
}
