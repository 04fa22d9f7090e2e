package import PandoStore

/// A store at the level `remote` that says whether an answer is complete, and that queues writes.
///
/// ```swift
/// let remote: any RemoteStoring<Book> = RemoteStore<Book>(clientQueue: queue)
/// let answer = try await remote.fetch(.all, in: .remote())
/// print(answer.result.count, answer.isComplete)
/// ```
///
/// Any thread may call it, several at the same time. Methods with a transaction run on the writer thread.
package protocol RemoteStoring<E>: Storing {
  /// Requests entities from the server.
  ///
  /// - Parameters:
  ///   - query: The entities to request.
  ///   - context: The options of the read.
  /// - Returns: The answer.
  /// - Throws: A ``RemoteFailure`` if the server or the connection failed.
  func fetch(_ query: Query<E>, in context: ReadContext<E>) async throws -> RemoteAnswer<E>

  /// Makes the request for a write, without any effect yet.
  ///
  /// - Parameters:
  ///   - entities: The entities that the server shall store.
  ///   - context: The options of the write.
  /// - Returns: The request.
  /// - Throws: The reason why there is no such request.
  func request(
    toSet entities: [E], in context: WriteContext<E>
  ) throws -> any QueuedWrite<E>

  /// Returns the values that a write will replace, for ``QueuedWrite/enqueue(_:replacing:)``.
  ///
  /// - Parameters:
  ///   - entities: The entities to be stored.
  ///   - transaction: The transaction of the local write, before it.
  /// - Returns: The stored values; `nil`, the default, if a refused write is not undone.
  /// - Throws: The errors of the disk.
  func replaced(
    bySetting entities: [E], in transaction: inout ModelTransaction
  ) throws -> (any Sendable)?

  /// Returns the values that a removal will replace, for ``QueuedWrite/enqueue(_:replacing:)``.
  ///
  /// - Parameters:
  ///   - identifiers: The entities to be removed.
  ///   - transaction: The transaction of the local removal, before it.
  /// - Returns: The stored values; `nil`, the default, if a refused removal is not undone.
  /// - Throws: The errors of the disk.
  func replaced(
    byRemoving identifiers: [EntityIdentifier<E>], in transaction: inout ModelTransaction
  ) throws -> (any Sendable)?

  /// Returns whether a write of an entity waits for the server.
  ///
  /// - Parameter identifier: The identifier of the entity.
  /// - Returns: Whether one does; `false`, the default, if writes do not wait.
  /// - Throws: The errors of the disk.
  func hasWaitingWrites(of identifier: EntityIdentifier<E>) async throws -> Bool

  /// Makes the request for a removal, without any effect yet.
  ///
  /// - Parameters:
  ///   - identifiers: The entities that the server shall remove.
  ///   - context: The options of the write.
  /// - Returns: The request.
  /// - Throws: The reason why there is no such request.
  func request(
    toRemove identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) throws -> any QueuedWrite<E>
}

extension RemoteStoring {
  /// Returns `false`: no write waits.
  ///
  /// - Parameter identifier: The identifier of the entity.
  /// - Returns: `false`.
  /// - Throws: Nothing.
  /// - Complexity: O(1).
  package func hasWaitingWrites(of identifier: EntityIdentifier<E>) async throws -> Bool { false }

  /// Returns `nil`: a refused write is not undone.
  ///
  /// - Parameters:
  ///   - entities: The entities to be stored.
  ///   - transaction: The transaction of the local write, before it.
  /// - Returns: `nil`.
  /// - Throws: Nothing.
  /// - Complexity: O(1).
  package func replaced(
    bySetting entities: [E], in transaction: inout ModelTransaction
  ) throws -> (any Sendable)? { nil }

