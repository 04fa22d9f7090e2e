public import PandoStore

/// A store at the level `remote` that knows more than ``Storing`` asks for: whether an answer is
/// complete, and how to make a write durable before the server has it.
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

/// What a server answered to a read.
public struct RemoteAnswer<E: Entity>: Sendable {
  /// The entities, in the server's order.
  public var result: QueryResult<E>

  /// Whether the server has no more that match: what is not in a complete answer is not on the server.
  public var isComplete: Bool

  /// What is wrong with elements that were left out, of a `RemotePayload` that skips them.
  public var malformed: [any Error] = []

  /// What else is to be stored with the entities.
  package var included: [@Sendable (inout ModelTransaction, UInt64) throws -> Void] = []

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
/// Whoever queues it calls ``enqueue(_:)`` inside the transaction of the local write, then
/// ``committed()`` once. The answer is written to the local stores by the queue, in the transaction
/// that takes the request off it.
public protocol QueuedWrite<E>: Sendable {
  /// The type of the entities.
  associatedtype E: Entity

  /// Puts the request into the queue.
  ///
  /// - Parameter transaction: The transaction of the local write; it may run more than once.
  /// - Throws: Why it can't be queued; then the local write is not made either.
  func enqueue(_ transaction: inout ModelTransaction) throws

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

/// An error of a remote store that says what kind it is.
public protocol RemoteFailure: Error {
  /// What kind it is.
  var remoteFailureKind: RemoteFailureKind { get }
}

/// What kinds of failures of a remote store a manager tells apart.
public enum RemoteFailureKind: Sendable, Hashable {
  /// The server can't be reached: there is no answer.
  case connection
  /// The server says that there is no such thing (404).
  case notFound
  /// The server refuses, or its answer can't be used.
  case other
}
