#if PostgreSQL
  import PandoFixtures
  import PandoLogFixtures
  import PandoPostgreSQLLog
  import Testing

  /// The procedures of docs/replication.md, over servers of PostgreSQL.
  @Suite(
    .enabled(if: PostgreSQLServer.isThere, "PostgreSQL is not installed"),
    .enabled(if: ProcedureChecks.isCommandThere, "pando was not built beside the tests"))
  struct PostgreSQLProcedureTests {
    private func withProcedures(_ body: (ProcedureChecks) async throws -> Void) async throws {
      try await withTemporaryDirectory { path in
        try await withTemporaryDirectory { folder in
          let server = try PostgreSQLServer(in: folder)
          defer { server.kill() }
          let log =
            "--server \(server.configuration().servers[0]) --database postgres --user postgres --log log"
          try await body(ProcedureChecks(server, folder: path, log: log))
        }
      }
    }

    @Test func `a log is begun once, machines join it, and one leaves`() async throws {
      try await withProcedures { try await $0.checkMachines() }
    }

    @Test func `all machines go back to a backup`() async throws {
      try await withProcedures { try await $0.checkRestoring() }
    }

    @Test func `a log that was lost goes on from one machine`() async throws {
      try await withProcedures { try await $0.checkLostLog() }
    }

    @Test func `a log that another store has begun is emptied before it goes on`() async throws {
      try await withProcedures { try await $0.checkOtherLog() }
    }

    @Test func `machines are compared, and differences are named`() async throws {
      try await withProcedures { try await $0.checkComparing() }
    }

    @Test func `a write without an answer is looked up by its name`() async throws {
      try await withProcedures { try await $0.checkOutcome() }
    }

    @Test func `machines get a newer program one after another`() async throws {
      try await withProcedures { try await $0.checkUpgrading() }
    }

    @Test func `servers restart, and machines go on`() async throws {
      try await withProcedures { try await $0.checkServers() }
    }
  }
#endif
