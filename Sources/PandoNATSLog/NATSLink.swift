#if NATS
  import CPandoNATS
  import PandoReplication
  import PandoSystem

  /// The connection of a log; it connects again after a loss.
  ///
  /// All waits for the library use a monotonic clock.
  final class NATSLink: LogLink, NATSConnectionOwner {
    struct State: LogConnections {
      var connection: NATSConnection?
      var isClosed = false
      /// The start of the running connection attempt, if any, and its number.
      var attemptStart: Int64?
      var attemptNumber = 0
      /// The earliest time of the next attempt.
      var nextAttempt: Int64 = 0
      /// In nanoseconds: how long an attempt may take before another one starts beside it.
      let attemptWait: Int64
      var trouble: LogFailure?
      /// The last error text of a server.
      var complaint: String?
      /// The last server that was lost.
      var lostServer: String?
      /// The last operation that the server did not permit.
      var refusal: String?
      var refusalCount = 0
      var wasAway = false
      var onChange: (@Sendable () -> Void)?

      init(serverCount: Int) {
        attemptWait = (Int64(serverCount) * NATSLink.connectWait + 1000) * 1_000_000
      }
    }

    let configuration: NATSLogConfiguration
    let addresses: [LogAddress]
    let state: Monitor<State>

    /// Connects; if no server is reachable, later calls try again.
    ///
    /// - Throws: ``LogFault`` `unavailable` if a server refuses, or the configuration is not valid.
    init(_ configuration: NATSLogConfiguration) throws(LogFault) {
      self.configuration = configuration
      addresses = try LogAddress.all(configuration.servers) { text throws(LogFault) in
        try LogAddress(nats: text)
      }
      state = Monitor(State(serverCount: addresses.count))
      if configuration.tls == nil, !configuration.allowsPlainText,
        let address = addresses.first(where: { !$0.isEncrypted && !$0.isLocal })
      {
        throw .unavailable(
          "plain text does not go to \(address), which is another machine; use TLS, or allow it")
      }
      let deadline = monotonicNanoseconds() + timeout
      if case .begin(let number) = state.withLock({ $0.beginAttempt(monotonicNanoseconds()) }) {
        attempt(number, until: deadline)
      }
      let trouble = state.waiting(until: deadline) { state -> LogFailure?? in
        state.connection != nil ? .some(nil) : state.trouble.map { .some($0) }
      }
      if let fault = trouble ?? nil, !fault.isAway {
        _ = close()
        throw .unavailable(fault.reason)
      }
    }

    var timeout: Int64 { Int64(max(1, configuration.requestTimeoutInMilliseconds)) * 1_000_000 }

    /// Sets a closure to call after each loss of the connection and each new connection.
    func onChange(_ body: @escaping @Sendable () -> Void) {
      state.withLock { $0.onChange = body }
    }

    /// Ends the connection.
    ///
    /// - Returns: Whether this call closed the link.
    func close() -> Bool {
      let (isFirst, connection) = state.withLock { state in
        defer { (state.isClosed, state.onChange) = (true, nil) }
        return (!state.isClosed, exchange(&state.connection, with: nil))
      }
      state.notifyAll()
      guard isFirst else { return false }
      connection?.close(until: monotonicNanoseconds() + Self.closingWait)
      return true
    }

    /// Whether the link is connected at present.
    var isConnected: Bool { state.withLock { $0.take() != nil } }

    /// Returns the last operation that a server has refused, if that was after a number of refusals.
    private func refusal(after count: Int) -> String? {
      state.withLock { $0.refusalCount > count ? $0.refusal : nil }
    }

    /// Runs a closure with a connection, until it has an answer or the time is up.
    ///
    /// A cluster without a leader loses requests; the link repeats those that change nothing.
    ///
    /// - Parameters:
    ///   - what: The operation, for errors.
    ///   - isAppend: Whether a lost answer forbids a repetition; see `LogLink`.
    ///   - body: Receives the connection and a time in milliseconds, on another thread.
    /// - Returns: The result of the closure.
    /// - Throws: ``LogFault``; `unavailable` when the time is up.
    func call<Result: Sendable>(
      _ what: String, isAppend: Bool = false,
      _ body: @escaping @Sendable (NATSConnection, Int64) throws -> Result
    ) throws -> Result {
      try repeating(what, isAppend: isAppend) { connection, end in
        let now = monotonicNanoseconds()
        let wait = isAppend ? end - now : min(end - now, Self.answerWait)
        let refusals = state.withLock(\.refusalCount)
        let answer = boundedCall(
          until: now + max(0, wait) + Self.grace, unless: { [self] in isClosed }
        ) { Swift.Result { try body(connection, max(1, wait / 1_000_000)) } }
        do {
          if let answer { return try answer.get() }
          throw LogFailure(isClosed ? .closed : .lost, "no answer")
        } catch let failure as LogFailure {
          if let refusal = refusal(after: refusals) { throw LogFailure(.refused, refusal) }
          // If the call still waits, the connection is of no use any more.
          if answer == nil, failure.kind == .lost { discard(connection) }
          throw failure
        }
      }
    }

    /// Runs a call of the library that changes nothing if it fails.
    ///
    /// - Parameters:
    ///   - what: The operation, for errors.
    ///   - body: Makes the call; sets the code of JetStream.
    /// - Returns: The result of the call; `nil` if the stream or the message does not exist.
    /// - Throws: ``LogFault``.
    func request<Result: Sendable>(
      _ what: String,
      _ body: @escaping @Sendable (NATSConnection, Int64, inout CInt) -> (natsStatus, Result)
    ) throws -> Result? {
      try call(what) { connection, milliseconds in
        var code: CInt = 0
        let (status, result) = body(connection, milliseconds, &code)
        if status == NATS_OK { return result }
        if NATSStatus.isAbsent(status, code) { return nil }
        throw NATSStatus.failure(status, code)
      }
    }

    /// The same for a call that returns a message.
    func message(
      _ what: String,
      _ body:
        @escaping @Sendable (NATSConnection, Int64, inout OpaquePointer?, inout CInt) -> natsStatus
    ) throws -> NATSMessage? {
      try request(what) { connection, milliseconds, code -> (natsStatus, NATSMessage?) in
        var message: OpaquePointer?
        let status = unsafe body(connection, milliseconds, &message, &code)
        defer { unsafe natsMsg_Destroy(message) }
        return (status, unsafe message.map { unsafe NATSMessage($0) })
      } ?? nil
    }

    func giveBack(_ connection: NATSConnection, after failure: LogFailure?) {
      if let failure, failure.kind == .lost || failure.isAway { examine(connection) }
    }

    /// Checks a silent server, on another thread, and drops its connection if it does not answer.
    private func examine(_ connection: NATSConnection) {
      guard connection.isUsable, !isClosed else { return }
      SharedThreads.runSomewhere { [self] in
        if !connection.makesRoundTrip(milliseconds: Self.roundTripWait) { discard(connection) }
      }
    }

    /// Drops a connection; later attempts try its server last.
    private func discard(_ connection: NATSConnection) {
      state.withLock { $0.lostServer = connection.server }
      connection.close()
    }

    /// The names of all servers, for errors.
    var servers: String { addresses.map(\.description).joined(separator: ", ") }

    /// Connects, on another thread.
    func attempt(_ number: Int, until deadline: Int64) {
      SharedThreads.runSomewhere { [self] in
        let lost = state.withLock(\.lostServer)
        // The lost server is tried last.
        let order = addresses.shuffled().ordered(by: {
          $0.description != lost && $1.description == lost
        })
        let found = Result { try connect(order) }
        let unused = state.withLock { state -> NATSConnection? in
          if state.attemptNumber == number { state.attemptStart = nil }
          switch found {
          case .success(let connection):
            if state.isClosed || state.take() != nil { return connection }
            state.connection = connection
            (state.trouble, state.complaint) = (nil, nil)
          case .failure(let error):
            state.trouble = error as? LogFailure ?? LogFailure(.refused, "\(error)")
          }
          return nil
        }
        state.notifyAll()
        if let unused {
          unused.close()
        } else if case .success = found {
          changed()
        }
      }
    }

    private func connect(_ order: [LogAddress]) throws -> NATSConnection {
      let connection = try NATSConnection(configuration, order, self)
      let least = NATSLog.messageByteCount + NATSLog.envelopeByteCount
      guard connection.payloadMaximum >= least else {
        connection.close()
        throw LogFailure(
          .refused,
          "\(connection.server): messages of \(connection.payloadMaximum) bytes at most are taken, "
            + "and the log needs \(least); raise max_payload")
      }
      return connection
    }

    private func changed() {
      let body = state.withLock(\.onChange)
      state.notifyAll()
      body?()
    }

    func connectionWasLost() { changed() }

    func connectionFailed(_ status: natsStatus, _ text: String) {
      state.withLock { state in
        if !text.isEmpty { state.complaint = text }
        if status == NATS_NOT_PERMITTED {
          state.refusal = text
          state.refusalCount += 1
        }
      }
    }

    /// In milliseconds: how long one server may take to accept a connection.
    static let connectWait: Int64 = 2500
    /// In nanoseconds: how long a request waits before it is repeated.
    private static let answerWait: Int64 = 2_000_000_000
    /// In milliseconds: how long a silent server may take for a round trip.
    private static let roundTripWait: Int64 = 500
    /// In nanoseconds: how late the library may return after its timeout.
    private static let grace: Int64 = 200_000_000
    /// In nanoseconds: how long to wait for the end of a connection.
    private static let closingWait: Int64 = 1_000_000_000
  }

  extension NATSLink.State {
    var absence: String { trouble?.reason ?? complaint ?? "the connection is lost" }

    func take() -> NATSConnection? { connection.flatMap { $0.isUsable ? $0 : nil } }

    mutating func beginAttempt(_ now: Int64) -> LogAttempt {
      guard now >= nextAttempt, attemptStart.map({ now - $0 > attemptWait }) ?? true else {
        return .wait(until: now + Self.lookInterval)
      }
      (attemptStart, nextAttempt) = (now, now + Self.attemptInterval)
      attemptNumber += 1
      return .begin(attemptNumber)
    }

    /// In nanoseconds, between the starts of two attempts.
    private static let attemptInterval: Int64 = 250_000_000
    /// In nanoseconds, between two looks whether an attempt is due.
    private static let lookInterval: Int64 = 50_000_000
  }
#endif
