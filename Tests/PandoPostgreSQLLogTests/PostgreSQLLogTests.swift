#if PostgreSQL
  import PandoFixtures
  import PandoLogFixtures
  import Testing

  @testable import PandoPostgreSQLLog

  /// What every log promises, over a server of its own.
  @Suite(.enabled(if: PostgreSQLServer.isThere, "PostgreSQL is not installed"))
  struct PostgreSQLLogTests {
    @Test func `messages are there once, in order, and after a restart`() throws {
      try withServer { try LogChecks($0).checkOrder() }
    }

    @Test func `so they are over an encrypted connection with certificates of both`() throws {
      try withTemporaryDirectory { folder in
        let certificates = try TestCertificates(in: folder, client: "postgres")
        try withServer(
          settings: certificates.settings,
          hosts: "local all all trust\nhostssl all all 127.0.0.1/32 cert"
        ) { server in
          let host = server.hostConfiguration()
          server.adjust = { configuration in
            configuration.servers = host.servers
            configuration.tls = certificates.tls
          }
          try LogChecks(server).checkOrder()
        }
      }
    }

    @Test func `a follower is notified of other machines' messages, also after a restart`() throws {
      try withServer { try LogChecks($0).checkFollowing(count: 300) }
    }

    @Test func `a backlog comes whole, whatever limits and places are asked for`() throws {
      try withServer { try LogChecks($0).checkBacklog(count: 1000) }
    }

    @Test func `each of several threads gets the requested messages`() throws {
      try withServer { try LogChecks($0).checkThreads() }
    }

    @Test func `a reader gets all messages that another thread appends meanwhile`() throws {
      try withServer { try LogChecks($0).checkReadingAlong(count: 500) }
    }

    @Test func `closing ends waiting calls`() throws {
      try withServer { try LogChecks($0).checkClosing() }
    }

    @Test func `messages that are not kept any more are gone`() throws {
      try withServer { try LogChecks($0).checkForgetting() }
    }

    @Test func `the newest copy is read, and one that was not ended is none`() throws {
      try withServer { try LogChecks($0).checkCopies() }
    }

    @Test func `copies are put and read while messages come`() throws {
      try withServer { try LogChecks($0).checkCopiesAlong() }
    }
  }

  extension TestCertificates {
    /// What a server is told; its files become the server's own.
    var settings: [String] {
      for file in ["server.key", "server.pem", "ca.pem", ""] {
        PostgreSQLServer.hand("\(folder)/\(file)")
      }
      return [
        "ssl=on", "ssl_cert_file=\(folder)/server.pem", "ssl_key_file=\(folder)/server.key",
        "ssl_ca_file=\(folder)/ca.pem",
      ]
    }

    var tls: LogTLS {
      LogTLS(
        authorityFile: "\(folder)/ca.pem", certificateFile: "\(folder)/client.pem",
        keyFile: "\(folder)/client.key")
    }
  }
#endif
