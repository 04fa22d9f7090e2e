#if PostgreSQL
  import CPandoPostgreSQL
  import PandoReplication
  import PandoSystem

  /// A connection to a server.
  ///
  /// No call blocks past its deadline. Pando does not cancel statements: the server ends them
  /// (`statement_timeout`). During a wait for a standby, a cancel would make the server acknowledge
  /// a commit that the standby lacks. `PQcancel` also waits for a server that hangs.
  @safe
  final class PostgreSQLConnection: LogConnection, @unchecked Sendable {
    // Sendable because one call at a time holds a connection.
    let server: String
    private let handle: OpaquePointer
    private let wake: PostgreSQLWake

    /// Connects.
    ///
    /// - Parameters:
    ///   - address: The address of the server.
    ///   - configuration: The settings of the log.
    ///   - wake: Wakes waiting calls when the log closes.
    ///   - deadline: The end of the attempt.
    /// - Throws: ``LogFailure``; nothing was done.
    init(
      _ address: LogAddress, _ configuration: PostgreSQLLogConfiguration,
      _ wake: PostgreSQLWake, until deadline: Int64
    ) throws(LogFailure) {
      let parameters = try PostgreSQLParameters.all(address, configuration)
      let keys = unsafe parameters.map { unsafe strdup($0.key) } + [nil]
      let values = unsafe parameters.map { unsafe strdup($0.value) } + [nil]
      defer { unsafe (keys + values).forEach { unsafe free($0) } }
      let keyPointers = unsafe keys.map { unsafe UnsafePointer($0) }
      let valuePointers = unsafe values.map { unsafe UnsafePointer($0) }
      guard let handle = unsafe PQconnectStartParams(keyPointers, valuePointers, 0) else {
        throw LogFailure(.notNow, "there is no memory for a connection")
      }
      unsafe (server, self.handle, self.wake) = ("\(address)", handle, wake)
      try connect(until: deadline)
      unsafe PQsetnonblocking(handle, 1)
      try prepare(configuration, until: deadline)
    }

    deinit { unsafe PQfinish(handle) }

    /// Whether the connection can run another statement.
    ///
    /// The check reads the server's pending messages, and notices the end of the connection.
    var isUsable: Bool {
      for _ in 0..<Self.lookMaximum {
        guard unsafe PQstatus(handle) == CONNECTION_OK,
          unsafe PQtransactionStatus(handle) == PQTRANS_IDLE
        else { return false }
        var descriptor = pollfd(fd: unsafe PQsocket(handle), events: Int16(POLLIN), revents: 0)
        if unsafe poll(&descriptor, 1, 0) <= 0 { return true }
        if unsafe PQconsumeInput(handle) == 0 { return false }
        _ = unsafe PQisBusy(handle)
      }
      return false
    }

    private static let lookMaximum = 16
  }

  extension PostgreSQLConnection {
    /// Runs a statement.
    ///
    /// - Parameters:
    ///   - sql: One statement.
    ///   - values: The parameters.
    ///   - deadline: The end of the wait.
    /// - Returns: The rows. Outside a transaction, the changes are committed.
    /// - Throws: ``LogFailure``.
    @discardableResult
    func run(
      _ sql: String, _ values: [PostgreSQLValue] = [], until deadline: Int64
    ) throws(LogFailure) -> PostgreSQLRows {
      guard send(sql, values) else { throw LogFailure(.lost, words) }
      while true {
        let status = unsafe PQflush(handle)
        if status == 0 { break }
        guard status > 0 else { throw LogFailure(.lost, words) }
        try wait(POLLIN | POLLOUT, until: deadline)
        try consume()
      }
      // The server acknowledges a statement before its commit. The commit is complete when the
      // server is ready for the next statement and there is no further result.
      var rows: PostgreSQLRows?
      var failure: LogFailure?
      while let result = unsafe try nextResult(until: deadline) {
        switch unsafe PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK: rows = unsafe PostgreSQLRows(result)
        default:
          if failure == nil { failure = unsafe LogFailure(result) }
          unsafe PQclear(result)
        }
      }
      if let failure { throw failure }
      guard unsafe PQstatus(handle) == CONNECTION_OK, let rows else {
        throw LogFailure(.lost, words)
      }
      return rows
    }

    /// Waits for notices.
    ///
    /// - Parameter deadline: The end of the wait.
    /// - Returns: The texts; empty when the time is up.
    /// - Throws: ``LogFailure``.
    func notices(until deadline: Int64) throws(LogFailure) -> [String] {
      while true {
        var texts: [String] = []
        while let notice = unsafe PQnotifies(handle) {
          unsafe texts.append(notice.pointee.extra.map { unsafe String(cString: $0) } ?? "")
          unsafe PQfreemem(notice)
        }
        if !texts.isEmpty { return texts }
        guard try isReady(POLLIN, until: deadline) else { return [] }
        try consume()
      }
    }

    private func send(_ sql: String, _ values: [PostgreSQLValue]) -> Bool {
      let parts = values.map(\.binary)
      let types = values.map(\.type)
      let lengths = parts.map { CInt($0?.count ?? 0) }
      let formats = [CInt](repeating: 1, count: values.count)
      let all = parts.reduce(into: [UInt8]()) { $0 += $1 ?? [] } + [0]
      return unsafe all.withUnsafeBufferPointer { buffer in
        var place = 0
        // The bytes lie in one array that outlives this closure; libpq copies them.
        let pointers = unsafe parts.map { part -> UnsafePointer<CChar>? in
          guard let part else { return nil }
          defer { place += part.count }
          guard let start = buffer.baseAddress else { return nil }
          return unsafe UnsafeRawPointer(start + place).assumingMemoryBound(to: CChar.self)
        }
        return unsafe PQsendQueryParams(
          handle, sql, CInt(values.count), types, pointers, lengths, formats, 1) == 1
      }
    }

    private func nextResult(until deadline: Int64) throws(LogFailure) -> OpaquePointer? {
      while unsafe PQisBusy(handle) == 1 {
        try wait(POLLIN, until: deadline)
        try consume()
      }
      return unsafe PQgetResult(handle)
    }

    private func consume() throws(LogFailure) {
      if unsafe PQconsumeInput(handle) == 0 { throw LogFailure(.lost, words) }
    }

    private func wait(_ events: CInt, until deadline: Int64) throws(LogFailure) {
      if try !isReady(events, until: deadline) {
        throw LogFailure(.lost, "it does not answer")
      }
    }

    /// Waits for the server.
    ///
    /// - Returns: `false` if the time is up.
    private func isReady(
      _ events: CInt, until deadline: Int64
    ) throws(LogFailure) -> Bool {
      while true {
        let rest = deadline - monotonicNanoseconds()
        if rest <= 0 { return false }
        var descriptors = [
          pollfd(fd: unsafe PQsocket(handle), events: Int16(events), revents: 0),
          pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = CInt(min(rest / 1_000_000 + 1, 60_000))
        let count = unsafe poll(&descriptors, 2, milliseconds)
        if descriptors[1].revents != 0 { throw LogFailure(.closed, "the log is closed") }
        if count > 0 { return true }
      }
    }

    /// The error text of libpq.
    private var words: String {
      let text = unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
      return text.isEmpty ? "the connection is lost" : oneLine(text)
    }
  }

  extension PostgreSQLConnection {
    private func connect(until deadline: Int64) throws(LogFailure) {
      var state = PGRES_POLLING_WRITING
      var stage = CONNECTION_STARTED
      while state != PGRES_POLLING_OK {
        guard unsafe PQstatus(handle) != CONNECTION_BAD, state != PGRES_POLLING_FAILED else {
          let words = words
          let isAway =
            stage == CONNECTION_STARTED || stage == CONNECTION_NEEDED
            || Self.passing.contains { words.contains($0) }
          throw LogFailure(.notNow, words, isAway: isAway)
        }
        guard try isReady(state == PGRES_POLLING_READING ? POLLIN : POLLOUT, until: deadline) else {
          throw LogFailure(.notNow, "it does not answer", isAway: true)
        }
        stage = unsafe PQstatus(handle)
        state = unsafe PQconnectPoll(handle)
      }
    }

    /// Errors of a server that takes no connections at present, or that has gone.
    private static let passing = [
      "starting up", "shutting down", "recovery mode", "too many", "closed the connection",
      "Connection reset",
    ]

    /// Checks that the server can hold a log, and sets up the session.
    private func prepare(
      _ configuration: PostgreSQLLogConfiguration, until deadline: Int64
    ) throws(LogFailure) {
      unsafe pando_pq_quiet(handle)
      let version = unsafe PQserverVersion(handle)
      guard version >= Self.versionMinimum else {
        throw LogFailure(
          .refused, "it is version \(version / 10_000), and the log needs 12 or later")
      }
      // Shorter than the caller's wait, so that a timeout proves that nothing was done.
      let timeout = max(1, configuration.requestTimeoutInMilliseconds)
      let rows = try run(
        """
        SELECT current_setting('fsync'), set_config('statement_timeout', $1, false),
          set_config('default_transaction_isolation', 'read committed', false)
        """, [.text("\(timeout - min(500, timeout / 4))")], until: deadline)
      guard rows.text(0, 0) == "on" else {
        throw LogFailure(
          .refused, "it has fsync off: acknowledged messages may not be on disk")
      }
    }

    private static let versionMinimum: CInt = 120_000
  }
#endif
