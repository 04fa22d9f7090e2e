public import PandoStore

/// A store at the level `remote` that knows more than ``Storing`` asks for: whether an answer is
/// complete, and how to make a write durable before the server has it.
///
/// ```swift
/// let remote: any RemoteStoring<Book> = RemoteStore<Book>(clientQueue: queue)
/// let answer = try await remote.fetch(.all, in: .remote())
/// print(answer.result.count, answer.isComplete)
/// ```
///
/// Any thread may call it, several at the same time; what takes a transaction is called on the thread that
/// writes.
public protocol RemoteStoring<E>: Storing {
  /// Asks the server.
  ///
  /// - Parameters:
  ///   - query: What is asked for.
  ///   - context: How the caller reads.
  /// - Returns: The answer.
  /// - Throws: An error that is a ``RemoteFailure`` where the server or the way to it failed.
  func fetch(_ query: Query<E>, in context: ReadContext<E>) async throws -> RemoteAnswer<E>

  /// Makes the request for a write, without any effect so far.
  ///
  /// - Parameters:
  ///   - entities: What the server is to store.
  ///   - context: How the caller writes.
  /// - Returns: The request.
  /// - Throws: Why there can be no such request.
  func request(
    toSet entities: [E], in context: WriteContext<E>
  ) throws -> any QueuedWrite<E>

  /// Returns what a write is about to replace, for ``QueuedWrite/enqueue(_:replacing:)``.
  ///
  /// - Parameters:
  ///   - entities: What will be stored.
  ///   - transaction: The transaction of the local write, before it.
  /// - Returns: What is stored now; `nil`, as by default, if the write stays whatever the server says.
  /// - Throws: What the disk throws.
  func replaced(
    bySetting entities: [E], in transaction: inout ModelTransaction
  ) throws -> (any Sendable)?

  /// Returns what a removal is about to replace, for ``QueuedWrite/enqueue(_:replacing:)``.
  ///
  /// - Parameters:
  ///   - identifiers: What will be removed.
  ///   - transaction: The transaction of the local removal, before it.
  /// - Returns: What is stored now; `nil`, as by default, if the removal stays whatever the server says.
  /// - Throws: What the disk throws.
  func replaced(
    byRemoving identifiers: [EntityIdentifier<E>], in transaction: inout ModelTransaction
  ) throws -> (any Sendable)?

  /// Returns whether a write of an entity waits for the server.
  ///
  /// - Parameter identifier: The identifier of the entity.
  /// - Returns: Whether one does; `false`, as by default, if writes do not wait.
  /// - Throws: What the disk throws.
  func hasWaitingWrites(of identifier: EntityIdentifier<E>) async throws -> Bool

  /// Makes the request for a removal, without any effect so far.
  ///
  /// - Parameters:
  ///   - identifiers: What the server is to remove.
  ///   - context: How the caller writes.
  /// - Returns: The request.
  /// - Throws: Why there can be no such request.
  func request(
    toRemove identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) throws -> any QueuedWrite<E>
}

extension RemoteStoring {
  /// No write waits.
  ///
  /// - Parameter identifier: The identifier of the entity.
  /// - Returns: `false`.
  /// - Throws: Nothing.
  /// - Complexity: O(1).
  public func hasWaitingWrites(of identifier: EntityIdentifier<E>) async throws -> Bool { false }

  /// Nothing.
  ///
  /// - Parameters:
  ///   - entities: What will be stored.
  ///   - transaction: The transaction of the local write, before it.
  /// - Returns: `nil`.
  /// - Throws: Nothing.
  /// - Complexity: O(1).
  public func replaced(
    bySetting entities: [E], in transaction: inout ModelTransaction
  ) throws -> (any Sendable)? { nil }

