#if PostgreSQL
  import PandoReplication
  import PandoSystem

  /// The connections of a log: one for each running call; two stay open for later calls.
  final class PostgreSQLLink: Sendable {
    private struct State {
      var idle: [PostgreSQLConnection] = []
      var isClosed = false
      /// The index of the server that answered last.
      var preferred = 0
      /// The time of the next connection attempt, and the pause after it.
      var nextAttempt: Int64 = 0
      var pause = PostgreSQLLink.pauseMinimum
      /// The last connection error.
      var trouble: String?
      /// Whether the last failed call reached no server that could answer.
      var wasAway = false
      /// The number of connections made or lost.
      var changeCount: UInt64 = 0
    }

    let configuration: PostgreSQLLogConfiguration
    let wake = PostgreSQLWake()
    private let addresses: [PostgreSQLAddress]
    private let state = Monitor(State())

    /// Connects; if no server is reachable, later calls try again.
    ///
    /// - Throws: ``LogFault`` `unavailable` if a server refuses, or the configuration is not valid.
    init(_ configuration: PostgreSQLLogConfiguration) throws(LogFault) {
      self.configuration = configuration
      var addresses: [PostgreSQLAddress] = []
      for server in configuration.servers { addresses.append(try PostgreSQLAddress(server)) }
      guard !addresses.isEmpty else { throw .unavailable("no server is given") }
      self.addresses = addresses
      do {
        put(try connect(until: monotonicNanoseconds() + timeout))
      } catch {
        guard error.isAway else { throw .unavailable(error.words) }
        let words = error.words
        state.withLock { ($0.trouble, $0.wasAway) = (words, true) }
      }
    }

    /// Whether there is an idle connection.
    var isConnected: Bool { state.withLock { !$0.idle.isEmpty } }

    /// Whether the last failed call reached no server that could answer: a later one may.
    var wasAway: Bool { state.withLock(\.wasAway) }

    var timeout: Int64 { Int64(max(1, configuration.requestTimeoutInMilliseconds)) * 1_000_000 }

    var isClosed: Bool { state.withLock(\.isClosed) }

    /// The number of connections made or lost.
    var changeCount: UInt64 { state.withLock(\.changeCount) }

    /// Ends all connections and wakes waiting calls.
    ///
    /// - Returns: Whether this call closed the link.
    func close() -> Bool {
      let (isFirst, idle) = state.withLock { state in
        defer { state.isClosed = true }
        return (!state.isClosed, exchange(&state.idle, with: []))
      }
      _ = idle
      wake.signal()
      state.notifyAll()
      return isFirst
    }

    /// Runs a closure with a connection, until it has an answer or the time is up.
    ///
    /// - Parameters:
    ///   - what: The operation, for errors.
    ///   - isAppend: Whether a lost answer forbids a repetition. With a deadline of the caller
    ///     (`LogDeadline`), an append waits half of the time, since the caller repeats it.
    ///   - body: Receives the connection and the deadline. The link calls it again after a
    ///     temporary ``PostgreSQLFailure``.
    /// - Returns: The result of the closure.
    /// - Throws: ``LogFault``; other errors of the closure.
    func call<Result>(
      _ what: String, isAppend: Bool = false,
      _ body: (PostgreSQLConnection, Int64) throws -> Result
    ) throws -> Result {
      let limit = LogDeadline.nanoseconds
      let deadline = min(monotonicNanoseconds() + timeout, limit ?? .max)
      while true {
        let connection = try self.connection(until: deadline)
        do {
          var end = deadline
          if isAppend, limit != nil {
            let now = monotonicNanoseconds()
            end = now + max((deadline - now) / 2, min(deadline - now, Self.appendWaitMinimum))
          }
          let result = try body(connection, end)
          put(connection)
          return result
        } catch let failure as PostgreSQLFailure {
          if !failure.isElsewhere { put(connection) }
          if failure.kind == .lost { state.withLock { $0.changeCount += 1 } }
          switch failure.kind {
          case .lost where isAppend, .closed where isAppend: throw LogFault.noAnswer
          case .closed: throw Self.isClosedFault
          case .refused:
            state.withLock { $0.wasAway = false }
            throw LogFault.unavailable("\(connection.address): \(what): \(failure.words)")
          case .lost, .notNow:
            guard monotonicNanoseconds() + Self.pauseMinimum < deadline, wait(Self.pauseMinimum)
            else {
              state.withLock { $0.wasAway = true }
              throw isClosed
                ? Self.isClosedFault
                : LogFault.unavailable("\(connection.address): \(what): \(failure.words)")
            }
          }
        } catch {
          put(connection)
          throw error
        }
      }
    }

    /// Waits for a time.
    ///
    /// - Returns: Whether the log is still open.
    func wait(_ nanoseconds: Int64) -> Bool {
      let end = monotonicNanoseconds() + nanoseconds
      return state.waiting { (state: inout State, nanoseconds: inout Int64?) -> Bool? in
        if state.isClosed { return false }
        let rest = end - monotonicNanoseconds()
        if rest <= 0 { return true }
        nanoseconds = rest
        return nil
      }
    }

    /// Connects to a server that takes writes.
    ///
    /// - Parameter deadline: The end of the attempt; each server gets its share of the time.
    /// - Returns: A connection for the caller alone.
    /// - Throws: ``PostgreSQLFailure``, whose text names the servers.
    func connect(until deadline: Int64) throws(PostgreSQLFailure) -> PostgreSQLConnection {
      let first = state.withLock(\.preferred)
      var reasons: [String] = []
      var areAway = true
      for step in 0..<addresses.count {
        let index = (first + step) % addresses.count
        let now = monotonicNanoseconds()
        let part = max(0, deadline - now) / Int64(addresses.count - step)
        do {
          let connection = try PostgreSQLConnection(
            addresses[index], configuration, wake, until: now + part)
          state.withLock { $0.preferred = index }
          return connection
        } catch {
          if error.kind == .closed { throw error }
          reasons.append("\(addresses[index]): \(error.words)")
          areAway = areAway && (error.isAway || error.kind == .lost)
        }
      }
      throw PostgreSQLFailure(.notNow, reasons.joined(separator: "; "), isAway: areAway)
    }

    /// Returns a usable connection for the caller alone.
    private func connection(until deadline: Int64) throws(LogFault) -> PostgreSQLConnection {
      enum Step {
        case use(PostgreSQLConnection)
        case renew
        case fail(LogFault)
      }
      while true {
        let step = state.waiting { (state: inout State, nanoseconds: inout Int64?) -> Step? in
          if state.isClosed { return .fail(Self.isClosedFault) }
          if let connection = state.idle.popLast() { return .use(connection) }
          let now = monotonicNanoseconds()
          if now >= deadline {
            state.wasAway = true
            return .fail(.unavailable(state.trouble ?? "the server does not answer"))
          }
          if now >= state.nextAttempt {
            state.nextAttempt = now + state.pause
            return .renew
          }
          nanoseconds = min(deadline, state.nextAttempt) - now
          return nil
        }
        switch step {
        case .use(let connection): if connection.isUsable { return connection }
        case .fail(let fault): throw fault
        case .renew: if let connection = renew(until: deadline) { return connection }
        }
      }
    }

    private func renew(until deadline: Int64) -> PostgreSQLConnection? {
      do {
        let connection = try connect(until: deadline)
        state.withLock { state in
          (state.pause, state.nextAttempt) = (Self.pauseMinimum, 0)
          state.changeCount += 1
        }
        return connection
      } catch {
        let words = error.words
        state.withLock { state in
          state.trouble = words
          state.pause = min(state.pause * 2, Self.pauseMaximum)
        }
        return nil
      }
    }

    /// Keeps a usable connection for later calls.
    private func put(_ connection: PostgreSQLConnection) {
      guard connection.isUsable else { return }
      state.withLock { state in
        if !state.isClosed, state.idle.count < Self.idleMaximum { state.idle.append(connection) }
      }
    }

    private static let isClosedFault = LogFault.unavailable("the log is closed")
    /// In nanoseconds, between two attempts.
    private static let pauseMinimum: Int64 = 50_000_000
    private static let pauseMaximum: Int64 = 1_000_000_000
    private static let idleMaximum = 2
    /// In nanoseconds: the minimal wait of an append, if that much time is left.
    private static let appendWaitMinimum: Int64 = 1_000_000_000
  }
#endif