  /// Returns `nil`: a refused removal is not undone.
  ///
  /// - Parameters:
  ///   - identifiers: The entities to be removed.
  ///   - transaction: The transaction of the local removal, before it.
  /// - Returns: `nil`.
  /// - Throws: Nothing.
  /// - Complexity: O(1).
  package func replaced(
    byRemoving identifiers: [EntityIdentifier<E>], in transaction: inout ModelTransaction
  ) throws -> (any Sendable)? { nil }
}

/// A server's answer to a read.
///
/// ```swift
/// func fetch(
///   _ query: Query<Book>, in context: ReadContext<Book>
/// ) async throws -> RemoteAnswer<Book> {
///   let books = try await server.books(query)
///   return RemoteAnswer(result: QueryResult(books), isComplete: query.isUnbounded)
/// }
/// ```
package struct RemoteAnswer<E: Entity>: Sendable {
  /// The entities, in the server's order.
  package var result: QueryResult<E>

  /// Whether the answer has all matches of the server; an entity missing from it is not on the server.
  package var isComplete: Bool

  /// The errors of left-out elements, for a `RemotePayload` that skips them.
  package var malformed: [any Error] = []

  /// The entities that the server has sent, before the query was applied.
  ///
  /// Set if the manager applies the query: after it has filled in the fields that the server does not have, and
  /// with uniqueness after a contract.
  package var unfiltered: [E]?

  /// Further writes in the transaction that stores the entities.
  package var included: [@Sendable (inout ModelTransaction, AnswerPlace) throws -> Void] = []

  /// Makes an answer.
  ///
  /// - Parameters:
  ///   - result: The entities, in the server's order.
  ///   - isComplete: Whether the answer has all matches of the server.
  package init(result: QueryResult<E>, isComplete: Bool) {
    self.result = result
    self.isComplete = isComplete
  }
}

/// A queued write whose requests may replace others, and be replaced.
package protocol ReplaceableWrite: Sendable {
  /// The requests that it has replaced in the queue, until ``QueuedWrite/committed()``.
  var replacedRequests: [String] { get }

  /// Excludes requests from those whose answers it waits for.
  func leaveOut(_ requests: Set<String>)
}

/// A request that changes a server: first queued durably, then sent.
///
/// ```swift
/// let write = try remote.request(toSet: [book], in: .remote())
/// try await store.write { transaction in try write.enqueue(&transaction) }
/// write.committed()
/// let stored = try await write.answer()
/// ```
///
/// The caller calls ``enqueue(_:)`` inside the transaction of the local write, then ``committed()`` once. The
/// queue writes the answer to the local store on disk, in the transaction that removes the request.
///
/// Any thread may call it, several at the same time. Methods with a transaction run on the writer thread.
package protocol QueuedWrite<E>: Sendable {
  /// The type of the entities.
  associatedtype E: Entity

  /// Adds the request to the queue.
  ///
  /// - Parameter transaction: The transaction of the local write; it may run more than once.
  /// - Throws: The reason why it can't be queued; then the local write fails too.
  func enqueue(_ transaction: inout ModelTransaction) throws

  /// Adds the request to the queue, with the values that the local write has replaced.
  ///
  /// If the server refuses the request, the queue restores them. The default implementation ignores them.
  ///
  /// - Parameters:
  ///   - transaction: The transaction of the local write, after it; it may run more than once.
  ///   - replaced: The result of ``RemoteStoring`` before the write.
  /// - Throws: The reason why it can't be queued; then the local write fails too.
  func enqueue(_ transaction: inout ModelTransaction, replacing replaced: (any Sendable)?) throws

  /// Adds the request to the queue in a transaction of its own, without a local write.
  ///
  /// - Throws: The reason why it can't be queued.
  func enqueue() async throws

  /// Allows the queue to send the request: its transaction is committed.
  func committed()

  /// Waits until the server has answered or can't be reached.
  ///
  /// - Returns: As ``answer()``; `nil` if the request stays in the queue.
  /// - Throws: As ``answer()``.
  func firstOutcome() async throws -> [E]?

  /// Waits for the server's answer.
  ///
  /// - Returns: The entities of the answer, as they are stored now.
  /// - Throws: The error with which the server refused the request; ``ManagerError`` `aborted` if a newer
  ///   request replaced it.
  func answer() async throws -> [E]
}

