import PandoModels
import PandoRecords
import PandoSystem

/// Reads and writes the entities of one type in a stack of stores.
///
/// Each read and write names the stores that it uses:
///
/// ```swift
/// let books = container[Book.self]
/// let book = try await books.get(byID: .remote("7"), in: .localOr(.remote()))
/// try await books.set(Book(id: .remote("8"), title: "Aspen"), in: .localAndRemote)
/// ```
/// Use a plain `ModelStore` with providers if no server and no typed identifiers are involved.
/// - Note: Any thread, any number of calls at the same time. Writes of one task take effect in call
///   order.
public final class CoreManager<E: Entity>: Sendable {
  package let stack: StoreStack<E>
  let events: ManagerEventHandler?
  let background = TaskCounter()
  let answers = AnswerMemory()
  /// State that continuous results share with those of the other managers of a container.
  let continuous: FollowedScope
  /// The server's changes; `nil` if no server sends changes.
  let changes: ChangesFeed<E>?
  /// Publishes changes of the farthest local store, if that store is in memory.
  let feed: MemoryFeed<E>?

  /// Makes a manager over given stores; a container makes its own managers.
  ///
  /// A memory store directly before a disk store becomes one ``CacheStore`` with it. A ``DiskStore`` over a model store
  /// in memory counts as a disk store here.
  ///
  /// - Parameters:
  ///   - stores: The stores in any order; the manager sorts them by level, the nearest first.
  ///   - events: Receives errors that no caller receives.
  public convenience init(stores: [any Storing<E>], events: ManagerEventHandler? = nil) {
    self.init(stores: stores, events: events, continuous: FollowedScope())
  }

