#if PostgreSQL
  import CPandoPostgreSQL
  public import PandoReplication
  import PandoSystem

  /// A log over tables of PostgreSQL 12 or later.
  ///
  /// A message is acknowledged when its commit is on the disk of the server, and of the standbys that the server
  /// waits for. Positions are given out under a lock of one row, so that they have no gap and come in the
  /// order of the commits. A name is known as long as its message is kept. Those who follow are told by
  /// `NOTIFY`, and look for themselves each second: poolers lose notices.
  ///
  /// ```swift
  /// let log = try PostgreSQLLog(
  ///   PostgreSQLLogConfiguration(
  ///     servers: ["/run/postgresql"], database: "shop", user: "shop", log: "orders"))
  /// let store = try ReplicatedStore(path: "/var/lib/shop", log: log)
  /// ```
  ///
  /// A role that makes no tables needs these rights:
  ///
  /// ```sql
  /// GRANT USAGE ON SCHEMA pando TO shop;
  /// GRANT SELECT, UPDATE ON pando.orders_end TO shop;
  /// GRANT SELECT, INSERT, DELETE ON pando.orders_messages TO shop;
  /// GRANT SELECT, INSERT, UPDATE, DELETE ON pando.orders_copies TO shop;
  /// GRANT SELECT, INSERT, DELETE ON pando.orders_parts TO shop;
  /// ```
  ///
  /// One that makes them needs `CREATE` on the schema, or on the database where the schema is not there. The tables
  /// say how much is kept: `seconds_kept` and `bytes_kept` of `orders_end` can be changed at any time. A pooler in
  /// between has to pool sessions and not transactions.
  ///
  /// Any thread; calls that come at the same time have connections of their own.
  public final class PostgreSQLLog: ReplicationLog {
    let configuration: PostgreSQLLogConfiguration
    let tables: PostgreSQLTables
    let link: PostgreSQLLink
    private let watch: PostgreSQLWatch
    /// Whether the tables were there, and as they have to be.
    private let isFound = Locked(false)

    /// Connects to a log.
    ///
    /// With ``PostgreSQLLogConfiguration/makesTables`` it makes the tables that are not there.
    ///
    /// Where the servers are away that is done with the first call that reaches them.
    ///
    /// - Parameter configuration: Where it is.
    /// - Throws: `LogFault` `unavailable` where the servers refuse, or the tables are something else; it names the server
    ///   and what is wrong.
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

    /// Sees, once, that the tables are there and as they have to be.
    func find() throws {
      if isFound.withLock(\.self) { return }
      try findTables()
      isFound.withLock { $0 = true }
    }

    /// Appends a message; see `ReplicationLog`.
    ///
    /// - Parameters:
    ///   - message: Its bytes, 512 KiB and a little at most.
    ///   - name: What the log knows it by as long as it keeps it: a second message of that name is not appended,
    ///     and the position is that of the first one.
    ///   - end: The position of the last message, if it is to be refused behind any other; this is looked at
    ///     before the name.
    /// - Returns: Its position, once it is on disk.
    /// - Throws: `LogFault`: `noAnswer` when the request timeout is over, or the connection was cut.
    public func append(
      _ message: [UInt8], named name: String, expecting end: UInt64?
    ) throws -> UInt64 {
      try find()
      let position = try link.call("appending to log \(tables.title)", isAppend: true) {
        connection, deadline in
        try append(message, named: name, expecting: end, connection, deadline)
      }
      watch.noteAppended(message.count)
      return position
    }

    /// Reads the next messages; see `ReplicationLog`.
    ///
    /// - Parameters:
    ///   - position: The position behind which they begin.
    ///   - limit: How many at most; at least 1. There may be fewer if they are large.
    /// - Returns: The messages; none if there are none.
    /// - Throws: `LogFault`.
    public func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
      precondition(limit > 0, "a limit of \(limit) messages")
      guard let after = Int64(exactly: position) else { return [] }
      try find()
      return try link.call("messages of log \(tables.title)") { connection, deadline in
        try messages(after: after, limit: limit, connection, deadline)
      }
    }

    /// Reads one message; see `ReplicationLog`.
    ///
    /// - Parameter position: Its position, from 1.
    /// - Returns: The message; `nil` if it is not there.
    /// - Throws: `LogFault`.
    public func message(at position: UInt64) throws -> LoggedMessage? {
      guard let place = Int64(exactly: position) else { return nil }
      try find()
      return try link.call("a message of log \(tables.title)") { connection, deadline in
        let rows = try connection.run(
          "SELECT message FROM \(tables.messages) WHERE position = $1", [.number(place)],
          until: deadline)
        guard !rows.isEmpty, let bytes = rows.bytes(0, 0) else { return nil }
        return LoggedMessage(position: position, bytes: bytes)
      }
    }

    /// How often a connection was made, or lost.
    public var interruptionCount: UInt64 { link.changeCount }

    /// The position of the last message; see `ReplicationLog`.
    ///
    /// - Returns: The position; 0 if there is none.
    /// - Throws: `LogFault`.
    public func end() throws -> UInt64 {
      try find()
      return try link.call("the end of log \(tables.title)") { connection, deadline in
        let rows = try connection.run("SELECT last FROM \(tables.end)", until: deadline)
        guard let last = rows.isEmpty ? nil : rows.number(0, 0) else { throw isWithoutEnd }
        return UInt64(clamping: last)
      }
    }

    /// Has a closure told of messages as they come; see `ReplicationLog`.
    ///
    /// - Parameter onEnd: Gets positions, on a thread of the log.
    public func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) { watch.follow(onEnd) }

    /// Ends all connections; later calls throw, and one that waits is let go.
    public func close() {
      guard link.close() else { return }
      watch.close()
    }
  }

  extension PostgreSQLLog {
    /// One statement, and so one round trip: it locks the row of the end, and the server looks at the condition again
    /// when it has waited for the lock.
    private func append(
      _ message: [UInt8], named name: String, expecting end: UInt64?,
      _ connection: PostgreSQLConnection, _ deadline: Int64
    ) throws -> UInt64 {
      if let end, Int64(exactly: end) == nil { throw LogFault.endsElsewhere }
      let answer = Result { () throws(PostgreSQLFailure) in
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
        throw PostgreSQLFailure(.notNow, "a message of the same name was just let go")
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
      // The end, beside each message or alone.
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
        // What lies behind a gap is told of when it is asked for.
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

    /// About how many bytes are read at once.
    private static let readByteCount: Int64 = 16 << 20
  }
#endif
