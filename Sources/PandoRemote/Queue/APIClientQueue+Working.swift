import PandoManagers
import PandoModels
import PandoStore
import PandoSystem

/// The work of a queue, which one task does step by step.
extension APIClientQueue {
  /// Stores answers and sends requests, until there is nothing more to do now.
  func work(_ reasons: QueueSignal.Reasons) async {
    state.withLock { state in
      state.isWorking = true
      // The queue tries again after the pause, or at once on a new request or `flush`. A new request does
      // not shorten a pause that the server has asked for.
      if !reasons.isDisjoint(with: [.timer, .flush]) || state.pauseError == nil {
        if !reasons.isDisjoint(with: [.request, .timer, .flush]) { state.resume() }
      }
      if reasons.contains(.flush) { state.flush() }
    }
    if !reasons.isDisjoint(with: [.request, .timer, .flush]) { forgetDroppedTickets() }
    do {
      while !Task.isCancelled, try await advance() {}
    } catch is CancellationError {
      // The queue is closed; requests on their way stay marked.
    } catch {
      configuration.onEvent?(.storeFailed(error))
      let waiting = state.withLock { state in
        state.forgetLanes()
        return state.reads.filter { $0.value.task == nil }.map(\.key)
      }
      endReads(waiting, with: error)
      pause(for: configuration.retryInterval)
    }
    state.withLock { $0.isWorking = false }
  }

  /// Does one step; returns whether there was something to do.
  private func advance() async throws -> Bool {
    try takeIn()
    startReads()
    endStalledReads()
    let outcomes = state.withLock { $0.outcomes }
    var answers: [QueueAnswer] = []
    for outcome in outcomes {
      if let answer = try await answer(of: outcome) { answers.append(answer) }
    }
    let (numbers, generation) = state.withLock { state in
      // Requests behind one that creates an entity wait until its new identifier is stored.
      for answer in answers where answer.entry.makes.isEmpty {
        state.finish(answer.entry.id)
      }
      return (state.takeNumbers(upTo: client.laneCountMaximum), state.generation)
    }
    guard !answers.isEmpty || !numbers.isEmpty else { return !outcomes.isEmpty }
    for _ in answers { await configuration.onStep?(.answered) }
    let progress = try await progress(answers, marking: numbers)
    state.withLock { state in
      let answered = Set(answers.map(\.entry.id))
      state.outcomes.removeAll { answered.contains($0.entry.id) }
      for alias in progress.aliases { state.lanes.rename(alias.old, to: alias.new) }
      for number in answered { state.finish(number) }
      let marked = Set(progress.marked.map(\.id))
      for number in numbers where !marked.contains(number) { state.finish(number) }
      if !answers.isEmpty { state.serverAnswered() }
    }
    let marked = Set(progress.marked.map(\.id))
    for number in numbers where !marked.contains(number) { tellDropped(number) }
    for (place, answer) in answers.enumerated() {
      await configuration.onStep?(.acknowledged)
      tell(answer, progress.failures[place])
    }
    for entry in progress.marked { try await send(entry, generation) }
    return true
  }

  /// Stores answers, and marks requests as on their way.
  private func progress(
    _ answers: [QueueAnswer], marking numbers: [UInt64]
  ) async throws -> QueueProgress {
    let marked = state.withLock { state in
      numbers.compactMap { state.markedBefore.removeValue(forKey: $0) }
    }
    if answers.isEmpty, marked.count == numbers.count { return QueueProgress(marked: marked) }
    let handlers = state.withLock { $0.handlers }
    return try await storage.advance(answers, marking: numbers, by: handlers)
  }

