#if PostgreSQL
  public import PandoReplication
  import PandoSystem

  /// Copies of stores, in two tables: parts, and a row that closes each copy.
  extension PostgreSQLLog: LogCopies {
    /// Stores a copy of a store in the log, and keeps the two newest.
    ///
    /// Each part has a transaction of its own, so none stays open while the next part is made.
    ///
    /// - Parameters:
    ///   - position: The position that the store had applied.
    ///   - nextPart: Returns the parts of the copy, then `nil`; a part above 512 KiB is split.
    /// - Throws: `LogFault`, and errors of `nextPart`. The copy is then invalid; a copy stored a
    ///   day later removes its parts.
    public func putSnapshot(at position: UInt64, _ nextPart: () throws -> [UInt8]?) throws {
      try find()
      let what = "putting a copy into log \(tables.title)"
      let number = try link.repeating(what) { connection, deadline in
        try connection.run(
          """
          INSERT INTO \(tables.copies) (position, begun_at) VALUES ($1, clock_timestamp())
          RETURNING number
          """, [.number(Int64(clamping: position))], until: deadline
        ).number(0, 0) ?? 0
      }
      var (count, checksum): (Int64, UInt64) = (0, 0)
      try split(EntryLimits.partByteCount, nextPart) { part in
        checksum = SealedBytes.hash(part, after: checksum)
        let values: [PostgreSQLValue] = [
          .number(number), .number(count), .bytes(part), .number(Int64(bitPattern: checksum)),
        ]
        try link.repeating(what) { connection, deadline in
          // The part may exist already, if the answer of the first attempt was lost.
          _ = try connection.run(
            "INSERT INTO \(tables.parts) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING", values,
            until: deadline)
        }
        count += 1
      }
      try link.repeating(what) { connection, deadline in
        try close(number, count, checksum, connection, deadline)
      }
      try forgetOldSnapshots()
    }

    /// Reads the newest complete copy.
    ///
    /// - Parameter body: Receives the parts in order.
    /// - Returns: The position that the store had applied; `nil` if there is no copy.
    /// - Throws: `LogFault`, and errors of `body`.
    public func readSnapshot(_ body: ([UInt8]) throws -> Void) throws -> UInt64? {
      try readNewestCopy(body)
    }

    /// The position of the newest copy; see `ReplicationLog`.
    ///
    /// - Returns: The position; `nil` if there is none.
    /// - Throws: `LogFault`.
    public func snapshotPosition() throws -> UInt64? { try copies().first?.position }

    /// Empties the log: removes all messages and copies.
    ///
    /// For a log that continues from one store, without followers. Positions are not reset.
    ///
    /// - Throws: `LogFault` `unavailable`; some rows may be removed by then.
    /// - Complexity: O(size of the removed rows), at the server.
    public func removeAll() throws {
      for table in [tables.messages, tables.copies, tables.parts] {
        try link.repeating("emptying log \(tables.title)") { connection, deadline in
          _ = try connection.run("DELETE FROM \(table)", until: deadline)
        }
      }
    }

    /// The age of the newest copy, by the clock of the server; see `ReplicationLog`.
    ///
    /// - Returns: The age; `nil` if there is no copy.
    /// - Throws: `LogFault`.
    public func snapshotAge() throws -> Duration? {
      try find()
      return try link.repeating("copies of log \(tables.title)") { connection, deadline in
        let rows = try connection.run(
          """
          SELECT (extract(epoch FROM clock_timestamp() - begun_at) * 1000)::bigint
          FROM \(tables.copies) WHERE closed IS NOT NULL ORDER BY closed DESC LIMIT 1
          """, until: deadline)
        let age = rows.isEmpty ? nil : rows.number(0, 0)
        return age.map { .milliseconds(max(0, $0)) }
      }
    }

    package struct Copy: LogCopy {
      var number: Int64
      package var position: UInt64
      var partCount: Int64
      var checksum: UInt64
    }

    package func copies() throws -> [Copy] {
      try find()
      return try link.repeating("copies of log \(tables.title)") { connection, deadline in
        let rows = try connection.run(
          """
          SELECT number, position, part_count, checksum FROM \(tables.copies)
          WHERE closed IS NOT NULL ORDER BY closed DESC
          """, until: deadline)
        return (0..<rows.count).compactMap { row in
          guard let number = rows.number(row, 0), let position = rows.number(row, 1),
            let count = rows.number(row, 2), let checksum = rows.number(row, 3)
          else { return nil }
          return Copy(
            number: number, position: UInt64(clamping: position), partCount: count,
            checksum: UInt64(bitPattern: checksum))
        }
      }
    }

    package func forEachPart(
      of copy: Copy, _ body: ([UInt8]) throws -> Void
    ) throws -> Bool {
      guard copy.partCount >= 0 else { return false }
      var checksum: UInt64 = 0
      for index in 0..<copy.partCount {
        let part = try link.repeating("copies of log \(tables.title)") { connection, deadline in
          let rows = try connection.run(
            "SELECT bytes, checksum FROM \(tables.parts) WHERE copy = $1 AND part = $2",
            [.number(copy.number), .number(index)], until: deadline)
          return rows.isEmpty ? nil : rows.bytes(0, 0).map { ($0, rows.number(0, 1)) }
        }
        guard let (bytes, sum) = part else { return false }
        checksum = SealedBytes.hash(bytes, after: checksum)
        guard sum == Int64(bitPattern: checksum) else { return false }
        try body(bytes)
      }
      return checksum == copy.checksum
    }

    /// Closes a copy as the newest one; does nothing if it is closed already.
    private func close(
      _ number: Int64, _ count: Int64, _ checksum: UInt64, _ connection: PostgreSQLConnection,
      _ deadline: Int64
    ) throws {
      let answer = Result { () throws(LogFailure) in
        try connection.run(
          """
          UPDATE \(tables.copies) SET part_count = $2, checksum = $3, closed = coalesce(
            closed, (SELECT coalesce(max(closed), 0) + 1 FROM \(tables.copies)))
          WHERE number = $1 RETURNING number
          """,
          [.number(number), .number(count), .number(Int64(bitPattern: checksum))], until: deadline)
      }
      if case .failure(let failure) = answer, failure.isTwice {
        // Another copy was closed at the same time.
        throw LogFailure(.notNow, failure.reason)
      }
      if try answer.get().isEmpty {
        throw LogFailure(.refused, "the copy was removed before it was complete")
      }
    }

    /// Removes all but the two newest copies, and copies begun a day ago and never closed.
    private func forgetOldSnapshots() throws {
      let what = "removing old copies of log \(tables.title)"
      let old = try link.repeating(what) { connection, deadline in
        let rows = try connection.run(
          """
          SELECT number FROM \(tables.copies) WHERE closed IS NOT NULL AND number NOT IN (
            SELECT number FROM \(tables.copies) WHERE closed IS NOT NULL
            ORDER BY closed DESC LIMIT $1)
          OR closed IS NULL AND begun_at < clock_timestamp() - interval '1 day'
          """, [.number(Int64(Self.keptCopyCount))], until: deadline)
        return (0..<rows.count).compactMap { rows.number($0, 0) }
      }
      for number in old {
        var isEmpty = false
        while !isEmpty {
          isEmpty = try link.repeating(what) { connection, deadline in
            try connection.run(
              """
              DELETE FROM \(tables.parts) WHERE copy = $1 AND part IN (
                SELECT part FROM \(tables.parts) WHERE copy = $1 LIMIT $2) RETURNING part
              """, [.number(number), .number(Self.removedCount)], until: deadline
            ).isEmpty
          }
        }
        try link.repeating(what) { connection, deadline in
          _ = try connection.run(
            "DELETE FROM \(tables.copies) WHERE number = $1", [.number(number)], until: deadline)
        }
      }
    }

    /// The number of parts removed by one statement.
    private static let removedCount: Int64 = 100
  }
#endif
