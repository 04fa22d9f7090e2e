#if NATS
  import CPandoNATS
  import PandoReplication
  import PandoSystem

  /// The connection of a log; it connects again after a loss.
  ///
  /// All waits for the library use a monotonic clock.
  final class NATSLink: NATSConnectionOwner {
    fileprivate struct State {
      var connection: NATSConnection?
      var isClosed = false
      /// The start of the running connection attempt, if any, and its number.
      var attemptStart: Int64?
      var attemptNumber = 0
      /// The earliest time of the next attempt.
      var nextAttempt: Int64 = 0
      /// The last connection error, and whether the servers were unreachable.
      var trouble: NATSConnectionFault?
      /// The last error text of a server.
      var complaint: String?
      /// The last server that was lost.
      var lostServer: String?
      /// The last operation that the server did not permit.
      var refusal: String?
      var refusalCount = 0
      /// Whether the last failed call reached no server that could answer.
      var wasAway = false
      var onChange: (@Sendable () -> Void)?
    }

    let configuration: NATSLogConfiguration
    let addresses: [NATSAddress]
    private let state = Monitor(State())

    /// Connects; if no server is reachable, later calls try again.
    ///
    /// - Throws: ``LogFault`` `unavailable` if a server refuses, or the configuration is not valid.
    init(_ configuration: NATSLogConfiguration) throws(LogFault) {
      self.configuration = configuration
      var addresses: [NATSAddress] = []
      for server in configuration.servers { addresses.append(try NATSAddress(server)) }
      guard !addresses.isEmpty else { throw .unavailable("no server is given") }
      self.addresses = addresses
      if configuration.tls == nil, !configuration.allowsPlainText,
        let address = addresses.first(where: { !$0.isEncrypted && !$0.isLoopback })
      {
        throw .unavailable(
          "plain text does not go to \(address), which is another machine; use TLS, or allow it")
      }
      let first = state.withLock { $0.beginsAttempt(monotonicNanoseconds(), 0) }
      attempt(first ?? 1)
      let deadline = monotonicNanoseconds() + timeout
      let fault = state.waiting { (state: inout State, nanoseconds: inout Int64?) -> String?? in
        if state.connection != nil { return .some(nil) }
        if let trouble = state.trouble { return trouble.isAway ? .some(nil) : trouble.reason }
        let rest = deadline - monotonicNanoseconds()
        if rest <= 0 { return .some(nil) }
        nanoseconds = rest
        return nil
      }
      if let fault {
        _ = close()
        throw .unavailable(fault)
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

    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Whether the link is connected at present.
    var isConnected: Bool { state.withLock { $0.connection?.isConnected ?? false } }

    /// Whether the last failed call reached no server that could answer: a later one may.
    var wasAway: Bool { state.withLock(\.wasAway) }

    /// How often a server has refused an operation.
    var refusalCount: Int { state.withLock(\.refusalCount) }

    /// Returns the last refusal, if it came after a count.
    func refusal(after count: Int) -> String? {
      state.withLock { $0.refusalCount > count ? $0.refusal : nil }
    }

    /// Runs a closure with a connection, until it has an answer or the time is up.
    ///
    /// A cluster without a leader loses requests; the link repeats those that change nothing.
    ///
    /// - Parameters:
    ///   - isAppend: Whether each attempt may take all of the remaining time. With a deadline of
    ///     the caller (`LogDeadline`) it takes half, since the caller repeats it.
    ///   - body: Receives the connection and a time in milliseconds, on another thread. The link
    ///     calls it again after ``NATSNotNow``.
    /// - Returns: The result of the closure.
    /// - Throws: ``LogFault``; `unavailable` when the time is up.
    func call<Result: Sendable>(
      isAppend: Bool = false, _ body: @escaping @Sendable (NATSConnection, Int64) throws -> Result
    ) throws -> Result {
      let limit = LogDeadline.nanoseconds
      let deadline = min(monotonicNanoseconds() + timeout, limit ?? .max)
      while true {
        let connection = try self.connection(until: deadline)
        let now = monotonicNanoseconds()
        let rest = deadline - now
        let wait =
          if !isAppend {
            min(rest, Self.answerWait)
          } else if limit != nil {
            max(rest / 2, min(rest, Self.appendWaitMinimum))
          } else {
            rest
          }
        let milliseconds = max(1, wait / 1_000_000)
        let refusals = refusalCount
        let answer = boundedCall(
          until: now + max(0, wait) + Self.grace, unless: { [self] in isClosed }
        ) { Swift.Result { try body(connection, milliseconds) } }
        let reason: String
        do {
          guard let answer else {
            if isClosed { throw isAppend ? LogFault.noAnswer : Self.isClosedFault }
            if let refusal = refusal(after: refusals) {
              throw LogFault.unavailable("\(connection.server): \(refusal)")
            }
            // The call still waits: this connection is of no use any more.
            discard(connection)
            if isAppend { throw LogFault.noAnswer }
            throw NATSNotNow(reason: "no answer")
          }
          return try answer.get()
        } catch let notNow as NATSNotNow {
          reason = "\(connection.server): \(notNow.reason)"
          if notNow.isSilence { examine(connection) }
        } catch LogFault.noAnswer {
          examine(connection)
          throw LogFault.noAnswer
        } catch {
          state.withLock { $0.wasAway = false }
          throw error
        }
        guard monotonicNanoseconds() + Self.pause < deadline, pause() else {
          throw isClosed ? Self.isClosedFault : away(reason)
        }
      }
    }

    private func away(_ reason: String) -> LogFault {
      state.withLock { $0.wasAway = true }
      return .unavailable(reason)
    }

    /// Checks a silent server, on another thread, and drops its connection if it does not answer.
    private func examine(_ connection: NATSConnection) {
      guard connection.isConnected, !isClosed else { return }
      SharedThreads.runSomewhere { [self] in
        if !connection.makesRoundTrip(milliseconds: Self.roundTripWait) { discard(connection) }
      }
    }

    /// Drops a connection; later attempts try its server last.
    private func discard(_ connection: NATSConnection) {
      state.withLock { $0.lostServer = connection.server }
      connection.close()
    }

    /// Returns the name of the server for errors.
    func server(_ connection: NATSConnection?) -> String {
      connection?.server ?? addresses.map(\.description).joined(separator: ", ")
    }

    /// Returns the last position of the log's stream.
    func end() throws -> UInt64 {
      try call { [configuration] connection, milliseconds in
        var found = pando_nats_stream()
        var code: CInt = 0
        let status = unsafe pando_nats_look(
          connection.context, configuration.stream, configuration.streamSubject, milliseconds,
          &code, &found)
        guard status == NATS_OK else {
          throw LogFault.unavailable("stream \(configuration.stream): \(natsText(status))")
        }
        return found.last
      }
    }

    /// Returns the error of a failed call that changes nothing.
    ///
    /// - Parameters:
    ///   - status: The status of the call.
    ///   - code: The code of JetStream, or 0.
    ///   - what: The operation, for errors.
    ///   - connection: The connection of the call.
    ///   - count: The number of refusals before the call.
    /// - Returns: ``NATSNotNow``, or ``LogFault`` `unavailable`.
    func fault(
      _ status: natsStatus, _ code: CInt, _ what: String, _ connection: NATSConnection,
      since count: Int
    ) -> any Error {
      let reason = "\(what): \(natsText(status))"
      if isClosed { return Self.isClosedFault }
      if let refusal = refusal(after: count) {
        return LogFault.unavailable("\(server(connection)): \(what): \(refusal)")
      }
      if NATSStatus.isPassing(status, code) {
        return NATSNotNow(reason: reason, isSilence: status == NATS_TIMEOUT)
      }
      return LogFault.unavailable("\(server(connection)): \(reason)")
    }

    /// Waits for a short time.
    ///
    /// - Returns: Whether the log is still open.
    private func pause() -> Bool {
      let end = monotonicNanoseconds() + Self.pause
      return state.waiting { (state: inout State, nanoseconds: inout Int64?) -> Bool? in
        if state.isClosed { return false }
        let rest = end - monotonicNanoseconds()
        if rest <= 0 { return true }
        nanoseconds = rest
        return nil
      }
    }

    /// Returns the connection, as soon as there is one.
    func connection(until deadline: Int64) throws(LogFault) -> NATSConnection {
      enum Step {
        case use(NATSConnection)
        case attempt(Int)
        case fail(LogFault)
      }
      while true {
        let step = state.waiting { (state: inout State, nanoseconds: inout Int64?) -> Step? in
          if state.isClosed { return .fail(Self.isClosedFault) }
          if let connection = state.connection, connection.isConnected { return .use(connection) }
          let now = monotonicNanoseconds()
          if now >= deadline {
            state.wasAway = state.trouble?.isAway ?? true
            let reason =
              state.trouble?.reason ?? state.complaint
              ?? "\(server(nil)): the connection is lost"
            return .fail(.unavailable(reason))
          }
          if let number = state.beginsAttempt(now, attemptWait) { return .attempt(number) }
          nanoseconds = min(deadline - now, Self.pause)
          return nil
        }
        switch step {
        case .use(let connection): return connection
        case .fail(let fault): throw fault
        case .attempt(let number): attempt(number)
        }
      }
    }

    /// How long an attempt may take before another one starts beside it.
    private var attemptWait: Int64 {
      (Int64(addresses.count) * Self.connectWait + 1000) * 1_000_000
    }

    /// Connects, on another thread.
    private func attempt(_ number: Int) {
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
            if state.isClosed || state.connection?.isConnected ?? false { return connection }
            state.connection = connection
            (state.trouble, state.complaint) = (nil, nil)
          case .failure(let error):
            state.trouble =
              error as? NATSConnectionFault
              ?? NATSConnectionFault(isAway: false, reason: "\(error)")
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

    private func connect(_ order: [NATSAddress]) throws -> NATSConnection {
      let connection = try NATSConnection(configuration, order, self)
      let least = NATSLog.messageByteCount + NATSLog.envelopeByteCount
      guard connection.payloadMaximum >= least else {
        connection.close()
        throw NATSConnectionFault(
          isAway: false,
          reason:
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

    private static let isClosedFault = LogFault.unavailable("the log is closed")
    /// In milliseconds: how long one server may take to accept a connection.
    static let connectWait: Int64 = 2500
    /// In nanoseconds: how long a request waits before it is repeated.
    private static let answerWait: Int64 = 2_000_000_000
    /// In nanoseconds: the minimal wait of an append, if that much time is left.
    private static let appendWaitMinimum: Int64 = 1_000_000_000
    /// In milliseconds: how long a silent server may take for a round trip.
    private static let roundTripWait: Int64 = 500
    /// In nanoseconds: how late the library may return after its timeout.
    private static let grace: Int64 = 200_000_000
    /// In nanoseconds, between two attempts of a call.
    private static let pause: Int64 = 50_000_000
    /// In nanoseconds: how long to wait for the end of a connection.
    private static let closingWait: Int64 = 1_000_000_000
  }

  extension NATSLink.State {
    /// Starts an attempt to connect, if it is due and none is running.
    ///
    /// - Returns: The number of the attempt, or `nil`.
    fileprivate mutating func beginsAttempt(_ now: Int64, _ wait: Int64) -> Int? {
      guard now >= nextAttempt, attemptStart.map({ now - $0 > wait }) ?? true else { return nil }
      (attemptStart, nextAttempt) = (now, now + Self.attemptInterval)
      attemptNumber += 1
      return attemptNumber
    }

    /// In nanoseconds, between the starts of two attempts.
    private static var attemptInterval: Int64 { 250_000_000 }
  }

  /// The error of a call that did nothing and may succeed later.
  struct NATSNotNow: Error {
    let reason: String
    /// Whether the server did not answer at all.
    var isSilence = false
  }
#endif
