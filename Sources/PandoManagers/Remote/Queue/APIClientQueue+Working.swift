import PandoSystem
import PandoModels

/// The work of a queue; one task does it, so that one thing happens after another.
extension APIClientQueue {
  /// Sends what may be sent now.
  func work(_ reasons: QueueSignal.Reasons) async {
    let isPaused = state.withLock { state in
      state.isWorking = true
      // Statement 24: again after the pause, or at once on a new request or `flush`.
      if !reasons.isDisjoint(with: [.request, .timer, .flush]) { state.isPaused = false }
      return state.isPaused
    }
    if !reasons.isDisjoint(with: [.request, .timer, .flush]) { forgetDroppedTickets() }
    do {
      try await advance(isPaused: isPaused)
    } catch is CancellationError {
      // The queue is closed; what was on its way stays marked.
    } catch {
      configuration.onEvent?(.storeFailed(error))
      failWaitingReads(with: error)
      pause(for: configuration.retryInterval)
    }
    state.withLock { $0.isWorking = false }
  }

  private func advance(isPaused: Bool) async throws {
    if let (entry, response) = state.withLock({ $0.unstored }) {
      try await acknowledge(entry, response)
    }
    while !Task.isCancelled {
      let head = try storage.head(of: client.identifier)
      startReads(before: head?.id)
      guard let head, !isPaused, !hasReads(before: head.id) else { return }
      guard try await send(head) else { return }
    }
  }

  /// Sends the durable request whose turn it is.
  ///
  /// - Returns: Whether the next one may be sent.
  @_optimize(size)
  private func send(_ head: QueuedRequest) async throws -> Bool {
    if let local = head.unknownIdentifiers.first {
      let error = APIError(
        .localIdentifier, head.request,
        "the server does not know \(local): the request that would have made it known was refused "
          + "or dropped")
      try await fail(head, with: error)
      return true
    }
    var entry = head
    if head.state != .inFlight {
      guard let marked = try await storage.markInFlight(head.id) else { return true }
      entry = marked
    }
    await configuration.onStep?(.marked)
    configuration.onEvent?(.sending(entry))
    var request = entry.request
    if let header = configuration.idempotencyHeader, request.headers[header] == nil {
      request.headers[header] = entry.token
    }
    do {
      let response = try await runner.answer(to: request)
      try await acknowledge(entry, response)
    } catch let error as APIError {
      if request.method == .delete, error.code == .notFound {
        // It is gone, which is what was asked for; perhaps an earlier attempt did it.
        try await acknowledge(entry, APIResponse(status: error.status ?? 404))
        return true
      }
      guard entry.request.configuration.retryPolicy.allows(error, afterAttempts: entry.attemptCount)
      else {
        try await fail(entry, with: error)
        return true
      }
      try await putBack(entry, after: error)
      return false
    }
    return true
  }

  /// Stores that a request was answered, with what the answer says.
  private func acknowledge(_ entry: QueuedRequest, _ answer: APIResponse) async throws {
    await configuration.onStep?(.answered)
    var response = answer
    response.commitNumber = entry.commitNumber
    let (handler, limit) = state.withLock { state in
      // Until the disk has it, the answer is kept: the request must not be sent again.
      state.unstored = (entry, answer)
      let limit = state.reads.values.map { $0.limit - 1 }.min() ?? .max
      return (entry.handler.flatMap { state.handlers[$0] }, limit)
    }
    let outcome = try await storage.acknowledge(
      entry, response, handler: handler, nextUpTo: limit)
    state.withLock { state in
      state.unstored = nil
      state.failureCount = 0
    }
    await configuration.onStep?(.acknowledged)
    if let failure = outcome.failure {
      let error =
        failure as? APIError
        ?? APIError(
          .malformedAnswer, entry.request, "the answer could not be stored", status: answer.status,
          underlying: failure)
      configuration.onEvent?(.failed(entry, error))
      finish(entry.token, .failure(error))
      return
    }
    if entry.handler != nil, handler == nil, store != nil {
      configuration.onEvent?(.unhandled(entry))
    }
    configuration.onEvent?(.confirmed(entry))
    finish(entry.token, .success(response))
  }

  private func fail(_ entry: QueuedRequest, with error: APIError) async throws {
    try await storage.fail(entry.id, token: entry.token, failure: "\(error)")
    state.withLock { $0.failureCount = 0 }
    configuration.onEvent?(.failed(entry, error))
    finish(entry.token, .failure(error))
  }

  /// Statement 24: the request goes back to the front without a word to its caller; what only reads
  /// and waits behind it fails.
  private func putBack(_ entry: QueuedRequest, after error: APIError) async throws {
    try await storage.putBack(entry.id, failure: "\(error)")
    configuration.onEvent?(.putBack(entry, error))
    let failureCount = state.withLock { state in
      state.failureCount += 1
      return state.failureCount
    }
    pause(for: configuration.pause(after: error, failureCount: failureCount))
    // Who came while the attempt was under way has seen it fail. Before the reads are told: one that
    // comes after that must be heard.
    signal.forget(.request)
    failWaitingReads(with: error)
    let tickets = state.withLock { $0.tickets.values.compactMap(\.ticket) }
    for ticket in tickets where ticket.committedNumber != nil { ticket.noteOutOfReach() }
  }

  private func pause(for duration: Duration) {
    let clock = configuration.clock
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isPaused = true
      state.pauseTimer?.cancel()
      state.pauseTimer = Task.detached { [signal] in
        guard (try? await clock.sleep(for: duration)) != nil else { return }
        signal.set(.timer)
      }
    }
  }

  /// Sends the waiting reads that no durable request is before.
  private func startReads(before head: UInt64?) {
    state.withLock { state in
      for (key, read) in state.reads where read.task == nil && read.limit <= head ?? .max {
        state.reads[key]?.task = Task.detached { [runner, storage, signal, weak self] in
          let result: Result<APIResponse, any Error>
          do {
            let commitNumber = try storage.commitNumber
            var response = try await runner.answer(to: read.request)
            response.commitNumber = commitNumber
            result = .success(response)
          } catch {
            result = .failure(error)
          }
          let ended = self?.state.withLock { $0.reads.removeValue(forKey: key) }
          for continuation in ended?.waiters.values.map({ $0 }) ?? [] {
            continuation.resume(with: result)
          }
          signal.set(.progress)
        }
      }
    }
  }

  private func hasReads(before head: UInt64) -> Bool {
    state.withLock { state in state.reads.values.contains { $0.limit <= head } }
  }

  private func failWaitingReads(with error: any Error) {
    let waiting = state.withLock { state in
      let waiting = state.reads.filter { $0.value.task == nil }
      for key in waiting.keys { state.reads[key] = nil }
      return waiting
    }
    for read in waiting.values {
      let failure = (error as? APIError).map { $0.telling(read.request) } ?? error
      read.end(with: .failure(failure))
    }
  }

  /// Tells callers whose requests another process has dropped.
  private func forgetDroppedTickets() {
    let tickets = state.withLock { state in
      state.isPaused || state.failureCount > 0
        ? state.tickets.values.compactMap(\.ticket) : []
    }
    for ticket in tickets {
      guard let number = ticket.committedNumber, (try? storage.contains(number)) == false else {
        continue
      }
      finish(
        ticket.draft.token,
        .failure(APIError(.dropped, ticket.request, "it was dropped from the queue")))
    }
  }
}

extension APIError {
  /// The same failure, of a request that waited behind the one that failed.
  func telling(_ request: APIRequest) -> APIError {
    APIError(
      code, request, "was not sent, because the one before it failed", status: status,
      underlying: self)
  }
}