  /// Nothing.
  ///
  /// - Parameters:
  ///   - identifiers: What will be removed.
  ///   - transaction: The transaction of the local removal, before it.
  /// - Returns: `nil`.
  /// - Throws: Nothing.
  /// - Complexity: O(1).
  public func replaced(
    byRemoving identifiers: [EntityIdentifier<E>], in transaction: inout ModelTransaction
  ) throws -> (any Sendable)? { nil }
}

/// What a server answered to a read.
///
/// ```swift
/// func fetch(
///   _ query: Query<Book>, in context: ReadContext<Book>
/// ) async throws -> RemoteAnswer<Book> {
///   let books = try await server.books(query)
///   return RemoteAnswer(result: QueryResult(books), isComplete: query.isUnbounded)
/// }
/// ```
public struct RemoteAnswer<E: Entity>: Sendable {
  /// The entities, in the server's order.
  public var result: QueryResult<E>

  /// Whether the server has no more that match: what is not in a complete answer is not on the server.
  public var isComplete: Bool

  /// What is wrong with elements that were left out, of a `RemotePayload` that skips them.
  public var malformed: [any Error] = []

  /// What the server has sent, before the query was applied to it here.
  ///
  /// Given where the type has fields that the server does not know: what matches is known when these are
  /// filled in.
  package var unfiltered: [E]?

  /// What else is to be stored with the entities.
  package var included: [@Sendable (inout ModelTransaction, AnswerPlace) throws -> Void] = []

  /// Makes an answer.
  ///
  /// - Parameters:
  ///   - result: The entities, in the server's order.
  ///   - isComplete: Whether the server has no more that match.
  public init(result: QueryResult<E>, isComplete: Bool) {
    self.result = result
    self.isComplete = isComplete
  }
}

/// A request that changes something on a server: queued durably first, sent afterwards.
///
/// ```swift
/// let write = try remote.request(toSet: [book], in: .remote())
/// try await store.write { transaction in try write.enqueue(&transaction) }
/// write.committed()
/// let stored = try await write.answer()
/// ```
///
/// Whoever queues it calls ``enqueue(_:)`` inside the transaction of the local write, then
/// ``committed()`` once. The answer is written to the local stores by the queue, in the transaction
/// that takes the request off it.
///
/// Any thread may call it, several at the same time; what takes a transaction is called on the thread that
/// writes.
public protocol QueuedWrite<E>: Sendable {
  /// The type of the entities.
  associatedtype E: Entity

  /// Puts the request into the queue.
  ///
  /// - Parameter transaction: The transaction of the local write; it may run more than once.
  /// - Throws: Why it can't be queued; then the local write is not made either.
  func enqueue(_ transaction: inout ModelTransaction) throws

  /// Puts the request into the queue, with what the local write has replaced: should the server refuse it,
  /// the queue takes it back. By default that is not kept.
  ///
  /// - Parameters:
  ///   - transaction: The transaction of the local write, after it; it may run more than once.
  ///   - replaced: What ``RemoteStoring`` said before the write.
  /// - Throws: Why it can't be queued; then the local write is not made either.
  func enqueue(_ transaction: inout ModelTransaction, replacing replaced: (any Sendable)?) throws

  /// Puts the request into the queue where there is no local write, in a transaction of its own.
  ///
  /// - Throws: Why it can't be queued.
  func enqueue() async throws

  /// Says that the transaction is committed: the request may be sent.
  func committed()

  /// Waits until the server has answered or is known to be out of reach.
  ///
  /// - Returns: As ``answer()``; `nil` if the request goes on waiting in the queue.
  /// - Throws: As ``answer()``.
  func firstOutcome() async throws -> [E]?

  /// Waits for the server.
  ///
  /// - Returns: The entities that the server answered with, as they are stored here now.
  /// - Throws: What the server refused it with; ``ManagerError`` `aborted` when a newer request took
  ///   its place.
  func answer() async throws -> [E]
}