  /// Adds new requests to the lanes.
  private func takeIn() throws {
    let (first, generation) = state.withLock { ($0.firstUnknown, $0.generation) }
    let next = try storage.nextNumber
    if next > first {
      var last = next
      var found: [(id: UInt64, claims: [LaneClaim], namespaces: [String], hasUndo: Bool)] = []
      var marked: [QueuedRequest] = []
      var queuedAt: [UInt64: Duration] = [:]
      let age = age()
      try storage.forEachWaiting(from: first, of: client.identifier) { entry in
        found.append((entry.id, entry.claims, entry.namespaces, entry.undo != nil))
        if entry.state == .inFlight { marked.append(entry) }
        if entry.request.configuration.retryPolicy.secondsMaximum != nil {
          queuedAt[entry.id] = age - .seconds(entry.secondsWaited)
        }
        last = max(last, entry.id + 1)
      }
      state.withLock { state in
        // `forgetAll()` may have removed the requests meanwhile.
        guard state.generation == generation else { return }
        for (id, claims, namespaces, hasUndo) in found {
          let isTaken = state.isTaken(id)
          state.lanes.add(
            id, order: 2 * id, claims, types: namespaces, hasUndo: hasUndo, isTaken: isTaken)
        }
        for entry in marked { state.markedBefore[entry.id] = entry }
        // A request that was in the lanes before keeps its time.
        state.queuedAt.merge(queuedAt) { known, _ in known }
        state.firstUnknown = last
      }
      if !found.isEmpty { tellStalled() }
    }
    tellTakenAway()
    state.withLock { state in
      let new = state.reads.filter {
        !$0.value.isQueued && $0.value.limit <= state.firstUnknown
      }.keys.ordered()
      for key in new {
        guard let read = state.reads[key] else { continue }
        state.reads[key]?.isQueued = true
        state.lanes.add(
          RequestLanes.firstRead | key, order: read.order, read.claims, isTaken: read.task != nil)
      }
    }
  }

  /// Sends a request that is marked as in flight.
  private func send(_ entry: QueuedRequest, _ generation: Int) async throws {
    if let local = entry.unknownIdentifiers.first {
      let error = APIError(
        .localIdentifier, entry.request,
        "the server does not know \(local): the request that would have made it known was refused "
          + "or dropped, or there was none")
      try await fail(entry, with: error)
      return
    }
    await configuration.onStep?(.marked)
    configuration.onEvent?(.sending(entry))
    var request = entry.request
    if let header = configuration.idempotencyHeader, request.headers[header] == nil {
      request.headers[header] = entry.token
    }
    state.withLock { state in
      guard !state.isClosed, state.generation == generation else { return }
      state.sending[entry.id] = Task.detached { [runner, signal, request, weak self] in
        let result: Result<APIResponse, APIError>
        do throws(APIError) {
          result = .success(try await runner.attempt(request))
        } catch {
          result = .failure(error)
        }
        guard !Task.isCancelled else { return }
        self?.state.withLock { $0.outcomes.append(SentRequest(entry, result)) }
        signal.set(.progress)
      }
    }
  }

  /// Returns the answer to a request; if that has failed, puts it back or ends it, and returns `nil`.
  private func answer(of outcome: SentRequest) async throws -> QueueAnswer? {
    let entry = outcome.entry
    state.withLock { $0.sending[entry.id] = nil }
    switch outcome.result {
    case .success(var response):
      response.commitNumber = entry.commitNumber
      let handler = entry.handler.flatMap { name in state.withLock { $0.handlers[name] } }
      let later = state.withLock { state in
        LaterRequests(
          numbers: state.lanes.nextNumbers(
            after: entry.id, at: entry.subjects + (entry.inside ?? []),
            keepsAnswer: entry.undo != nil || entry.isServerOnly),
          firstUnknown: state.firstUnknown)
      }
      return QueueAnswer(entry, response, handler, later: later)
    case .failure(let error) where entry.request.method == .delete && error.code == .notFound:
      // The entity is gone, as requested; perhaps an earlier attempt has removed it.
      return QueueAnswer(entry, APIResponse(status: error.status ?? 404))
    case .failure(let error):
      let policy = entry.request.configuration.retryPolicy
      let seconds = secondsWaited(entry)
      if policy.allows(error, afterAttempts: entry.attemptCount, afterSeconds: seconds) {
        try await putBack(entry, after: error, secondsWaited: seconds)
      } else {
        await configuration.onStep?(.answered)
        try await fail(entry, with: error)
        if !error.isConnectionFailure { state.withLock { $0.serverAnswered() } }
      }
      return nil
    }
  }

