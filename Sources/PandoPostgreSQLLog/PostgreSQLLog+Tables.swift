#if PostgreSQL
  import PandoReplication

  /// Checking and creating the tables.
  extension PostgreSQLLog {
    /// Checks that the tables exist and are valid; creates them if the configuration says so.
    ///
    /// - Throws: ``LogFault`` `unavailable`, with the reason.
    func findTables() throws {
      try link.repeating("log \(tables.title)") { connection, deadline in
        if try areThere(connection, deadline) { return try checkVersion(connection, deadline) }
        guard configuration.makesTables else {
          throw LogFailure(
            .refused,
            "there are no tables of a log \(tables.log) in schema \(tables.schema); a new log is begun with "
              + "makesTables, and one that was lost is repaired")
        }
        try make(connection, deadline)
      }
    }

    /// - Returns: `false` if none of the tables exists.
    private func areThere(_ connection: PostgreSQLConnection, _ deadline: Int64) throws -> Bool {
      let expected = tables.expected
      let names = expected.keys.sorted()
      let rows = try connection.run(
        PostgreSQLTables.look, [.text(tables.schema)] + names.map { .text($0) }, until: deadline)
      if rows.isEmpty { return false }
      var found: Set<String> = []
      for row in 0..<rows.count {
        let name = rows.text(row, 0)
        found.insert(name)
        guard rows.text(row, 1) == "rp", let shape = expected[name],
          rows.text(row, 2) == shape.columns, rows.text(row, 3) == shape.constraints
        else {
          throw LogFailure(
            .refused, "\(tables.schema).\(name) is not a table of a log")
        }
      }
      guard let absent = names.first(where: { !found.contains($0) }) else { return true }
      throw LogFailure(.refused, "the table \(tables.schema).\(absent) is missing")
    }

    private func checkVersion(_ connection: PostgreSQLConnection, _ deadline: Int64) throws {
      let rows = try connection.run("SELECT version FROM \(tables.end)", until: deadline)
      guard rows.count == 1, let version = rows.number(0, 0) else { throw isWithoutEnd }
      guard version == PostgreSQLTables.version else {
        throw LogFailure(
          .refused,
          "its tables are of version \(version); this program supports \(PostgreSQLTables.version)")
      }
    }

    var isWithoutEnd: LogFailure {
      LogFailure(.refused, "\(tables.schema).\(tables.log)_end must have one row")
    }

    /// Creates the tables, unless another process does at the same time.
    private func make(_ connection: PostgreSQLConnection, _ deadline: Int64) throws {
      func run(_ sql: String, _ values: [PostgreSQLValue] = []) throws -> PostgreSQLRows {
        try connection.run(sql, values, until: deadline)
      }
      _ = try run("BEGIN")
      do {
        _ = try run(
          "SELECT pg_advisory_xact_lock($1)", [.number(Int64(bitPattern: tables.number))])
        if try !areThere(connection, deadline) {
          let schemas = try run(
            "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", [.text(tables.schema)])
          if schemas.isEmpty { _ = try run("CREATE SCHEMA IF NOT EXISTS \"\(tables.schema)\"") }
          for definition in tables.definitions { _ = try run(definition) }
          _ = try run(
            "INSERT INTO \(tables.end) VALUES (0, 0, $1, $2, $3)",
            [
              .number(Int64(configuration.maximalAgeInSeconds)),
              .number(Int64(configuration.maximalByteCount)), .number(PostgreSQLTables.version),
            ])
        }
        _ = try run("COMMIT")
      } catch {
        _ = try? run("ROLLBACK")
        throw error
      }
    }
  }
#endif
