#if NATS
  import CPandoNATS
  import PandoReplication
  import PandoSystem

  /// The connection of a log, and a new one when it was lost.
  ///
  /// Nothing of the library is waited for but by a clock that is never set.
  final class NATSLink: NATSConnectionOwner {
    fileprivate struct State {
      var connection: NATSConnection?
      var isClosed = false
      /// When the attempt began that is under way, if one is, and which it is.
      var attemptStart: Int64?
      var attemptNumber = 0
      /// When a new connection may be tried.
      var nextAttempt: Int64 = 0
      /// The last failure, and whether the servers were away.
      var trouble: NATSConnectionFault?
      /// The complaint of a server.
      var complaint: String?
      /// The server that was lost last.
      var lostServer: String?
      /// What the server does not allow; the last of it.
      var refusal: String?
      var refusalCount = 0
      /// Whether the last call that failed found nobody who could answer.
      var wasAway = false
      var onChange: (@Sendable () -> Void)?
    }

    let configuration: NATSLogConfiguration
    let addresses: [NATSAddress]
    private let state = Monitor(State())

    /// Connects, unless the servers are away: then it goes on trying whenever it is asked for something.
    ///
    /// - Throws: ``LogFault`` `unavailable` if they refuse the connection, or the configuration can't be.
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

    /// Calls a closure whenever a connection was lost, or there is a new one.
    func onChange(_ body: @escaping @Sendable () -> Void) {
      state.withLock { $0.onChange = body }
    }

    /// Ends the connection.
    ///
    /// - Returns: Whether it was not closed before.
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

    /// Whether there is a connection at present.
    var isConnected: Bool { state.withLock { $0.connection?.isConnected ?? false } }

    /// Whether the last call that failed found nobody who could answer: it may go at another time.
    var wasAway: Bool { state.withLock(\.wasAway) }

    /// How often the server has refused something.
    var refusalCount: Int { state.withLock(\.refusalCount) }

    /// What it has refused last, if that came after a count.
    func refusal(after count: Int) -> String? {
      state.withLock { $0.refusalCount > count ? $0.refusal : nil }
    }

    /// Runs a closure with a connection that stands, until it has an answer or the time is up.
    ///
    /// A cluster without a leader loses questions: one that changes nothing is asked again before the time is up.
    ///
    /// - Parameters:
    ///   - isAppend: Whether each attempt has all the time that is left; half of it where the caller has said how long
    ///     it waits (`LogDeadline`), and will ask again.
    ///   - body: Gets the connection and how many milliseconds to wait for an answer, on another thread. Throws
    ///     ``NATSNotNow`` to be called again.
    /// - Returns: What the closure returns.
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
            // It waits still: this connection is of no use any more.
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

    /// Looks, on another thread, whether a server is there that has not answered, and leaves it if it is not.
    private func examine(_ connection: NATSConnection) {
      guard connection.isConnected, !isClosed else { return }
      SharedThreads.runSomewhere { [self] in
        if !connection.makesRoundTrip(milliseconds: Self.roundTripWait) { discard(connection) }
      }
    }

    /// Leaves a connection, and its server.
    private func discard(_ connection: NATSConnection) {
      state.withLock { $0.lostServer = connection.server }
      connection.close()
    }

    /// How an error names the server.
    func server(_ connection: NATSConnection?) -> String {
      connection?.server ?? addresses.map(\.description).joined(separator: ", ")
    }

    /// The last position of the log's stream.
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

    /// What a failed call that changes nothing comes to.
    ///
    /// - Parameters:
    ///   - status: How it ended.
    ///   - code: What JetStream says, or 0.
    ///   - what: What it was about.
    ///   - connection: Where.
    ///   - count: How often the server had refused something before.
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

    /// Waits a little.
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

    /// The connection, as soon as it stands.
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

    /// How long an attempt may take before another one is made beside it.
    private var attemptWait: Int64 {
      (Int64(addresses.count) * Self.connectWait + 1000) * 1_000_000
    }

    /// Tries to connect, on another thread.
    private func attempt(_ number: Int) {
      SharedThreads.runSomewhere { [self] in
        let lost = state.withLock(\.lostServer)
        // The one that was lost is tried last.
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
    /// In milliseconds: how long one server may take to let somebody in.
    static let connectWait: Int64 = 2500
    /// In nanoseconds: how long a question waits before it is asked again.
    private static let answerWait: Int64 = 2_000_000_000
    /// In nanoseconds: the least that an append waits, if there is as much.
    private static let appendWaitMinimum: Int64 = 1_000_000_000
    /// In milliseconds: how long a server that has not answered may take for a sign of life.
    private static let roundTripWait: Int64 = 500
    /// In nanoseconds: how much later than it was told the library may return.
    private static let grace: Int64 = 200_000_000
    /// In nanoseconds, between two attempts of a call.
    private static let pause: Int64 = 50_000_000
    /// In nanoseconds: how long the end of a connection is waited for.
    private static let closingWait: Int64 = 1_000_000_000
  }

  extension NATSLink.State {
    /// Whether it is time for an attempt to connect; says so once.
    ///
    /// - Returns: The number of the attempt.
    fileprivate mutating func beginsAttempt(_ now: Int64, _ wait: Int64) -> Int? {
      guard now >= nextAttempt, attemptStart.map({ now - $0 > wait }) ?? true else { return nil }
      (attemptStart, nextAttempt) = (now, now + Self.attemptInterval)
      attemptNumber += 1
      return attemptNumber
    }

    /// In nanoseconds, between two new connections.
    private static var attemptInterval: Int64 { 250_000_000 }
  }

  /// Nothing was done; it may go later.
  struct NATSNotNow: Error {
    let reason: String
    /// Whether nobody has said anything.
    var isSilence = false
  }
#endif
