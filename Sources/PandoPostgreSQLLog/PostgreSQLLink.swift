#if PostgreSQL
  import PandoReplication
  import PandoSystem

  /// The connections of a log: one for each running call; two stay open for later calls.
  final class PostgreSQLLink: LogLink {
    struct State: LogConnections {
      var idle: [PostgreSQLConnection] = []
      var isClosed = false
      /// The index of the server that answered last.
      var preferred = 0
      /// The time of the next connection attempt, and the pause after it.
      var nextAttempt: Int64 = 0
      var pause = LogPause(50_000_000, upTo: 1_000_000_000)
      var trouble: LogFailure?
      var wasAway = false
      /// The number of connections made or lost.
      var changeCount: UInt64 = 0

      var absence: String { trouble?.reason ?? "the server does not answer" }

      mutating func take() -> PostgreSQLConnection? { idle.popLast() }

      mutating func beginAttempt(_ now: Int64) -> LogAttempt {
        guard now >= nextAttempt else { return .wait(until: nextAttempt) }
        nextAttempt = now + pause.next()
        return .begin(0)
      }
    }

    let configuration: PostgreSQLLogConfiguration
    let wake = PostgreSQLWake()
    private let addresses: [LogAddress]
    let state = Monitor(State())

    /// Connects; if no server is reachable, later calls try again.
    ///
    /// - Throws: ``LogFault`` `unavailable` if a server refuses, or the configuration is not valid.
    init(_ configuration: PostgreSQLLogConfiguration) throws(LogFault) {
      self.configuration = configuration
      addresses = try LogAddress.all(configuration.servers, LogAddress.init(postgreSQL:))
      attempt(0, until: monotonicNanoseconds() + timeout)
      guard let trouble = state.withLock(\.trouble) else { return }
      guard trouble.isAway else { throw .unavailable(trouble.reason) }
      state.withLock { $0.wasAway = true }
    }

    /// Whether there is an idle connection.
    var isConnected: Bool { state.withLock { !$0.idle.isEmpty } }

    var timeout: Int64 { Int64(max(1, configuration.requestTimeoutInMilliseconds)) * 1_000_000 }

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

    /// Connects to a server that takes writes.
    ///
    /// - Parameter deadline: The end of the attempt; each server gets its share of the time.
    /// - Returns: A connection for the caller alone.
    /// - Throws: ``LogFailure``, whose text names the servers.
    func connect(until deadline: Int64) throws(LogFailure) -> PostgreSQLConnection {
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
          reasons.append("\(addresses[index]): \(error.reason)")
          areAway = areAway && (error.isAway || error.kind == .lost)
        }
      }
      throw LogFailure(.notNow, reasons.joined(separator: "; "), isAway: areAway)
    }

    func attempt(_ number: Int, until deadline: Int64) {
      let found = Result { () throws(LogFailure) in try connect(until: deadline) }
      state.withLock { state in
        switch found {
        case .success(let connection):
          (state.nextAttempt, state.trouble) = (0, nil)
          state.pause.reset()
          state.changeCount += 1
          if !state.isClosed { state.idle.append(connection) }
        case .failure(let failure): state.trouble = failure
        }
      }
      state.notifyAll()
    }

    func giveBack(_ connection: PostgreSQLConnection, after failure: LogFailure?) {
      let isUsable = failure?.isElsewhere != true && connection.isUsable
      state.withLock { state in
        if failure?.kind == .lost { state.changeCount += 1 }
        guard isUsable, !state.isClosed, state.idle.count < Self.idleMaximum else { return }
        state.idle.append(connection)
      }
    }

    private static let idleMaximum = 2
  }
#endif