extension QueuedWrite {
  /// Puts the request into the queue; what the local write has replaced is not kept.
  ///
  /// - Parameters:
  ///   - transaction: The transaction of the local write, after it; it may run more than once.
  ///   - replaced: What ``RemoteStoring`` said before the write.
  /// - Throws: Why it can't be queued; then the local write is not made either.
  /// - Complexity: As ``enqueue(_:)``.
  public func enqueue(
    _ transaction: inout ModelTransaction, replacing replaced: (any Sendable)?
  ) throws { try enqueue(&transaction) }
}

/// A remote store with a queue in a store, which knows the identifiers that servers have given.
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

  /// The identifier that an entity has now.
  func currentIdentifier(of identifier: EntityIdentifier<E>) throws -> EntityIdentifier<E>
}

/// What a write replaces, noted before it.
package protocol ReplacedNodes: Sendable {
  /// The same with what the write has made of it.
  ///
  /// - Parameter snapshot: What is stored right after the write.
  /// - Returns: Both.
  /// - Throws: What the disk throws.
  func written(in snapshot: ModelSnapshot) throws -> Self
}

/// An error of a remote store that says what kind it is.
///
/// ```swift
/// struct Offline: RemoteFailure {
///   var remoteFailureKind: RemoteFailureKind { .connection }
/// }
/// ```
public protocol RemoteFailure: Error {
  /// What kind it is.
  var remoteFailureKind: RemoteFailureKind { get }
}

/// What kinds of failures of a remote store a manager tells apart.
///
/// ```swift
/// do {
///   let found = try await books.all(in: .remote())
/// } catch let error as any RemoteFailure where error.remoteFailureKind == .connection {
///   print("try again later")
/// }
/// ```
public enum RemoteFailureKind: Sendable, Hashable {
  /// The server can't be reached: there is no answer.
  case connection
  /// The server says that there is no such thing (404).
  case notFound
  /// The server refuses, or its answer can't be used.
  case other
}

/// A remote store whose server tells what has changed since it was asked last.
package protocol ChangesStoring<E>: RemoteStoring {
  /// The name of the server among those of a store.
  var clientIdentifier: String { get }

  /// Asks for a page of what has changed.
  ///
  /// - Parameters:
  ///   - cursor: Since when; `nil` for all.
  ///   - isLink: Whether it is the address of a page.
  /// - Returns: The page.
  /// - Throws: ``ExpiredCursor`` if the server does not know the cursor any more; what the store throws.
  func fetchChanges(since cursor: String?, isLink: Bool) async throws -> RemoteChanges<E>

  /// Asks for entities as they are by now.
  ///
  /// - Returns: Those that the server has; `nil` if it can't be asked for entities.
  func fetchCurrent(_ identifiers: [EntityIdentifier<E>]) async throws -> RemoteAnswer<E>?
}

/// A page of what has changed on a server.
package struct RemoteChanges<E: Entity>: Sendable {
  package var answer: RemoteAnswer<E>
  /// What the server has no longer.
  package var removed: [EntityIdentifier<E>]
  /// What the next page, or what has changed since, is asked for by.
  package var cursor: String
  /// Whether that is the address of a page.
  package var isLink: Bool
  /// Whether there are more pages.
  package var hasMore: Bool
  /// Why there are no entities, if the place where they are to stand is not there: in a page of all that is
  /// a mistake.
  package var absence: (any Error)?
  /// What is wrong if the next page was asked for before.
  package let leadsBack: any Error

  package init(
    _ answer: RemoteAnswer<E>, removed: [EntityIdentifier<E>], cursor: String, isLink: Bool,
    hasMore: Bool, leadsBack: any Error
  ) {
    (self.answer, self.removed, self.leadsBack) = (answer, removed, leadsBack)
    (self.cursor, self.isLink, self.hasMore) = (cursor, isLink, hasMore)
  }
}

/// The server does not know any more what has changed since a cursor.
package struct ExpiredCursor: Error {
  /// In which words it said so.
  package let answer: any Error

  package init(_ answer: any Error) { self.answer = answer }
}
