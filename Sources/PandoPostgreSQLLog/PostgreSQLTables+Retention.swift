#if PostgreSQL
  import PandoReplication

  /// Removal of old messages.
  extension PostgreSQLTables {
    /// Removes the first messages, as far as they exceed the limits of age or size.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - deadline: Returns the deadline of the next statement.
    /// - Throws: ``LogFailure``.
    func trim(_ connection: PostgreSQLConnection, _ deadline: () -> Int64) throws {
      while true {
        // The last message is never removed.
        let rows = try connection.run(
          """
          WITH oldest AS (
            SELECT m.position,
              e.bytes_kept > 0 AND m.total <= e.total - e.bytes_kept
              OR e.seconds_kept > 0
                AND m.appended_at < clock_timestamp() - e.seconds_kept * interval '1 second' AS goes
            FROM \(messages) m CROSS JOIN \(end) e
            WHERE m.position < e.last ORDER BY m.position LIMIT $1),
          gone AS (
            DELETE FROM \(messages) WHERE position IN (SELECT position FROM oldest WHERE goes)
              AND position < coalesce(
                (SELECT min(position) FROM oldest WHERE NOT goes), 9223372036854775807)
            RETURNING position)
          SELECT count(*) FROM gone
          """, [.number(Self.trimCount)], until: deadline())
        if rows.number(0, 0) ?? 0 < Self.trimCount { return }
      }
    }

    /// The number of messages removed by one statement.
    private static let trimCount: Int64 = 500
  }

  extension PostgreSQLLog {
    /// The share of the retention limits used since a position; see `ReplicationLog`.
    ///
    /// - Parameter position: The position.
    /// - Returns: The larger share of the age limit and the size limit.
    /// - Throws: `LogFault`.
    public func retentionUsed(since position: UInt64) throws -> Double {
      try find()
      return try link.repeating("what log \(tables.title) keeps") { connection, deadline in
        let rows = try connection.run(
          """
          SELECT e.last, e.total, e.seconds_kept, e.bytes_kept, m.total - octet_length(m.message),
            (extract(epoch FROM clock_timestamp() - m.appended_at) * 1000)::bigint
          FROM \(tables.end) e LEFT JOIN \(tables.messages) m ON m.position = $1
          """, [.number(Int64(clamping: position &+ 1))], until: deadline)
        guard !rows.isEmpty, let last = rows.number(0, 0), let total = rows.number(0, 1),
          let secondsKept = rows.number(0, 2), let bytesKept = rows.number(0, 3)
        else { throw isWithoutEnd }
        guard UInt64(clamping: last) > position else { return 0 }
        guard let before = rows.number(0, 4), let age = rows.number(0, 5) else { return 1 }
        let ofBytes = bytesKept > 0 ? Double(total - before) / Double(bytesKept) : 0
        let ofTime = secondsKept > 0 ? Double(age) / 1000 / Double(secondsKept) : 0
        return max(ofBytes, ofTime)
      }
    }
  }
#endif