  /// The time of a request in the queue, without time in which no process sent; 0 if its policy has no limit.
  private func secondsWaited(_ entry: QueuedRequest) -> Double {
    guard let start = state.withLock({ $0.queuedAt[entry.id] }) else { return entry.secondsWaited }
    return (age() - start) / .seconds(1)
  }

  /// Ends the ticket of an answered request, with an error if the answer could not be stored.
  private func tell(_ answer: QueueAnswer, _ failure: (any Error)?) {
    let entry = answer.entry
    if let failure {
      let error =
        failure as? APIError
        ?? APIError(
          .malformedAnswer, entry.request, "the answer could not be stored",
          status: answer.response.status, underlying: failure)
      configuration.onEvent?(.failed(entry, error))
      finish(entry.token, .failure(error))
      return
    }
    if entry.handler != nil, answer.handler == nil, store != nil {
      configuration.onEvent?(.unhandled(entry))
    }
    configuration.onEvent?(.confirmed(entry))
    finish(entry.token, .success(answer.response))
  }

  private func fail(_ entry: QueuedRequest, with error: APIError) async throws {
    let later = state.withLock { state in
      error.meansUndone
        ? LaterRequests(
          numbers: state.lanes.numbers(
            after: entry.id, at: entry.subjects + (entry.related ?? [])),
          firstUnknown: state.firstUnknown) : nil
    }
    let kept = try await storage.fail(entry, failure: "\(error)", undoing: later)
    state.withLock { state in
      state.outcomes.removeAll { $0.entry.id == entry.id }
      state.finish(entry.id)
    }
    await configuration.onStep?(.acknowledged)
    configuration.onEvent?(.failed(kept ?? entry, error))
    finish(entry.token, .failure(error))
  }

  /// Puts a request back to the front; its caller waits on, and reads behind it fail.
  private func putBack(
    _ entry: QueuedRequest, after error: APIError, secondsWaited: Double
  ) async throws {
    try await storage.putBack(entry.id, failure: "\(error)", secondsWaited: secondsWaited)
    configuration.onEvent?(.putBack(entry, error))
    let duration = configuration.pause(after: error, attemptCount: entry.attemptCount)
    let (isOut, isAgain) = state.withLock { state in
      state.outcomes.removeAll { $0.entry.id == entry.id }
      state.failureCount += 1
      let isOut =
        error.isConnectionFailure || state.failureCount >= configuration.circuitFailureCount
      return (isOut, state.flushed.remove(entry.id) != nil)
    }
    if isAgain {
      state.withLock { $0.lanes.putBack(entry.id) }
      return
    }
    guard isOut else {
      return hold(entry, error, for: duration)
    }
    state.withLock { state in
      state.lanes.putBack(entry.id)
      state.isProbing = true
      state.pauseError = error.isConnectionFailure ? nil : error
    }
    if state.withLock({ !$0.isPaused }) { pause(for: duration) }
    // A request that came during the attempt does not end the pause. One that comes after the reads have failed does.
    signal.forget(.request)
    endReads(state.withLock { $0.reads.filter { $0.value.task == nil }.map(\.key) }, with: error)
    let tickets = state.withLock { $0.tickets.values.compactMap(\.object) }
    for ticket in tickets where ticket.committedNumber != nil { ticket.noteOutOfReach() }
  }

  /// Delays one request and those behind it: reads fail, and tickets note that the server is out of reach.
  private func hold(_ entry: QueuedRequest, _ error: APIError, for duration: Duration) {
    let clock = configuration.clock
    state.withLock { state in
      let timer = Task.detached { [signal, weak self] in
        guard (try? await clock.sleep(for: duration)) != nil else { return }
        self?.state.withLock { $0.release(entry.id) }
        signal.set(.progress)
      }
      state.held[entry.id] = HeldRequest(error: error, timer: timer)
      if state.isClosed { timer.cancel() }
    }
    tellStalled()
    endStalledReads()
  }

