import FoundationEssentials
import PandoModels
import PandoSystem

extension APIClientQueue {
  /// Sends a request when its turn comes, and waits for the answer.
  ///
  /// A read is neither stored nor sent again, and shares the request of an equal read. A request that changes data is
  /// durably queued first.
  ///
  /// - Parameter request: The request.
  /// - Returns: An answer with success.
  /// - Throws: ``APIError``; `CancellationError` if the task was cancelled. A request that changes data stays queued.
  public func send(_ request: APIRequest) async throws -> APIResponse {
    if request.method.isReading {
      return try await read(
        request, request.configuration.strategy == .concurrent ? .nothing : .unknown)
    }
    return try await enqueue(request).confirmation()
  }

  /// Queues a request that changes data, in a transaction of its own.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - subjects: The model identifiers of the entities that it changes.
  ///   - handler: The name of the handler of its answer.
  /// - Returns: The ticket, once the request is durably queued.
  /// - Throws: ``APIError`` `closed` or `invalidRequest`; errors of the disk.
  @discardableResult
  public func enqueue(
    _ request: APIRequest, subjects: [String] = [], handler: String? = nil
  ) async throws -> QueueTicket {
    let ticket = ticket(for: request, subjects: subjects, handler: handler)
    try await append(ticket)
    ticket.committed()
    return ticket
  }

  /// Makes the ticket of a request that is queued in the transaction of a local write.
  ///
  /// - Parameters:
  ///   - request: A request that changes data.
  ///   - subjects: The model identifiers of the entities that it changes.
  ///   - makes: Those of them that it creates, and that have a local identifier until then.
  ///   - related: Those of other entities that it names; it stays in order with requests that change them.
  ///   - handler: The name of the handler of its answer.
  ///   - note: Data for the handler.
  /// - Returns: The ticket; it has queued nothing yet.
  public func ticket(
    for request: APIRequest, subjects: [String] = [], makes: [String] = [],
    related: [String] = [], handler: String? = nil, note: String? = nil
  ) -> QueueTicket {
    let token = UUID().uuidString.lowercased()
    let draft = QueueDraft(
      token: token, client: client.identifier, request: request, subjects: subjects,
      makes: makes, related: related.isEmpty ? nil : related, handler: handler, note: note,
      date: Date())
    let ticket = QueueTicket(draft, queue: self)
    state.withLock { state in
      state.tickets[token] = WeakReference(ticket)
      guard state.tickets.count > 2 * state.ticketCountAtSweep else { return }
      state.tickets = state.tickets.filter { $0.value.object != nil }
      state.ticketCountAtSweep = max(64, state.tickets.count)
    }
    return ticket
  }

  /// Notes that a request is durably queued, and ends the tickets of those that it has replaced.
  func committed(_ number: UInt64?, aborting tokens: [String]) {
    if let number, store != nil { state.withLock { $0.committed.append(number) } }
    for token in tokens {
      finish(token, .failure(.replaced(ticketRequest(token))))
    }
    wake()
  }

  private func ticketRequest(_ token: String) -> String {
    state.withLock { $0.tickets[token]?.object?.request.description ?? "a queued request" }
  }

  /// Ends the ticket of a durable request.
  func finish(_ token: String, _ result: Result<APIResponse, APIError>) {
    state.withLock { $0.tickets.removeValue(forKey: token)?.object }?.finish(result)
  }

  /// The number of callers that wait for reads.
  package var readerCount: Int {
    state.withLock { state in state.reads.values.reduce(0) { $0 + $1.waiters.count } }
  }

  /// Adds a read to the queue, and waits for the answer.
  func read(_ request: APIRequest, _ scope: ReadScope) async throws -> APIResponse {
    let waiter = state.withLock { state in
      state.readCount += 1
      return state.readCount
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        do {
          let limit = try storage.nextNumber
          let refusal = state.withLock { state in
            state.add(request, scope, limit: limit, waiter, continuation)
          }
          if let refusal { continuation.resume(throwing: refusal) } else { wake() }
        } catch {
          continuation.resume(throwing: error)
        }
      }
    } onCancel: {
      let (continuation, task) = state.withLock { $0.cancel(waiter) }
      continuation?.resume(throwing: CancellationError())
      task?.cancel()
    }
  }
}

extension APIClientQueue.State {
  /// Adds a waiter to an equal read, or adds a read; returns an error if it can't.
  fileprivate mutating func add(
    _ request: APIRequest, _ scope: ReadScope, limit: UInt64, _ waiter: UInt64,
    _ continuation: CheckedContinuation<APIResponse, any Error>
  ) -> (any Error)? {
    if isClosed { return APIError(.closed, request, "the queue was closed") }
    if cancelledWaiters.remove(waiter) != nil { return CancellationError() }
    // Equal reads are sent once, unless a request that changes data was queued between them.
    if request.configuration.sharesEqualRequests,
      let equal = reads.first(where: {
        $0.value.limit == limit && $0.value.request == request && $0.value.scope == scope
      })
    {
      reads[equal.key]?.waiters[waiter] = continuation
      return nil
    }
    reads[waiter] = ReadRequest(
      request: request, scope: scope, limit: limit, waiters: [waiter: continuation])
    return nil
  }

  /// Removes a waiter; a read ends with its last one.
  fileprivate mutating func cancel(
    _ waiter: UInt64
  ) -> (CheckedContinuation<APIResponse, any Error>?, Task<Void, Never>?) {
    for (key, read) in reads where read.waiters[waiter] != nil {
      let continuation = reads[key]?.waiters.removeValue(forKey: waiter)
      guard reads[key]?.waiters.isEmpty == true else { return (continuation, nil) }
      lanes.finish(RequestLanes.firstRead | key)
      return (continuation, reads.removeValue(forKey: key)?.task)
    }
    if !isClosed { cancelledWaiters.insert(waiter) }
    return (nil, nil)
  }
}
