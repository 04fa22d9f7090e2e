package import PandoStore

/// A store of a stack, with the operations of Pando's own stores beside ``Storing``.
///
/// Every write has a sequence number, called its place. A write that is older than the last write or removal of its
/// entity is late and changes nothing. The store compares and writes in one step.
///
/// ``Storing/local`` gives a store of a service's own this form.
package protocol LocalStoring<E>: Storing {
  /// Whether the store compares the places of writes; a store that does not lets the last write win.
  var comparesPlaces: Bool { get }

  /// Whether the store carries out the update of a context in one step.
  var updatesInPlace: Bool { get }

  /// Gives a read of a server that begins now its place: after all writes so far.
  func takeReadPlace() async throws -> UInt64

  /// Whether the steps of a context are carried out in the transaction of a write.
  var runsSteps: Bool { get }

  /// Stores entities.
  func apply(_ entities: [E], in context: WriteContext<E>) async throws -> AppliedWrite<E>

  /// Stores what a server answered, all in one step.
  @discardableResult
  func apply(_ answer: AnswerWrite<E>) async throws -> AppliedAnswer<E>

  /// Removes entities. With an age in the context only those go that have not changed since.
  ///
  /// - Returns: The place of the removal.
  func applyRemoval(
    of identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws -> UInt64

  /// Whether ``directAnswer(_:)`` can find entities.
  var answersDirectly: Bool { get }

  /// Returns an entity on the caller's thread, without waiting and without a query.
  ///
  /// Such a read costs little more than one of the memory or the model store beneath.
  ///
  /// - Parameter identifier: Its identifier.
  /// - Returns: The entity, or what is known of it.
  /// - Throws: The errors of ``Storing/get(withQuery:in:)``.
  func directAnswer(_ identifier: EntityIdentifier<E>) throws -> DirectAnswer<E>

  /// The model store that holds the entities; `nil` for another place.
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

/// An entity as far as a store can tell without waiting.
package indirect enum DirectAnswer<E: Entity> {
  /// The store holds it.
  case found(E)
  /// The store does not hold it.
  case absent
  /// Only ``Storing/get(withQuery:in:)`` can tell.
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

  /// Stores entities; one that is there already is merged with the new value.
  ///
  /// - Parameters:
  ///   - entities: The new values.
  ///   - context: How the caller writes, and which place the write has.
  /// - Returns: What is stored now.
  /// - Throws: Why they can't be stored; then none is.
  /// - Complexity: O(1) for each entity in memory; on disk O(log *n*) for each node of its tree, and a commit.
  ///   A store over others costs what those do.
  public func set(_ entities: [E], in context: WriteContext<E>) async throws -> [E] {
    try await apply(entities, in: context).stored
  }

  /// Removes entities by their identifiers.
  ///
  /// - Parameters:
  ///   - identifiers: The identifiers; those of absent entities do no harm.
  ///   - context: How the caller writes.
  /// - Throws: Why they can't be removed; then none is.
  /// - Complexity: O(1) for each entity in memory; on disk O(log *n*) for each parent, the size of each
  ///   collection that holds it, and a commit. A store over others costs what those do.
  public func remove(
    _ identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws { _ = try await applyRemoval(of: identifiers, in: context) }
}

extension Storing {
  /// The store with the operations of Pando's own stores.
  package var local: any LocalStoring<E> {
    self as? any LocalStoring<E> ?? UnorderedStore(store: self)
  }

  /// The entities that go because an answer lacks or names them.
  func gone(by answer: AnswerWrite<E>) async throws -> [EntityIdentifier<E>] {
    guard answer.discardsExtra else { return answer.gone }
    let answered = Set(answer.entities.map(\.id))
    let extra = try await search(withQuery: answer.query, in: .local).entities.map(\.id)
      .filter { !answered.contains($0) && !$0.isLocal }
    return extra + answer.gone
  }
}

/// A store of a service's own, which does not compare places: the last write wins.
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