  /// Makes a manager of a container.
  init(stores: [any Storing<E>], events: ManagerEventHandler?, continuous: FollowedScope) {
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
  ///   - context: The stores to read.
  /// - Returns: The entity; `nil` if there is none.
  /// - Throws: ``ManagerError`` `userAccessInvalid`, `noStore`, or `composite` if several stores failed;
  ///   the error of the one store that failed.
  /// - Complexity: O(1) from memory, O(log *n*) for each node of its tree from disk, the cost of a custom
  ///   store. If the manager reads from the server: a request, and a write of its answer.
  public func get(
    byID identifier: EntityIdentifier<E>, in context: ReadContext<E> = .local
  ) async throws -> E? {
    try await entity(identifier, in: context)
  }

  /// Returns entities.
  ///
  /// - Parameters:
  ///   - identifiers: Their identifiers.
  ///   - context: The stores to read.
  /// - Returns: The entities that exist, in the order of the identifiers.
  /// - Throws: As ``get(byID:in:)``.
  /// - Complexity: O(*k* log *k*) for *k* identifiers in memory. If memory lacks one: O(log *n*) for each
  ///   node of all trees from disk. If the manager reads from the server: one request, or one for each
  ///   entity if the API has none for several.
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
  /// The answer of a local store counts only if all its entities meet the contract of the context
  /// (``EntityContract``).
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: The stores to read.
  /// - Returns: The entities, in the order of the query.
  /// - Throws: `QueryError` for an invalid query; else as ``get(byID:in:)``.
  /// - Complexity: In memory O(*n* + *m* log *m*) for *n* entities of which *m* match. On disk as
  ///   `ModelSnapshot.find(_:)`; in a natural order that a server has sent, Pando reads all
  ///   matches, also with a limit. If the manager reads from the server: a request, and a write of its
  ///   answer.
  public func search(
    withQuery query: Query<E>, in context: ReadContext<E> = .local
  ) async throws -> QueryResult<E> {
    try await read(EntityRead(searching: query), in: context)
  }

  /// Returns all entities of the type.
  ///
  /// - Parameter context: The stores to read.
  /// - Returns: The entities, in natural order.
  /// - Throws: As ``get(byID:in:)``.
  /// - Complexity: As ``search(withQuery:in:)`` with all entities as matches.
  public func all(in context: ReadContext<E> = .local) async throws -> QueryResult<E> {
    try await search(withQuery: .all, in: context)
  }

  /// Returns the first entity that matches a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: The stores to read.
  /// - Returns: The entity; `nil` if none matches.
  /// - Throws: As ``search(withQuery:in:)``.
  /// - Complexity: As ``search(withQuery:in:)`` with a limit of 1; in memory the limit saves nothing.
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
  ///   - entity: The new value; Pando merges it into a stored one.
  ///   - context: The stores to write.
  /// - Returns: The stored value, and how far the write has come.
  /// - Throws: ``ManagerError`` `conflict` if the entity was removed before the server's answer arrived;
  ///   `userAccessInvalid`, `noStore`; the error of the farthest local store or the server.
  /// - Complexity: O(1) in memory; on disk O(log *n*) for each node of its tree, and a commit; then the
  ///   wait until followers have the change. `.remote()` waits for the server. `.localAndRemote` queues
  ///   the request in the same commit, or waits if the remote store has no queue.
  @discardableResult
  public func set(
    _ entity: E, in context: WriteContext<E> = .local
  ) async throws -> Written<E> {
    try await write([entity], in: context).map { try Self.single($0, of: entity) }
  }

  /// Sets entities, in one step for each store.
  ///
  /// - Parameters:
  ///   - entities: The new values; Pando merges them into stored ones.
  ///   - context: The stores to write.
  /// - Returns: The stored values, without entities that another call changed later than this write.
  /// - Throws: ``ManagerError`` `userAccessInvalid`, `noStore`; the error of the farthest local store or the server.
  /// - Complexity: As `set(_:in:)` of each of them, in one commit. A server may need a request for each.
  @discardableResult
  public func set(
    _ entities: [E], in context: WriteContext<E> = .local
  ) async throws -> Written<[E]> {
    try await write(entities, in: context).map { applied in
      applied.compactMap { $0.isLate ? nil : $0.stored }
    }
  }

  /// Changes the stored entity; changes that others make meanwhile are kept, also in its children.
  ///
  /// ```swift
  /// try await books.update(byID: .remote("7")) { $0.loanCount += 1 }
  /// ```
  /// Only differing nodes are written. The server, if the context names it, gets the resulting entity.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - context: The stores to write.
  ///   - change: Changes the value, but not its identifier. It may run more than once, so it must change
  ///     nothing else.
  /// - Returns: The stored value, and how far the write has come.
  /// - Throws: ``ManagerError`` `notFound` if there is no such local entity; the error of `change`, and then
  ///   nothing is written; else as `set(_:in:)`.
  /// - Complexity: As `set(_:in:)`, and the cost of `change`.
  @discardableResult
  public func update(
    byID identifier: EntityIdentifier<E>, in context: WriteContext<E> = .local,
    _ change: @escaping @Sendable (inout E) throws -> Void
  ) async throws -> Written<E> {
    if let written = try await modify(identifier, in: context, change) { return written }
    throw ManagerError(
      .notFound, identifier.modelIdentifier, "there is no such entity here; nothing was changed")
  }

  /// Changes the stored entity, if it exists, as ``update(byID:in:_:)`` does.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - context: The stores to write.
  ///   - change: Changes the value, but not its identifier. It may run more than once, so it must change
  ///     nothing else.
  /// - Returns: The stored value, and how far the write has come; `nil` if there is no such local entity.
  /// - Throws: The error of `change`, and then nothing is written; else as `set(_:in:)`.
  /// - Complexity: As `set(_:in:)`, and the cost of `change`.
  @discardableResult
  public func updateIfPresent(
    byID identifier: EntityIdentifier<E>, in context: WriteContext<E> = .local,
    _ change: @escaping @Sendable (inout E) throws -> Void
  ) async throws -> Written<E>? { try await modify(identifier, in: context, change) }

  /// Writes the differences between two versions of an entity.
  ///
  /// Values that are equal in both versions stay as stored, so changes by others are kept. Fields that
  /// differ are set; lists of children are compared element by element.
  ///
  /// - Parameters:
  ///   - entity: The new version of the entity.
  ///   - old: The version that the caller has read, with the same identifier.
  ///   - context: The stores to write.
  /// - Returns: The stored value, and how far the write has come.
  /// - Throws: ``ManagerError`` `notFound` if there is no such local entity; `conflict` if the
  ///   identifiers differ; else as `set(_:in:)`.
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
  ///   - identifier: Its identifier; an absent entity is no error.
  ///   - context: The stores to write.
  /// - Returns: How far the removal has come.
  /// - Throws: ``ManagerError`` `userAccessInvalid`, `noStore`; the error of the farthest local store or the server.
  /// - Complexity: In memory and for the server as `set(_:in:)`; on disk O(log *n*) for each parent, the
  ///   size of each collection that holds it, and a commit.
  @discardableResult
  public func remove(
    atID identifier: EntityIdentifier<E>, in context: WriteContext<E> = .local
  ) async throws -> Written<Void> { try await remove([identifier], in: context) }

  /// Removes entities, in one step for each store.
  ///
  /// - Parameters:
  ///   - identifiers: Their identifiers; absent entities are no error.
  ///   - context: The stores to write.
  /// - Returns: How far the removal has come.
  /// - Throws: ``ManagerError`` `userAccessInvalid`, `noStore`; the error of the farthest local store or the server.
  /// - Complexity: As ``remove(atID:in:)`` of each of them, in one commit. A server may need a request
  ///   for each.
  @discardableResult
  public func remove(
    _ identifiers: [EntityIdentifier<E>], in context: WriteContext<E> = .local
  ) async throws -> Written<Void> { try await erase(identifiers, in: context) }

  /// Removes all entities that match a query.
  ///
  /// `.localAndRemote` removes the entities that match locally, and `.remote()` those that match on the
  /// server.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: The stores to write.
  /// - Returns: The identifiers of the removed entities.
  /// - Throws: `QueryError` for an invalid query; else as ``remove(_:in:)``.
  /// - Complexity: As ``search(withQuery:in:)``, and ``remove(_:in:)`` of the matches; in memory O(*n*
  ///   log *n*) for *n* entities, of any number of matches.
  @discardableResult
  public func removeAll(
    withQuery query: Query<E> = .all, in context: WriteContext<E> = .local
  ) async throws -> Written<[EntityIdentifier<E>]> { try await eraseAll(query, in: context) }

  /// The result of a set of one entity.
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
