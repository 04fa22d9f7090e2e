import FoundationEssentials
import PandoModels
public import PandoStore
import PandoSystem

/// A request in a queue, from the transaction that makes it durable to its answer.
///
/// ```swift
/// let ticket = queue.ticket(for: request)
/// try await store.write { transaction in
///   try transaction.set(book)
///   try ticket.enqueue(in: &transaction)
/// }
/// ticket.committed()  // durably queued
/// let answer = try await ticket.confirmation()  // confirmed by the server
/// ```
///
/// - Note: Any thread.
public final class QueueTicket: Sendable {
  private struct State {
    var number: UInt64?
    var isCommitted = false
    var aborted: [String] = []
    var result: Result<APIResponse, APIError>?
    var waiters = Waiters<APIResponse>()
    /// The waiters that end if the server is out of reach.
    var impatient: Set<UInt64> = []
    var isOutOfReach = false
  }

  let draft: QueueDraft
  private let queue: APIClientQueue
  private let state = Locked(State())

  init(_ draft: QueueDraft, queue: APIClientQueue) {
    self.draft = draft
    self.queue = queue
  }

  /// The request.
  public var request: APIRequest { draft.request }

  /// Its number in the queue; `nil` before it is queued.
  public var number: UInt64? { state.withLock { $0.number } }

  /// Its number, once the transaction that has queued it is committed.
  var committedNumber: UInt64? { state.withLock { $0.isCommitted ? $0.number : nil } }

  /// The tokens of the requests that it has replaced, until ``committed()``.
  var replaced: [String] { state.withLock { $0.aborted } }

  /// Puts the request at the end of the queue.
  ///
  /// - Parameter transaction: The transaction of the local write, after all its changes; it may run
  ///   more than once. It must be one of the queue's store; the queue does not check that.
  /// - Throws: ``APIError`` `invalidRequest` if the request can't be sent, or if two entities in it have the same local
  ///   key; errors of the disk. The local write must then be rolled back, too.
  public func enqueue(in transaction: inout ModelTransaction) throws {
    try enqueue(in: &transaction, commitNumber: nil)
  }

  func enqueue(
    in transaction: inout ModelTransaction, commitNumber: CommitNumber?, undo: QueuedUndo? = nil,
    changing inside: [String] = [], isNotStored: Bool = false, sent: Data? = nil
  ) throws {
    var draft = draft
    if isNotStored, var note = AnswerNote(draft.note) {
      note.isNotStored = true
      draft.note = try note.text
    }
    draft.undo = try undo?.bytes
    draft.sent = sent
    if !inside.isEmpty { draft.inside = inside }
    // It stays in order with requests for all nodes that it has changed.
    if let others = try undo?.related, !others.isEmpty {
      draft.related = ((draft.related ?? []) + others).map { ByteString($0) }.unique.map(\.text)
    }
    appended(
      try QueueTable.append(
        draft, isIdle: queue.isIdle, commitNumber: commitNumber, to: QueueRows(transaction)))
  }

  /// Notes that the transaction is committed: the queue may send the request.
  public func committed() {
    let (number, aborted) = state.withLock { state in
      state.isCommitted = true
      defer { state.aborted = [] }
      return (state.number, state.aborted)
    }
    queue.committed(number, aborting: aborted)
    if queue.isClosed {
      finish(.failure(APIError(.closed, request, "the queue was closed; the next run sends it")))
    }
  }

  func appended(_ append: QueueAppend) {
    state.withLock { state in
      state.number = append.number
      state.aborted = append.aborted
    }
  }

  /// Waits for the server's answer.
  ///
  /// A cancelled task stops waiting; the request stays in the queue.
  ///
  /// - Returns: The answer, once it is stored and the request is removed from the queue.
  /// - Throws: ``APIError``: the refusal of the server; `aborted` if a later request has replaced it; `dropped`;
  ///   `answeredElsewhere` if another process sends for the store, too; `closed` if the queue was closed before (the
  ///   request stays in the store).
  public func confirmation() async throws -> APIResponse { try await wait(isImpatient: false) }

  /// Waits for the server's answer as long as the server can be reached.
  ///
  /// - Returns: The answer; `nil` if the server is out of reach and the request continues to wait.
  /// - Throws: As ``confirmation()``.
  public func firstOutcome() async throws -> APIResponse? {
    do {
      return try await wait(isImpatient: true)
    } catch is OutOfReach {
      return nil
    }
  }

  private struct OutOfReach: Error {}

  private func wait(isImpatient: Bool) async throws -> APIResponse {
    try await state.wait(in: \.waiters) { state, number in
      if let result = state.result { return result.mapError { $0 } }
      guard isImpatient, !Task.isCancelled else { return nil }
      if state.isOutOfReach { return .failure(OutOfReach()) }
      state.impatient.insert(number)
      return nil
    }
  }

  /// Notes that the server was out of reach when the turn of this request, or of one before it, came.
  func noteOutOfReach() {
    let impatient = state.withLock { state in
      state.isOutOfReach = true
      defer { state.impatient = [] }
      return state.impatient.compactMap { state.waiters.take($0) }
    }
    for continuation in impatient { continuation.resume(throwing: OutOfReach()) }
  }

  /// Sets the result, unless there is one already, and resumes the waiters.
  func finish(_ result: Result<APIResponse, APIError>) {
    let waiters = state.withLock { state in
      if state.result == nil { state.result = result }
      return state.waiters.takeAll()
    }
    for waiter in waiters { waiter.resume(with: result) }
  }
}
