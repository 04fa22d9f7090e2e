import PandoModels
import PandoSystem

/// The one object through which a service reads and writes the entities of a type.
///
/// It stands over a stack of stores and asks them level by level:
///
/// ```swift
/// let books = container[Book.self]
/// let book = try await books.get(byID: .remote("7"), in: .localOr(.remote()))
/// try await books.set(Book(id: .remote("8"), title: "Aspen"), in: .localAndRemote)
/// ```
/// - Note: Any thread, any number of calls at the same time. Writes of one task take effect in the
///   order of its calls.
public final class CoreManager<E: Entity>: Sendable {
  package let stack: StoreStack<E>
  let events: ManagerEventHandler?
  let background = TaskCounter()
  let answers = AnswerMemory()
  /// What its continuous results share with those of the other managers of a container.
  let continuous: ContinuousScope
  /// What the server tells of changes; `nil` without a server that could.
  let changes: ChangesFeed<E>?
  /// What shows changes of the store that counts, if that is in memory.
  let feed: MemoryFeed<E>?

  /// Makes a manager over stores of one's own; containers make theirs by themselves.
  ///
  /// A memory store that comes before a disk store is kept as ``CacheStore`` keeps it.
  ///
  /// - Parameters:
  ///   - stores: The stores, in any order; they are asked from the nearest level to the farthest.
  ///   - events: Told what goes wrong behind the back of every caller.
  public convenience init(stores: [any Storing<E>], events: ManagerEventHandler? = nil) {
    self.init(stores: stores, events: events, continuous: ContinuousScope())
  }

  /// Makes a manager of a container.
  ///
  /// - Parameters:
  ///   - stores: The stores.
  ///   - events: Told what goes wrong behind the back of every caller.
  ///   - continuous: What the managers of the container share.
  init(stores: [any Storing<E>], events: ManagerEventHandler?, continuous: ContinuousScope) {
    let stack = StoreStack(stores, events: events)
    self.stack = stack
    self.events = events
    self.continuous = continuous
    let server = stack.remote.lazy.compactMap { $0 as? any ChangesStoring<E> }.first
    changes = server.map { ChangesFeed($0, stack) }
    feed = stack.memory.map { MemoryFeed($0, continuous.providers) }
    if stack.runsSteps { (stack.remote.first as? any NamingStore<E>)?.keepsEntities() }
  }
}

extension CoreManager {
  /// Returns an entity.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - context: Which stores are asked.
  /// - Returns: The entity; `nil` if there is none.
  /// - Throws: ``ManagerError`` `userAccessInvalid`, `noStore`, or `composite` when several stores
  ///   failed; the error of the one store that failed.
  /// - Complexity: O(1) from memory, O(log *n*) for each node of its tree from disk, from a store of one's own
  ///   what that needs. Where the context asks the server: a request, and a write of its answer.
  public func get(
    byID identifier: EntityIdentifier<E>, in context: ReadContext<E> = .local
  ) async throws -> E? {
    try await entity(identifier, in: context)
  }

  /// Returns entities.
  ///
  /// - Parameters:
  ///   - identifiers: Their identifiers.
  ///   - context: Which stores are asked.
  /// - Returns: Those that there are, in the order of the identifiers.
  /// - Throws: As ``get(byID:in:)``.
  /// - Complexity: O(*k* log *k*) for *k* identifiers in memory; from disk O(log *n*) for each node of their
  ///   trees, of all of them if memory lacks one. Where the context asks the server: a request for all, or one
  ///   for each if its API has none for several.
  public func get(
    byIDs identifiers: [EntityIdentifier<E>], in context: ReadContext<E> = .local
  ) async throws -> QueryResult<E> {
    guard identifiers.count != 1 else {
      let found = try await entity(identifiers[0], in: context)
      return QueryResult(ungrouped: found.map { [$0] } ?? [])
    }
    guard !identifiers.isEmpty else { return .empty }
    return try await read(EntityRead(getting: identifiers), in: context)
  }