extension QueuedWrite {
  /// Adds the request to the queue, without the values that the local write has replaced.
  ///
  /// - Parameters:
  ///   - transaction: The transaction of the local write, after it; it may run more than once.
  ///   - replaced: The result of ``RemoteStoring`` before the write.
  /// - Throws: The reason why it can't be queued; then the local write fails too.
  /// - Complexity: As ``enqueue(_:)``.
  package func enqueue(
    _ transaction: inout ModelTransaction, replacing replaced: (any Sendable)?
  ) throws { try enqueue(&transaction) }
}

/// A remote store with a queue in a store, and the identifiers that servers have assigned.
package protocol NamingStore<E>: Sendable {
  associatedtype E: Entity

  /// The store of the queue; `nil` if the queue has a store of its own.
  var queueStore: ModelStore? { get }

  /// Records that the entities are in the store of the queue.
  func keepsEntities()

  /// Gives an entity in another store than that of the queue the identifier that the server has given.
  func rename(
    _ old: EntityIdentifier<E>, to new: EntityIdentifier<E>, in transaction: inout ModelTransaction
  ) throws

  /// The present identifier of an entity.
  func currentIdentifier(of identifier: EntityIdentifier<E>) throws -> EntityIdentifier<E>
}

/// The values that a write replaces, read before it.
package protocol ReplacedNodes: Sendable {
  /// Adds the values that the write has stored.
  ///
  /// - Parameter snapshot: The snapshot right after the write.
  /// - Returns: The values before and after the write.
  /// - Throws: The errors of the disk.
  func written(in snapshot: ModelSnapshot) throws -> Self
}

/// A remote store whose server sends the changes since a cursor.
package protocol ChangesStoring<E>: RemoteStoring {
  /// The name of the server, unique among the servers of a store.
  var clientIdentifier: String { get }

  /// Requests a page of changes.
  ///
  /// - Parameters:
  ///   - cursor: The cursor of the last page; `nil` for everything.
  ///   - isLink: Whether the cursor is the address of a page.
  /// - Returns: The page.
  /// - Throws: ``ExpiredCursor`` if the server refuses the cursor; the errors of the store.
  func fetchChanges(since cursor: String?, isLink: Bool) async throws -> RemoteChanges<E>

  /// Requests the present values of entities.
  ///
  /// - Returns: Those that the server has; `nil` if its API has no such request.
  func fetchCurrent(_ identifiers: [EntityIdentifier<E>]) async throws -> RemoteAnswer<E>?
}

/// A page of changes on a server.
package struct RemoteChanges<E: Entity>: Sendable {
  package var answer: RemoteAnswer<E>
  /// Entities that the server has removed.
  package var removed: [EntityIdentifier<E>]
  /// The cursor of the next page, or of the next synchronization.
  package var cursor: String
  /// Whether the cursor is the address of a page.
  package var isLink: Bool
  /// Whether there are more pages.
  package var hasMore: Bool
  /// The error if the part of the response that should contain the entities is missing; fatal in a page of a
  /// full synchronization.
  package var absence: (any Error)?
  /// The error if the next page is one that was requested before.
  package let leadsBack: any Error

  package init(
    _ answer: RemoteAnswer<E>, removed: [EntityIdentifier<E>], cursor: String, isLink: Bool,
    hasMore: Bool, leadsBack: any Error
  ) {
    (self.answer, self.removed, self.leadsBack) = (answer, removed, leadsBack)
    (self.cursor, self.isLink, self.hasMore) = (cursor, isLink, hasMore)
  }
}

/// An error: the server refuses the cursor.
package struct ExpiredCursor: Error {
  /// The server's response.
  package let answer: any Error

  package init(_ answer: any Error) { self.answer = answer }
}
