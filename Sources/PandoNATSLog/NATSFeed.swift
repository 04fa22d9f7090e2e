#if NATS
  import PandoReplication
  import PandoSystem

  /// The pushed messages of a stream from a position on, in order and without a gap.
  ///
  /// The library's threads only queue messages. A thread of the feed subscribes. It subscribes
  /// again at the end of the queue after a gap, two seconds of silence, or a lost connection.
  final class NATSFeed: Sendable {
    struct State {
      /// Whether a caller has requested messages.
      var isWanted = false
      var isClosed = false
      /// Whether the thread runs.
      var isRunning = false
      /// The number of the wanted subscription, and of the present one.
      var generation: UInt64 = 0
      var subscribed: UInt64 = 0
      /// The next expected position.
      var next: UInt64 = 1
      /// The next expected message number within the subscription.
      var nextNumber: UInt64 = 1
      /// Messages not yet taken, from `head` on.
      var queue: [LoggedMessage] = []
      var head = 0
      var byteCount = 0
      /// The last position that the caller has processed, as far as known.
      var taken: UInt64 = 0
      /// The first available position after a gap at `next`; the messages between are removed.
      var gone: UInt64?
      /// The flow control request to answer when the queue has room.
      var question: (subject: String, connection: NATSConnection)?
      var lastHeard: Int64 = 0
      /// The time of the last message, or of the subscription.
      var lastCame: Int64 = 0
      /// The time of the last check for more messages.
      var lastLooked: Int64 = 0
      var retryAt: Int64 = 0
      /// The error of the last subscription.
      var trouble: String?
      var onEnd: (@Sendable (UInt64) -> Void)?
    }

    let link: NATSLink
    let state = Monitor(State())

    init(_ link: NATSLink) {
      self.link = link
      link.onChange { [weak self] in self?.subscribeAgain() }
    }

    /// Sets a closure to call with the position of each message.
    ///
    /// If no messages were requested, the feed starts at the end of the log.
    ///
    /// - Parameter onEnd: Receives the positions.
    func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) {
      let starts = state.withLock { state in
        state.onEnd = onEnd
        if !state.isWanted { state.move(to: State.atEnd) }
        return state.starts
      }
      state.notifyAll()
      if starts { startThread() }
    }

    /// Whether messages were requested.
    var isWanted: Bool { state.withLock(\.isWanted) }

    /// The number of subscriptions requested.
    var subscriptionCount: UInt64 { state.withLock(\.generation) }

    /// Notes the position of a message appended by this log, which needs no reading.
    func noteAppended(at position: UInt64) {
      let question = state.withLock { state -> (subject: String, connection: NATSConnection)? in
        guard position == state.taken + 1 else { return nil }
        state.taken = position
        state.drop(through: position)
        return state.questionIfRoom
      }
      if let question { question.connection.signal(question.subject) }
    }

    /// Ends the feed; no callback runs afterwards.
    func close() {
      state.withLock { state in
        state.isClosed = true
        state.onEnd = nil
        state.question = nil
      }
      state.notifyAll()
      let end = monotonicNanoseconds() + Self.closingWait
      _ = state.waiting(until: end) { $0.isRunning ? nil : () }
    }

    /// In nanoseconds: how long to wait for the thread, which the library may block.
    private static let closingWait: Int64 = 2_000_000_000
  }

  extension NATSFeed {
    /// Takes queued messages after a position.
    ///
    /// One thread at a time: a second one would drop the messages of the first.
    ///
    /// - Parameters:
    ///   - position: The position.
    ///   - limit: The maximum number of messages.
    ///   - end: An existing position to wait for; 0 for no wait.
    ///   - deadline: The end of the wait.
    /// - Returns: The messages; empty if none are queued and `end` is not after the position.
    /// - Throws: ``LogFault``.
    func take(
      after position: UInt64, limit: Int, until end: UInt64, deadline: Int64
    ) throws(LogFault) -> [LoggedMessage] {
      let (starts, moves) = state.withLock { state in
        state.taken = position
        let moves =
          !state.isWanted || state.next == State.atEnd || position + 1 < state.first
          || position >= state.next + Self.skippedMaximum
          || state.gone.map { position + 1 >= $0 } ?? false
        if moves { state.move(to: position + 1) }
        return (state.starts, moves)
      }
      if moves { state.notifyAll() }
      if starts { startThread() }
      let step: Step = state.waiting { (state: inout State, nanoseconds: inout Int64?) -> Step? in
        self.step(&state, &nanoseconds, position, limit, end, deadline)
      }
      if let question = step.question { question.connection.signal(question.subject) }
      return try step.answer.get()
    }

    private typealias Step = (
      answer: Result<[LoggedMessage], LogFault>,
      question: (subject: String, connection: NATSConnection)?
    )

    private func step(
      _ state: inout State, _ nanoseconds: inout Int64?, _ position: UInt64, _ limit: Int,
      _ end: UInt64, _ deadline: Int64
    ) -> Step? {
      if state.isClosed { return (.failure(.unavailable("the log is closed")), nil) }
      state.drop(through: position)
      if position + 1 < state.first {
        // Another thread has appended the requested messages.
        state.taken = position
        state.move(to: position + 1)
        self.state.notifyAll()
      }
      if state.head < state.queue.count {
        let messages = state.take(limit)
        state.taken = messages.last?.position ?? position
        return (.success(messages), state.questionIfRoom)
      }
      let question = state.questionIfRoom
      if let gone = state.gone { return (.failure(.gone(first: gone)), question) }
      if end <= position { return (.success([]), question) }
      let rest = deadline - monotonicNanoseconds()
      if rest <= 0 {
        let reason = state.trouble ?? "the messages after position \(position) do not arrive"
        return (.failure(.unavailable(reason)), question)
      }
      // The caller answers an open request before it waits.
      if let question { return (.success([]), question) }
      if state.subscribed == state.generation,
        monotonicNanoseconds() - state.lastCame > Self.idleMaximum
      {
        // The server may hold the consumer and lag behind; a new consumer may be on another server.
        state.subscribeAgain()
        self.state.notifyAll()
      }
      nanoseconds = min(rest, Self.idleMaximum)
      return nil
    }

    /// In nanoseconds: how long to wait for an existing message before a new subscription.
    private static let idleMaximum: Int64 = 1_000_000_000
    private static let skippedMaximum: UInt64 = 10_000
  }

  /// The calls of the library.
  extension NATSFeed {
    func receive(_ bytes: [UInt8], at position: UInt64, number: UInt64, _ generation: UInt64) {
      let onEnd = state.withLock { state -> (@Sendable (UInt64) -> Void)? in
        guard generation == state.generation, !state.isClosed, state.gone == nil else { return nil }
        state.lastHeard = monotonicNanoseconds()
        guard number == state.nextNumber, position >= state.next else {
          // A message was lost or repeated.
          state.subscribeAgain()
          return nil
        }
        // Messages that the caller has passed may be removed.
        guard position == state.next || position <= state.taken + 1 else {
          state.gone = position
          return state.onEnd
        }
        guard state.byteCount + bytes.count <= Self.byteCountMaximum else {
          state.subscribeAgain()
          return nil
        }
        state.nextNumber += 1
        state.next = position + 1
        state.lastCame = state.lastHeard
        if position > state.taken {
          state.queue.append(LoggedMessage(position: position, bytes: bytes))
          state.byteCount += bytes.count
        }
        return state.onEnd
      }
      state.notifyAll()
      onEnd?(position)
    }

    /// Notes a heartbeat.
    ///
    /// - Parameters:
    ///   - last: The number of the last message that the server has sent.
    ///   - generation: The number of the subscription.
    func beat(last: UInt64?, _ generation: UInt64) {
      let isBehind = state.withLock { state -> Bool in
        guard generation == state.generation else { return false }
        state.lastHeard = monotonicNanoseconds()
        guard let last, last >= state.nextNumber, state.gone == nil else { return false }
        state.subscribeAgain()
        return true
      }
      if isBehind { state.notifyAll() }
    }

    /// Whether the queue has room; otherwise keeps the request.
    func takesMore(
      _ generation: UInt64, orAnswerLater subject: String, on connection: NATSConnection
    ) -> Bool {
      state.withLock { state in
        guard generation == state.generation, !state.isClosed else { return false }
        if state.hasRoom { return true }
        state.question = (subject, connection)
        return false
      }
    }

    /// Requests a new subscription at once.
    func subscribeAgain() {
      state.withLock { state in
        state.subscribeAgain()
        state.retryAt = 0
      }
      state.notifyAll()
    }

    /// The limit of the queue, whatever the server sends.
    private static let byteCountMaximum = 256 << 20
  }

  extension NATSFeed.State {
    /// The position of the first queued message, or the next expected position.
    var first: UInt64 { head < queue.count ? queue[head].position : next }

    /// Whether to start the thread; `true` once.
    var starts: Bool {
      mutating get {
        defer { if isWanted, !isClosed { isRunning = true } }
        return isWanted && !isClosed && !isRunning
      }
    }

    var hasRoom: Bool { byteCount < Self.queuedByteCount && queue.count - head < Self.queuedCount }

    var questionIfRoom: (subject: String, connection: NATSConnection)? {
      mutating get { hasRoom ? exchange(&question, with: nil) : nil }
    }

    /// The value of `next` until the feed has read the end of the log.
    static var atEnd: UInt64 { 0 }

    /// Continues at another position.
    mutating func move(to position: UInt64) {
      subscribeAgain()
      isWanted = true
      next = position
      (queue, head, byteCount) = ([], 0, 0)
    }

    /// Continues at the end of the queue, with a new subscription.
    mutating func subscribeAgain() {
      generation += 1
      nextNumber = 1
      gone = nil
      question = nil
    }

    mutating func drop(through position: UInt64) {
      while head < queue.count, queue[head].position <= position {
        byteCount -= queue[head].bytes.count
        queue[head].bytes = []
        head += 1
      }
      if head == queue.count { (queue, head) = ([], 0) }
    }

    mutating func take(_ limit: Int) -> [LoggedMessage] {
      let count = min(limit, queue.count - head)
      let messages = Array(queue[head..<head + count])
      if let last = messages.last { drop(through: last.position) }
      if head >= Self.queuedCount {
        queue.removeFirst(head)
        head = 0
      }
      return messages
    }

    /// The size of the queue at which the feed stops answering flow control requests.
    private static let queuedByteCount = 16 << 20
    private static let queuedCount = 8192
  }

  /// The thread.
  extension NATSFeed {
    private enum Task {
      case end
      case subscribe(UInt64, at: UInt64)
      /// Checks whether the log has more messages.
      case look
    }

    func startThread() {
      PandoSystem.startThread(named: "pando.nats") { [self] in run() }
    }

    private func run() {
      var subscription: NATSSubscription?
      // Between the starts of two attempts.
      var pause = LogPause(100_000_000, upTo: 5_000_000_000)
      while true {
        let task = nextTask()
        if case .look = task {
          lookForMore()
          continue
        }
        subscription?.end()
        subscription = nil
        guard case .subscribe(let generation, let position) = task else { break }
        let started = monotonicNanoseconds()
        do {
          let first = try self.first(position)
          let stream = link.configuration.stream
          subscription = try link.call("no consumer of stream \(stream)") {
            [self] connection, milliseconds in
            try NATSSubscription.start(
              connection, self, generation, at: first, of: stream, milliseconds: milliseconds)
          }
          pause.reset()
        } catch {
          let reason =
            if case .unavailable(let reason)? = error as? LogFault { reason } else { "\(error)" }
          let next = pause.next()
          state.withLock { state in
            state.trouble = reason
            state.retryAt = started + next
          }
          continue
        }
        state.withLock { state in
          state.trouble = nil
          state.lastHeard = max(state.lastHeard, monotonicNanoseconds())
          state.lastCame = state.lastHeard
          state.subscribed = generation
        }
        state.notifyAll()
      }
      state.withLock { $0.isRunning = false }
      state.notifyAll()
    }

    /// Returns the position to subscribe from.
    private func first(_ position: UInt64) throws -> UInt64 {
      guard position == State.atEnd else { return position }
      let end = try link.end()
      let onEnd = state.withLock { state in
        if state.next == State.atEnd { state.next = end + 1 }
        return state.onEnd
      }
      // The store knew no position yet: report the end.
      if end > 0 { onEnd?(end) }
      return end + 1
    }

    private func nextTask() -> Task {
      state.waiting { (state: inout State, nanoseconds: inout Int64?) -> Task? in
        if state.isClosed { return .end }
        let now = monotonicNanoseconds()
        if state.retryAt > now {
          nanoseconds = state.retryAt - now
          return nil
        }
        if state.subscribed == state.generation {
          let rest = state.lastHeard + Self.silence - now
          if rest > 0 {
            let next = max(state.lastCame, state.lastLooked) + Self.lookInterval
            if state.onEnd == nil || next > now {
              nanoseconds = state.onEnd == nil ? rest : min(rest, next - now)
              return nil
            }
            state.lastLooked = now
            return .look
          }
          state.subscribeAgain()
        }
        return .subscribe(state.generation, at: state.next)
      }
    }

    /// Reports the end if no message has announced it; the caller's next read fetches the rest.
    private func lookForMore() {
      guard let last = try? link.end() else { return }
      let onEnd = state.withLock { $0.next <= last ? $0.onEnd : nil }
      onEnd?(last)
    }

    /// In nanoseconds, between two checks without messages.
    private static let lookInterval: Int64 = 5_000_000_000
    /// In nanoseconds: the maximum time without a heartbeat.
    private static let silence: Int64 = 2_000_000_000
  }
#endif