  /// Returns the entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Which stores are asked.
  /// - Returns: The entities, in the order of the query.
  /// - Throws: ``QueryError`` for a query that makes no sense; else as ``get(byID:in:)``.
  /// - Complexity: In memory O(*n* + *m* log *m*) for *n* entities of which *m* match. On disk as
  ///   `ModelSnapshot.entities(matching:)`; if a server has said how entities of the type are ordered, all that
  ///   match are read, whatever the limit. Where the context asks the server: a request, and a write of its
  ///   answer.
  public func search(
    withQuery query: Query<E>, in context: ReadContext<E> = .local
  ) async throws -> QueryResult<E> {
    try await read(EntityRead(searching: query), in: context)
  }

  /// Returns all entities of the type.
  ///
  /// - Parameter context: Which stores are asked.
  /// - Returns: The entities, in natural order.
  /// - Throws: As ``get(byID:in:)``.
  /// - Complexity: As ``search(withQuery:in:)``, and all of them match.
  public func all(in context: ReadContext<E> = .local) async throws -> QueryResult<E> {
    try await search(withQuery: .all, in: context)
  }

  /// Returns the first entity that matches a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Which stores are asked.
  /// - Returns: The entity; `nil` if none matches.
  /// - Throws: As ``search(withQuery:in:)``.
  /// - Complexity: As ``search(withQuery:in:)`` with a limit of 1, which in memory saves nothing.
  public func first(
    for query: Query<E> = .all, in context: ReadContext<E> = .local
  ) async throws -> E? {
    var query = query
    query.limit = min(query.limit ?? 1, 1)
    return try await search(withQuery: query, in: context).first
  }
}

extension CoreManager {
  /// Sets an entity.
  ///
  /// - Parameters:
  ///   - entity: The new value; one that is there is merged with it.
  ///   - context: Which stores are written.
  /// - Returns: What is stored now, and how far the write has come.
  /// - Throws: ``ManagerError`` `conflict` when the server's answer came after somebody had removed the
  ///   entity; `userAccessInvalid`, `noStore`; the error of the store that failed.
  /// - Complexity: O(1) in memory; on disk O(log *n*) for each node of its tree, and a commit; then the wait
  ///   until it is shown to who follows. `.remote()` waits for the server; `.localAndRemote` queues the request
  ///   in the same commit, or waits if the remote store has no queue.
  @discardableResult
  public func set(
    _ entity: E, in context: WriteContext<E> = .local
  ) async throws -> Written<E> {
    try await write([entity], in: context).map { try Self.single($0, of: entity) }
  }

  /// Sets entities, in one step at each level.
  ///
  /// - Parameters:
  ///   - entities: The new values; those that are there are merged with them.
  ///   - context: Which stores are written.
  /// - Returns: What is stored now, without those that were changed by somebody later than this write.
  /// - Throws: ``ManagerError`` `userAccessInvalid`, `noStore`; the error of the store that failed.
  /// - Complexity: As `set(_:in:)` of one for each of them, in one commit. A server may need a request for
  ///   each.
  @discardableResult
  public func set(
    _ entities: [E], in context: WriteContext<E> = .local
  ) async throws -> Written<[E]> {
    try await write(entities, in: context).map { applied in
      applied.compactMap { $0.isLate ? nil : $0.stored }
    }
  }

  /// Changes an entity as it is when the write comes to it: nothing is lost that others have changed
  /// meanwhile, in it or in what it contains.
  ///
  /// ```swift
  /// try await books.update(byID: .remote("7")) { $0.loanCount += 1 }
  /// ```
  /// Only what differs afterwards is written. With a server in the context it gets what has become of the
  /// entity here.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - context: Which stores are written.
  ///   - change: Changes the value; its identifier stays. It may run more than once, so it must change
  ///     nothing else.
  /// - Returns: What is stored now, and how far the write has come; `nil` if there is no such entity here.
  /// - Throws: What `change` throws, and then nothing is written; else as `set(_:in:)`.
  /// - Complexity: As `set(_:in:)`, and what `change` costs.
  @discardableResult
  public func update(
    byID identifier: EntityIdentifier<E>, in context: WriteContext<E> = .local,
    _ change: @escaping @Sendable (inout E) throws -> Void
  ) async throws -> Written<E>? { try await modify(identifier, in: context, change) }