  /// Notes in the tickets of requests that wait for a busy server that the server is out of reach.
  private func tellStalled() {
    let (stalled, tickets): (Set<UInt64>?, [QueueTicket]) = state.withLock { state in
      guard !state.held.isEmpty || state.pauseError != nil else { return ([], []) }
      let isAll = state.pauseError != nil
      return (
        isAll ? nil : state.lanes.stalled(by: Array(state.held.keys)),
        state.tickets.values.compactMap(\.object)
      )
    }
    for ticket in tickets {
      guard let number = ticket.committedNumber, stalled?.contains(number) != false else {
        continue
      }
      ticket.noteOutOfReach()
    }
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

  /// Ends the tickets of new requests that another process has already removed from the queue.
  private func tellTakenAway() {
    let gone = state.withLock { state in
      let known = state.committed.filter { $0 < state.firstUnknown }
      state.committed.removeAll { $0 < state.firstUnknown }
      return known.filter { !state.lanes.contains($0) }
    }
    for number in gone { tellDropped(number) }
  }

  /// Returns why a request is no longer in the queue.
  private func takenAway(_ number: UInt64, _ draft: QueueDraft) -> APIError {
    let request = draft.request
    // The request that has replaced it may not have ended its ticket yet.
    if let key = request.configuration.uniquingKey,
      let later = try? storage.number(withKey: key, of: draft.client), later > number
    {
      return .replaced("\(request)")
    }
    if (try? storage.wasDropped(number)) == true {
      return APIError(.dropped, request, "it was dropped from the queue")
    }
    return APIError(
      .answeredElsewhere, request,
      "another process has taken it off the queue, with the answer to it")
  }

  /// Ends the ticket of a request that is no longer in the queue.
  private func tellDropped(_ number: UInt64) {
    let tickets = state.withLock { $0.tickets.values.compactMap(\.object) }
    for ticket in tickets where ticket.committedNumber == number {
      finish(
        ticket.draft.token,
        .failure(takenAway(number, ticket.draft)))
    }
  }

  /// After failures, ends the tickets of requests that another process has removed from the queue.
  private func forgetDroppedTickets() {
    let tickets = state.withLock { state in
      state.isPaused || state.failureCount > 0
        ? state.tickets.values.compactMap(\.object) : []
    }
    for ticket in tickets {
      guard let number = ticket.committedNumber, (try? storage.contains(number)) == false else {
        continue
      }
      finish(
        ticket.draft.token,
        .failure(takenAway(number, ticket.draft)))
    }
  }
}

extension APIClientQueue.State {
  /// Takes the numbers of the requests to send now.
  fileprivate mutating func takeNumbers(upTo limit: Int) -> [UInt64] {
    var numbers: [UInt64] = []
    guard !isPaused else { return [] }
    while sending.count + numbers.count < (isProbing ? 1 : max(1, limit)), let number = lanes.take()
    {
      numbers.append(number)
    }
    return numbers
  }

  /// Ends the pause, because the server has answered.
  mutating func serverAnswered() {
    failureCount = 0
    isProbing = false
    resume()
  }

  fileprivate mutating func resume() {
    isPaused = false
    pauseError = nil
    pauseTimer?.cancel()
    pauseTimer = nil
  }

  fileprivate mutating func flush() {
    isProbing = false
    flushed = Set(sending.keys)
    for number in held.keys { release(number) }
  }

  /// Ends the delay of a request.
  fileprivate mutating func release(_ number: UInt64) {
    guard let request = held.removeValue(forKey: number) else { return }
    request.timer.cancel()
    lanes.putBack(number)
  }

  /// Whether a request is in flight, delayed, or has a result that is not stored: it keeps its turn.
  fileprivate func isTaken(_ number: UInt64) -> Bool {
    sending[number] != nil || held[number] != nil || outcomes.contains { $0.entry.id == number }
  }

  /// Empties the lanes, so that the worker adds all stored requests again.
  mutating func forgetLanes() {
    lanes = RequestLanes()
    firstUnknown = 0
    markedBefore = [:]
    for key in reads.keys { reads[key]?.isQueued = false }
  }
}

extension APIError {
  /// The error of a request that a later one has replaced.
  static func replaced(_ request: String) -> APIError {
    APIError(.aborted, request, "a later request with the same key took its place")
  }

  /// The same failure, for a request that waited behind the one that failed.
  func telling(_ request: APIRequest) -> APIError {
    APIError(
      code, request, "was not sent, because the one before it failed", status: status,
      underlying: self)
  }
}
