#if PostgreSQL
  import Foundation
  import Glibc
  import PandoFixtures
  import PandoLogFixtures
  import PandoReplication
  import PandoSystem
  import Testing

  @testable import PandoPostgreSQLLog

  /// What is wrong is said, with the server and the table, and without what is secret.
  @Suite(.enabled(if: PostgreSQLServer.isThere, "PostgreSQL is not installed"))
  struct PostgreSQLFaultTests {
    private func words(_ configuration: PostgreSQLLogConfiguration) -> String {
      unavailable {
        let log = try PostgreSQLLog(configuration)
        defer { log.close() }
        // Servers that are away refuse nobody.
        if configuration.servers[0].hasSuffix(":1") { _ = try log.end() }
      } ?? "nothing"
    }

    @Test func `failures to connect are reported without secrets`() throws {
      try withServer { server in
        let right = server.hostConfiguration()
        try PostgreSQLLog(right).close()
        let file = "\(server.folder)/other"
        try "wrong word\n".write(toFile: file, atomically: false, encoding: .utf8)
        var wrong = right
        wrong.credentials = .passwordFile(file)
        let refused = words(wrong)
        #expect(refused.contains("127.0.0.1:\(server.port)"))
        #expect(refused.contains("password"), "\(refused)")
        wrong.credentials = .passwordFile("/nowhere")
        let absent = words(wrong)
        #expect(absent.contains("/nowhere"))
        wrong.credentials = .passfile(file)
        chmod(file, 0o644)
        #expect(words(wrong).contains("others may read"))
        let line = "127.0.0.1:\(server.port):*:postgres:\(PostgreSQLServer.password)\n"
        try line.write(toFile: file, atomically: false, encoding: .utf8)
        chmod(file, 0o600)
        try PostgreSQLLog(wrong).close()
        wrong = right
        wrong.servers = ["postgresql://postgres:secret word@127.0.0.1:\(server.port)"]
        let url = words(wrong)
        #expect(url.contains("no connection string"))
        wrong.servers = ["127.0.0.1:\(server.port)"]
        wrong.database = "elsewhere"
        let database = words(wrong)
        #expect(database.contains("elsewhere"), "\(database)")
        wrong = right
        wrong.servers = ["127.0.0.1:1", "/nowhere"]
        wrong.requestTimeoutInMilliseconds = 200
        let away = words(wrong)
        #expect(away.contains("127.0.0.1:1: ") && away.contains("/nowhere:5432: "), "\(away)")
        for text in [refused, absent, url, database, away] {
          #expect(!text.contains("secret") && !text.contains("wrong word"), "\(text)")
        }
      }
    }

    @Test func `a configuration does not show the secrets in an address`() {
      let configuration = PostgreSQLLogConfiguration(
        servers: ["postgresql://all:secret@127.0.0.1:1", "example.org"], database: "d", user: "u",
        log: "log")
      var dumped = ""
      dump(configuration, to: &dumped)
      for text in ["\(configuration)", String(reflecting: configuration), dumped] {
        #expect(!text.contains("secret"))
        #expect(text.contains("example.org:5432"))
      }
    }

    @Test(arguments: [
      ("192.0.2.1", true), ("example.org:5432", true), ("127.0.0.1.example.org", true),
      ("[2001:db8::1]:5432", true), ("2001:db8::1", true), ("127.0.0.1", false), ("[::1]", false),
      ("localhost:1", false), ("/run/postgresql", false), ("/run/postgresql:5433", false),
    ])
    func `connections to other machines are encrypted, with a verified certificate`(
      server: String, isEncrypted: Bool
    ) throws {
      var configuration = PostgreSQLLogConfiguration(
        servers: [server], database: "d", user: "u", log: "log")
      func mode() throws -> String? {
        try PostgreSQLParameters.all(LogAddress(postgreSQL: server), configuration)
          .first { $0.key == "sslmode" }?.value
      }
      #expect(try mode() == (isEncrypted ? "verify-full" : "disable"))
      configuration.allowsPlainText = true
      #expect(try mode() == "disable")
      configuration.tls = .init()
      #expect(try mode() == (server.hasPrefix("/") ? "disable" : "verify-full"))
    }

    /// libpq has no name beside the host, and a connection that ignores one would verify less than is asked for.
    @Test func `a name for the certificates of all servers is refused`() {
      var configuration = PostgreSQLLogConfiguration(
        servers: ["127.0.0.1:1"], database: "d", user: "u", log: "log")
      configuration.tls = .init(serverName: "db.example.org")
      #expect(words(configuration).contains("serverName"))
    }

    @Test(arguments: [
      "", "a b", "a.b", "A", "ä", "a\"b", "a-b", String(repeating: "a", count: 41),
    ])
    func `a name that can't be one is refused`(name: String) {
      var configuration = PostgreSQLLogConfiguration(
        servers: ["127.0.0.1:1"], database: "d", user: "u", log: name)
      #expect(words(configuration).contains("name of a log"))
      (configuration.log, configuration.schema) = ("log", name)
      #expect(words(configuration).contains("name of a schema"))
    }

    @Test(arguments: [
      "", "a b", "host:0", "host:port", "host/a", "host=a", "a,b", "/a:70000", ":1",
    ])
    func `an address that can't be one is refused`(address: String) {
      #expect(throws: LogFault.self) { try LogAddress(postgreSQL: address) }
    }

    @Test func `a certificate for another name is refused, and one of another authority`() throws {
      try withTemporaryDirectory { folder in
        let certificates = try TestCertificates(in: folder, for: "DNS:localhost")
        try withServer(settings: certificates.settings) { server in
          var configuration = server.hostConfiguration()
          configuration.tls = .init(authorityFile: "\(folder)/ca.pem")
          #expect(words(configuration).contains("127.0.0.1"))
          configuration.servers = ["localhost:\(server.port)"]
          try PostgreSQLLog(configuration).close()
          configuration.tls?.authorityFile = "\(folder)/client.pem"
          #expect(words(configuration).contains("certificate"))
          configuration.tls?.authorityFile = nil
          #expect(words(configuration).contains("certificate"))
        }
      }
    }

    @Test func `tables that are missing, or of something else, are named`() throws {
      try withServer { server in
        var configuration = server.configuration()
        configuration.makesTables = false
        #expect(words(configuration).contains("no tables of a log log in schema pando"))
        try server.makeLog().close()
        try PostgreSQLLog(configuration).close()
        try server.run("UPDATE pando.log_end SET version = 2")
        #expect(words(configuration).contains("version 2"))
        try server.run("DELETE FROM pando.log_end")
        #expect(words(configuration).contains("pando.log_end has to have one row"))
        try server.run("ALTER TABLE pando.log_messages DROP CONSTRAINT log_messages_name")
        #expect(words(configuration).contains("pando.log_messages is something else"))
        try server.run("DROP TABLE pando.log_messages")
        #expect(words(server.configuration()).contains("pando.log_messages is missing"))
        try server.run("CREATE VIEW pando.log_messages AS SELECT 1 AS position")
        #expect(words(server.configuration()).contains("pando.log_messages is something else"))
      }
    }

    @Test func `a role needs the rights that the page names, and errors name a missing one`() throws
    {
      try withServer { server in
        try server.run("CREATE ROLE shop LOGIN")
        var configuration = server.configuration()
        configuration.user = "shop"
        #expect(words(configuration).contains("permission denied for database"))
        try server.run("CREATE SCHEMA pando", "GRANT USAGE ON SCHEMA pando TO shop")
        #expect(words(configuration).contains("permission denied for schema pando"))
        try server.makeLog().close()
        #expect(words(configuration).contains("permission denied for table log_end"))
        try server.run("GRANT SELECT ON ALL TABLES IN SCHEMA pando TO shop")
        let log = try PostgreSQLLog(configuration)
        defer { log.close() }
        #expect(try log.all() == [])
        let refused = unavailable { _ = try log.append([1], named: "1", expecting: nil) }
        #expect(refused?.contains("permission denied for table log_end") == true)
        try server.run(
          "REVOKE ALL ON ALL TABLES IN SCHEMA pando FROM shop",
          "GRANT SELECT, UPDATE ON pando.log_end TO shop",
          "GRANT SELECT, INSERT, DELETE ON pando.log_messages TO shop",
          "GRANT SELECT, INSERT, UPDATE, DELETE ON pando.log_copies TO shop",
          "GRANT SELECT, INSERT, DELETE ON pando.log_parts TO shop")
        #expect(try log.append(bytes(1), named: "1", expecting: 0) == 1)
        #expect(try log.all().count == 1)
        for number in 1...3 { try log.put([bytes(number)], at: 1) }
        #expect(try log.newestCopy()?.bytes == bytes(3))
        #expect(try log.retentionUsed(since: 0) > 0)
        try log.trim()
      }
    }

    @Test func `machines that come at the same time make the tables once`() throws {
      try withServer { server in
        try onThreads(6) { number in
          let log = try server.makeLog()
          defer { log.close() }
          _ = try log.append(bytes(number), named: "\(number)", expecting: nil)
        }
        #expect(try server.run("SELECT last FROM pando.log_end") == 6)
      }
    }

    @Test func `a server that loses acknowledged messages, or takes no writes, is left`()
      throws
    {
      try withServer { server in
        try withServer(settings: ["fsync=off"]) { lazy in
          #expect(words(lazy.configuration()).contains("fsync"))
        }
        try withServer(settings: ["default_transaction_read_only=on"]) { standby in
          #expect(words(standby.configuration()).contains("read-only"))
          var both = server.configuration()
          both.servers = standby.configuration().servers + both.servers
          let log = try PostgreSQLLog(both)
          defer { log.close() }
          #expect(try log.append(bytes(1), named: "1", expecting: nil) == 1)
        }
      }
    }
  }
#endif
