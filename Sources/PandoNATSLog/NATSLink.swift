#if NATS
  import CPandoNATS
  import PandoReplication
  import PandoSystem

  /// The connection of a log, and a new one when the library has given up.
  final class NATSLink: NATSListener {
    private struct State {
      var connection: NATSConnection?
      var isClosed = false
      /// When a new connection may be tried.
      var nextAttempt: Int64 = 0
      /// What was wrong last.
      var trouble: String?
      /// What the server does not allow; the last of it.
      var refusal: String?
      var refusalCount = 0
      var onReconnect: (@Sendable () -> Void)?
    }

    let configuration: NATSLogConfiguration
    private let addresses: [NATSAddress]
    private let state = Monitor(State())
    private let handle = Locked<UInt>(0)

    /// Connects.
    ///
    /// - Throws: ``LogFault`` `unavailable`.
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
      let number = NATSHandles.add(self)
      handle.withLock { $0 = number }
      do {
        let connection = try connect()
        state.withLock { $0.connection = connection }
      } catch {
        NATSHandles.remove(number)
        throw error
      }
    }

    var timeout: Int64 { Int64(max(1, configuration.requestTimeoutInMilliseconds)) * 1_000_000 }

    /// Calls a closure whenever the connection is back.
    func onReconnect(_ body: @escaping @Sendable () -> Void) {
      state.withLock { $0.onReconnect = body }
    }

    /// Ends the connection.
    ///
    /// - Returns: Whether it was not closed before.
    func close() -> Bool {
      let (isFirst, connection) = state.withLock { state in
        defer { state.isClosed = true }
        return (!state.isClosed, exchange(&state.connection, with: nil))
      }
      state.notifyAll()
      guard isFirst else { return false }
      connection?.close()
      NATSHandles.remove(handle.withLock(\.self))
      return true
    }

    var isClosed: Bool { state.withLock(\.isClosed) }

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
    ///   - isAppend: Whether each attempt has all the time that is left.
    ///   - body: Gets the connection and how many milliseconds to wait for an answer. Throws ``NATSNotNow``
    ///     to be called again.
    /// - Returns: What the closure returns.
    /// - Throws: ``LogFault``; `unavailable` when the time is up.
    func call<Result>(
      isAppend: Bool = false, _ body: (NATSConnection, Int64) throws -> Result
    ) throws -> Result {
      let deadline = monotonicNanoseconds() + timeout
      while true {
        let connection = try self.connection(until: deadline)
        do {
          let rest = max(1, (deadline - monotonicNanoseconds()) / 1_000_000)
          return try body(connection, isAppend ? rest : min(rest, Self.answerWait))
        } catch let notNow as NATSNotNow {
          let reason = "\(server(connection)): \(notNow.reason)"
          guard monotonicNanoseconds() + Self.pause < deadline, pause() else {
            throw LogFault.unavailable(isClosed ? "the log is closed" : reason)
          }
        }
      }
    }

    /// How an error names the server.
    func server(_ connection: NATSConnection?) -> String {
      connection?.server ?? addresses.map(\.description).joined(separator: ", ")
    }

    /// The last position of the log's stream.
    func end() throws -> UInt64 {
      try call { connection, milliseconds in
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
      if isClosed { return LogFault.unavailable("the log is closed") }
      if let refusal = refusal(after: count) {
        return LogFault.unavailable("\(server(connection)): \(what): \(refusal)")
      }
      if NATSStatus.isPassing(status, code) { return NATSNotNow(reason: reason) }
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
        case renew
        case fail(String)
      }
      while true {
        let step = state.waiting { (state: inout State, nanoseconds: inout Int64?) -> Step? in
          if state.isClosed { return .fail("the log is closed") }
          if let connection = state.connection, connection.isConnected { return .use(connection) }
          let now = monotonicNanoseconds()
          if state.connection?.isClosed ?? true, now >= state.nextAttempt {
            state.nextAttempt = now + Self.attemptInterval
            return .renew
          }
          if now >= deadline { return .fail(state.trouble ?? "the connection is lost") }
          // The library tells when it is back; where it does not, somebody looks.
          nanoseconds = min(deadline - now, Self.pause)
          return nil
        }
        switch step {
        case .use(let connection): return connection
        case .fail(let reason): throw .unavailable("\(server(nil)): \(reason)")
        case .renew: try renew()
        }
      }
    }

    private func renew() throws(LogFault) {
      let connection: NATSConnection
      do {
        connection = try connect()
      } catch {
        if case .unavailable(let reason) = error { state.withLock { $0.trouble = reason } }
        return
      }
      let isClosed = state.withLock { state in
        if !state.isClosed { state.connection = connection }
        return state.isClosed
      }
      if isClosed { connection.close() } else { reconnected() }
    }

    private func connect() throws(LogFault) -> NATSConnection {
      let connection = try NATSConnection(
        configuration, addresses, listener: handle.withLock(\.self))
      let least = NATSLog.messageByteCount + NATSLog.envelopeByteCount
      guard connection.payloadMaximum >= least else {
        connection.close()
        throw .unavailable(
          "\(server(connection)): messages of \(connection.payloadMaximum) bytes at most are taken, "
            + "and the log needs \(least); raise max_payload")
      }
      return connection
    }

    func reconnected() {
      let body = state.withLock(\.onReconnect)
      state.notifyAll()
      body?()
    }

    func failed(_ status: natsStatus, _ text: String) {
      state.withLock { state in
        if !text.isEmpty { state.trouble = text }
        if status == NATS_NOT_PERMITTED {
          state.refusal = text
          state.refusalCount += 1
        }
      }
    }

    /// In milliseconds: how long a question waits before it is asked again.
    private static let answerWait: Int64 = 2000
    /// In nanoseconds, between two attempts of a call.
    private static let pause: Int64 = 50_000_000
    /// In nanoseconds, between two new connections.
    private static let attemptInterval: Int64 = 1_000_000_000
  }

  /// Nothing was done; it may go later.
  struct NATSNotNow: Error {
    let reason: String
  }
#endif