  /// Sets what a caller has changed in an entity, and not what the entity merely carries along.
  ///
  /// `old` says what the caller had read. All that is the same in both stays as others have made it
  /// meanwhile; fields that differ, lists of children element by element, are set.
  ///
  /// - Parameters:
  ///   - entity: The entity that the caller wants.
  ///   - old: The entity that the caller has read, with the same identifier.
  ///   - context: Which stores are written.
  /// - Returns: What is stored now, and how far the write has come.
  /// - Throws: ``ManagerError`` `notFound` where the entity is not here any more; `conflict` for two
  ///   identifiers; else as `set(_:in:)`.
  /// - Complexity: As `set(_:in:)`, for the nodes of both versions.
  @discardableResult
  public func set(
    _ entity: E, replacing old: E, in context: WriteContext<E> = .local
  ) async throws -> Written<E> {
    let written = try await modify(entity.id, replacing: (entity, old), in: context) {
      guard entity.id == old.id else {
        throw ManagerError(
          .conflict, entity.id.modelIdentifier,
          "it can't replace \(old.id.modelIdentifier); both versions have one identifier")
      }
      $0 = try ModelChildren.rebase(entity, from: old, onto: $0)
    }
    if let written { return written }
    throw ManagerError(
      .notFound, entity.id.modelIdentifier,
      "it was removed after it had been read; set it to bring it back")
  }

  /// Removes an entity.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier; that of an absent entity does no harm.
  ///   - context: Which stores are written.
  /// - Returns: How far the removal has come.
  /// - Throws: ``ManagerError`` `userAccessInvalid`, `noStore`; the error of the store that failed.
  /// - Complexity: In memory and for the server as `set(_:in:)`; on disk O(log *n*) for each parent, the size
  ///   of each collection that holds it, and a commit.
  @discardableResult
  public func remove(
    atID identifier: EntityIdentifier<E>, in context: WriteContext<E> = .local
  ) async throws -> Written<Void> { try await remove([identifier], in: context) }

  /// Removes entities, in one step at each level.
  ///
  /// - Parameters:
  ///   - identifiers: Their identifiers; those of absent entities do no harm.
  ///   - context: Which stores are written.
  /// - Returns: How far the removal has come.
  /// - Throws: ``ManagerError`` `userAccessInvalid`, `noStore`; the error of the store that failed.
  /// - Complexity: As ``remove(atID:in:)`` for each of them, in one commit. A server may need a request for
  ///   each.
  @discardableResult
  public func remove(
    _ identifiers: [EntityIdentifier<E>], in context: WriteContext<E> = .local
  ) async throws -> Written<Void> { try await erase(identifiers, in: context) }

  /// Removes all entities that match a query.
  ///
  /// With a server in the context those go that match here, or match there if only the server is
  /// written.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Which stores are written.
  /// - Returns: The identifiers of those that were removed.
  /// - Throws: ``QueryError`` for a query that makes no sense; else as ``remove(_:in:)``.
  /// - Complexity: As ``search(withQuery:in:)``, and ``remove(_:in:)`` of what it gives; in memory
  ///   O(*n* log *n*) for *n* entities, whatever matches.
  @discardableResult
  public func removeAll(
    withQuery query: Query<E> = .all, in context: WriteContext<E> = .local
  ) async throws -> Written<[EntityIdentifier<E>]> { try await eraseAll(query, in: context) }

  /// The outcome of a set of one entity.
  static func single(_ applied: [AppliedEntity<E>], of entity: E) throws -> E {
    guard let stored = applied.first?.stored else {
      throw ManagerError(
        .conflict, entity.id.modelIdentifier,
        "it was removed after this write began; set it again to have it back")
    }
    return stored
  }
}

extension Written {
  /// The same write with another value.
  func map<Other: Sendable>(
    _ transform: @escaping @Sendable (Value) throws -> Other
  ) throws -> Written<Other> {
    guard state == .queued else { return Written<Other>(try transform(value), state) }
    return Written<Other>(try transform(value), state) { try transform(await self.confirmed()) }
  }
}
