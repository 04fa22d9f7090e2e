#if PostgreSQL
  import CPandoPostgreSQL
  public import PandoReplication
  import PandoSystem

  /// A log over tables of PostgreSQL 12 or later.
  ///
  /// The server acknowledges a message after its commit is on disk, there and on the synchronous
  /// standbys. An append takes its position under the lock of one row, so positions have no gap and
  /// follow the order of commits. A name stays unique while its message is kept. Followers receive
  /// `NOTIFY`, and also read the end each second, because poolers lose notices.
  ///
  /// ```swift
  /// let log = try PostgreSQLLog(
  ///   PostgreSQLLogConfiguration(
  ///     servers: ["/run/postgresql"], database: "shop", user: "shop", log: "orders"))
  /// let store = try ReplicatedStore(path: "/var/lib/shop", log: log)
  /// ```
  ///
  /// A role that does not create the tables needs these rights:
  ///
  /// ```sql
  /// GRANT USAGE ON SCHEMA pando TO shop;
  /// GRANT SELECT, UPDATE ON pando.orders_end TO shop;
  /// GRANT SELECT, INSERT, DELETE ON pando.orders_messages TO shop;
  /// GRANT SELECT, INSERT, UPDATE, DELETE ON pando.orders_copies TO shop;
  /// GRANT SELECT, INSERT, DELETE ON pando.orders_parts TO shop;
  /// ```
  ///
  /// A role that creates them needs `CREATE` on the schema, or on the database if the schema is
  /// missing. The columns `seconds_kept` and `bytes_kept` of `orders_end` limit the kept messages;
  /// change them at any time. A pooler must pool sessions, not transactions.
  ///
  /// Any thread; concurrent calls use connections of their own.
  public final class PostgreSQLLog: ReplicationLog {
    let configuration: PostgreSQLLogConfiguration
    let tables: PostgreSQLTables
    let link: PostgreSQLLink
    private let watch: PostgreSQLWatch
    /// Whether the tables were found and checked.
    private let isFound = Locked(false)

    /// Connects to a log.
    ///
    /// With ``PostgreSQLLogConfiguration/makesTables``, it creates missing tables.
    ///
    /// If no server is reachable, the first call that reaches one does this.
    ///
    /// - Parameter configuration: The settings of the log.
    /// - Throws: `LogFault` `unavailable` if a server refuses, or the tables have another shape.
    ///   The error names the server and the reason.
    public init(_ configuration: PostgreSQLLogConfiguration) throws {
      self.configuration = configuration
      tables = try PostgreSQLTables(configuration)
      link = try PostgreSQLLink(configuration)
      watch = PostgreSQLWatch(link, tables)
      guard link.isConnected else { return }
      do {
        try find()
      } catch {
        if link.wasAway { return }
        close()
        throw error
      }
    }

    deinit { close() }

    /// Checks the tables, once.
    func find() throws {
      if isFound.withLock(\.self) { return }
      try findTables()
      isFound.withLock { $0 = true }
    }

    /// Appends a message; see `ReplicationLog`.
    ///
    /// - Parameters:
    ///   - message: The bytes, at most slightly more than 512 KiB.
    ///   - name: The name of the message. While a message of that name is kept, the log returns its
    ///     position and appends nothing.
    ///   - end: If given, the log appends only if this is the position of the last message. It
    ///     checks this before the name.
    /// - Returns: The position, once the message is on disk.
    /// - Throws: `LogFault`: `noAnswer` after the request timeout, or if the connection was cut.
    public func append(
      _ message: [UInt8], named name: String, expecting end: UInt64?
    ) throws -> UInt64 {
      try find()
      let position = try link.repeating("appending to log \(tables.title)", isAppend: true) {
        connection, deadline in
        try append(message, named: name, expecting: end, connection, deadline)
      }
      watch.noteAppended(message.count)
      return position
    }

    /// Reads the next messages; see `ReplicationLog`.
    ///
    /// - Parameters:
    ///   - position: The position before the first message.
    ///   - limit: The maximum number, at least 1; large messages make the result shorter.
    /// - Returns: The messages, in order; empty at the end of the log.
    /// - Throws: `LogFault`.
    public func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
      precondition(limit > 0, "a limit of \(limit) messages")
      guard let after = Int64(exactly: position) else { return [] }
      try find()
      return try link.repeating("messages of log \(tables.title)") { connection, deadline in
        try messages(after: after, limit: limit, connection, deadline)
      }
    }

    /// Reads one message; see `ReplicationLog`.
    ///
    /// - Parameter position: The position, from 1.
    /// - Returns: The message; `nil` if the log has none there.
    /// - Throws: `LogFault`.
    public func message(at position: UInt64) throws -> LoggedMessage? {
      guard let place = Int64(exactly: position) else { return nil }
      try find()
      return try link.repeating("a message of log \(tables.title)") { connection, deadline in
        let rows = try connection.run(
          "SELECT message FROM \(tables.messages) WHERE position = $1", [.number(place)],
          until: deadline)
        guard !rows.isEmpty, let bytes = rows.bytes(0, 0) else { return nil }
        return LoggedMessage(position: position, bytes: bytes)
      }
    }

    /// The number of connections made or lost.
    public var interruptionCount: UInt64 { link.changeCount }

    /// The position of the last message; see `ReplicationLog`.
    ///
    /// - Returns: The position; 0 if there is none.
    /// - Throws: `LogFault`.
    public func end() throws -> UInt64 {
      try find()
      return try link.repeating("the end of log \(tables.title)") { connection, deadline in
        let rows = try connection.run("SELECT last FROM \(tables.end)", until: deadline)
        guard let last = rows.isEmpty ? nil : rows.number(0, 0) else { throw isWithoutEnd }
        return UInt64(clamping: last)
      }
    }

    /// Sets a closure that receives the positions of new messages; see `ReplicationLog`.
    ///
    /// - Parameter onEnd: Receives positions, on a thread of the log.
    public func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) { watch.follow(onEnd) }

    /// Ends all connections; waiting and later calls throw.
    public func close() {
      guard link.close() else { return }
      watch.close()
    }
  }

  extension PostgreSQLLog {
    /// Appends in one statement, which locks the row of the end; after the wait for the lock, the
    /// server checks the condition again.
    private func append(
      _ message: [UInt8], named name: String, expecting end: UInt64?,
      _ connection: PostgreSQLConnection, _ deadline: Int64
    ) throws -> UInt64 {
      if let end, Int64(exactly: end) == nil { throw LogFault.endsElsewhere }
      let answer = Result { () throws(LogFailure) in
        try connection.run(
          """
          WITH moved AS (
            UPDATE \(tables.end) SET last = last + 1, total = total + octet_length($1)
            WHERE $3::bigint IS NULL OR last = $3 RETURNING last, total),
          added AS (
            INSERT INTO \(tables.messages) (position, name, message, total, appended_at)
            SELECT last, $2, $1, total, clock_timestamp() FROM moved RETURNING position)
          SELECT position, pg_notify($4, position::text),
            CASE WHEN current_setting('synchronous_commit') IN ('on', 'remote_apply') THEN ''
              ELSE set_config('synchronous_commit', 'on', true) END
          FROM added
          """,
          [
            .bytes(message), .text(name), .number(end.map { Int64($0) }), .text(tables.channel),
          ], until: deadline)
      }
      if case .failure(let failure) = answer, failure.isTwice,
        failure.constraint == tables.nameConstraint
      {
        let rows = try connection.run(
          "SELECT position FROM \(tables.messages) WHERE name = $1", [.text(name)],
          until: deadline)
        if let position = rows.isEmpty ? nil : rows.number(0, 0) { return UInt64(position) }
        throw LogFailure(.notNow, "a message of the same name was just removed")
      }
      let rows = try answer.get()
      guard let position = rows.isEmpty ? nil : rows.number(0, 0) else {
        if end == nil { throw isWithoutEnd }
        throw LogFault.endsElsewhere
      }
      return UInt64(position)
    }

    private func messages(
      after position: Int64, limit: Int, _ connection: PostgreSQLConnection, _ deadline: Int64
    ) throws -> [LoggedMessage] {
      let (highest, isFar) = position.addingReportingOverflow(Int64(limit))
      // The end, in each row, with or without a message.
      let rows = try connection.run(
        """
        SELECT e.last, m.position, m.message FROM \(tables.end) e
        LEFT JOIN \(tables.messages) m ON m.position > $1 AND m.position <= $2
          AND m.total <= $3 + (SELECT total FROM \(tables.messages) WHERE position = $1 + 1)
        ORDER BY m.position
        """,
        [
          .number(position), .number(isFar ? Int64.max : highest), .number(Self.readByteCount),
        ], until: deadline)
      guard let last = rows.isEmpty ? nil : rows.number(0, 0) else { throw isWithoutEnd }
      var messages: [LoggedMessage] = []
      for row in 0..<rows.count {
        // A later call reports the messages behind a gap.
        guard rows.number(row, 1) == position + Int64(row) + 1, let bytes = rows.bytes(row, 2)
        else { break }
        messages.append(
          LoggedMessage(position: UInt64(position) + UInt64(row) + 1, bytes: bytes))
      }
      if !messages.isEmpty || last <= position { return messages }
      let kept = try connection.run(
        "SELECT position FROM \(tables.messages) WHERE position > $1 ORDER BY position LIMIT 1",
        [.number(position)], until: deadline)
      let first = (kept.isEmpty ? nil : kept.number(0, 0)) ?? last + 1
      throw LogFault.gone(first: UInt64(clamping: first))
    }

    /// The approximate number of bytes of one read.
    private static let readByteCount: Int64 = 16 << 20
  }
#endif
