#if NATS
  import Foundation
  import Glibc
  import PandoFixtures
  import PandoLogFixtures
  import PandoReplication
  import PandoSystem
  import Testing

  @testable import PandoNATSLog

  /// What is wrong is said, with the server and the subject, and without what is secret.
  @Suite(.enabled(if: TestServers.isThere, "nats-server is not installed"))
  struct NATSFaultTests {
    private let users = """
      authorization {
        users: [
          {user: all, password: "secret word"}
          {user: reader, password: "secret word", permissions: {publish: ["$JS.>"], subscribe: ["_INBOX.>"]}}
          {user: writer, password: "secret word", permissions: {
            publish: {allow: [">"], deny: ["$JS.API.CONSUMER.>"]}, subscribe: ["_INBOX.>"]}}
        ]
      }
      """

    private func withUsers(
      _ body: (TestServers, (String, String) throws -> NATSLogConfiguration) throws -> Void
    ) throws {
      try withServers(settings: users) { servers in
        try body(servers) { user, password in
          let file = "\(servers.members[0].folder)/\(password)"
          try "\(password)\n".write(toFile: file, atomically: false, encoding: .utf8)
          var configuration = servers.configuration()
          configuration.credentials = .user(user, passwordFile: file)
          return configuration
        }
      }
    }

    @Test func `wrong credentials are reported without secrets`() throws {
      try withUsers { servers, configuration in
        let port = servers.members[0].port
        let words = unavailable { _ = try NATSLog(try configuration("all", "wrong word")) }
        #expect(words?.contains("127.0.0.1:\(port)") == true, "\(words ?? "nothing")")
        #expect(words?.contains("uthoriz") == true, "\(words ?? "nothing")")
        var absent = try configuration("all", "secret word")
        absent.credentials = .user("all", passwordFile: "/nowhere")
        let noFile = unavailable { _ = try NATSLog(absent) }
        #expect(noFile?.contains("/nowhere") == true, "\(noFile ?? "nothing")")
        var inURL = servers.configuration()
        inURL.servers = ["nats://all:secret word@127.0.0.1:\(port)"]
        let url = unavailable { _ = try NATSLog(inURL) }
        #expect(url?.contains("127.0.0.1:\(port)") == true, "\(url ?? "nothing")")
        for text in [words, noFile, url] {
          #expect(text?.contains("secret") != true && text?.contains("wrong word") != true)
        }
      }
    }

    @Test func `a configuration does not show the secrets in an address`() {
      let configuration = NATSLogConfiguration(
        servers: ["nats://all:secret@127.0.0.1:1", "tls://example.org"], stream: "log")
      var dumped = ""
      dump(configuration, to: &dumped)
      for text in ["\(configuration)", String(reflecting: configuration), dumped] {
        #expect(!text.contains("secret"))
        #expect(text.contains("example.org:4222"))
      }
    }

    @Test func `an NKey opens a server, and another one does not`() throws {
      // From the server's own documentation.
      let key = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
      let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
      try withServers(settings: "authorization { users: [{nkey: \(key)}] }") { servers in
        let file = "\(servers.members[0].folder)/seed"
        try "\(seed)\n".write(toFile: file, atomically: false, encoding: .utf8)
        var configuration = servers.configuration()
        configuration.credentials = .nkey(key, seedFile: file)
        try NATSLog(configuration).close()
        try "\(seed.dropLast(2))AA\n".write(toFile: file, atomically: false, encoding: .utf8)
        let words = unavailable { _ = try NATSLog(configuration) }
        #expect(words?.contains(seed.prefix(10)) == false, "\(words ?? "nothing")")
        configuration.credentials = .none
        #expect(unavailable { _ = try NATSLog(configuration) } != nil)
      }
    }

    /// The library closes a connection for good when it is refused twice.
    @Test func `a log is there again when its credentials are taken again`() throws {
      try withUsers { servers, configuration in
        let path = "\(servers.members[0].folder)/server.conf"
        let good = try String(contentsOfFile: path, encoding: .utf8)
        var settings = try configuration("all", "secret word")
        settings.requestTimeoutInMilliseconds = 1000
        let log = try NATSLog(settings)
        defer { log.close() }
        let told = Monitor<UInt64>(0)
        log.follow { position in
          told.withLock { $0 = max($0, position) }
          told.notifyAll()
        }
        _ = try log.appendSurely(bytes(1), named: "1")
        servers.kill(0)
        try good.replacingOccurrences(of: "secret word", with: "other word").write(
          toFile: path, atomically: false, encoding: .utf8)
        try servers.start(0)
        var words: String?
        while words?.contains("uthoriz") != true { words = unavailable { _ = try log.end() } }
        servers.kill(0)
        try good.write(toFile: path, atomically: false, encoding: .utf8)
        try servers.start(0)
        #expect(try log.appendSurely(bytes(2), named: "2") == 2)
        told.waiting { $0 >= 2 ? () : nil }
      }
    }

    @Test func `a subject without rights is named`() throws {
      try withUsers { servers, configuration in
        let owner = try NATSLog(try configuration("all", "secret word"))
        defer { owner.close() }
        _ = try owner.append(bytes(1), named: "1", expecting: nil)
        var restricted = try configuration("reader", "secret word")
        restricted.requestTimeoutInMilliseconds = 1000
        let reader = try NATSLog(restricted)
        defer { reader.close() }
        #expect(try reader.all().count == 1)
        let words = unavailable { _ = try reader.append(bytes(2), named: "2", expecting: nil) }
        #expect(words?.contains("pando.log") == true, "\(words ?? "nothing")")
        #expect(words?.contains("ermission") == true, "\(words ?? "nothing")")
        #expect(try owner.end() == 1)

        restricted.credentials = try configuration("writer", "secret word").credentials
        let writer = try NATSLog(restricted)
        defer { writer.close() }
        #expect(try writer.append(bytes(2), named: "2", expecting: nil) == 2)
        // What it may not is asked for a few times and not without end.
        var heard: String?
        while heard?.contains("$JS.API.CONSUMER.") != true {
          heard = unavailable { _ = try writer.messages(after: 0, limit: 10) }
        }
        let count = writer.link.state.withLock(\.refusalCount)
        let again = unavailable { _ = try writer.messages(after: 0, limit: 10) }
        #expect(again?.contains("$JS.API.CONSUMER.") == true, "\(again ?? "nothing")")
        #expect(writer.link.state.withLock(\.refusalCount) <= count + 10)
      }
    }

    @Test func `a server that takes too small messages is refused`() throws {
      try withServers(settings: "max_payload: 100000") { servers in
        let words = unavailable { _ = try NATSLog(servers.configuration()) }
        #expect(words?.contains("max_payload") == true, "\(words ?? "nothing")")
        #expect(words?.contains("100000") == true, "\(words ?? "nothing")")
      }
    }

    @Test func `a server without JetStream, and one too few for the replicas, are refused`() throws
    {
      try withServers { servers in
        var configuration = servers.configuration()
        configuration.replicas = 3
        let words = unavailable { _ = try NATSLog(configuration) }
        #expect(words?.contains("replicas") == true, "\(words ?? "nothing")")
        configuration.replicas = 1
        configuration.makesStream = false
        let absent = unavailable { _ = try NATSLog(configuration) }
        #expect(absent?.contains("there is no stream log") == true, "\(absent ?? "nothing")")
        configuration.makesStream = true
        try NATSLog(configuration).close()
        configuration.subject = "another"
        let other = unavailable { _ = try NATSLog(configuration) }
        #expect(other?.contains("another") == true, "\(other ?? "nothing")")
      }
    }

    @Test(arguments: [
      "nats://192.0.2.1:4222", "192.0.2.1", "nats://example.org", "nats://127.0.0.1.example.org",
      "nats://[2001:db8::1]:4222", "nats://127.0.0.1:1,192.0.2.1",
    ])
    func `plain text does not go to another machine`(server: String) {
      // Nobody is asked: an address of this kind answers nobody, and the test would wait.
      let words = unavailable {
        _ = try NATSLog(
          NATSLogConfiguration(servers: ["nats://127.0.0.1:1", server], stream: "log"))
      }
      #expect(words?.contains("plain text") == true || words?.contains("port") == true)
    }

    @Test(arguments: ["", "a b", "a.b", "a*", "ä", "a>", "a/b"])
    func `a name that can't be one is refused`(stream: String) {
      let configuration = NATSLogConfiguration(servers: ["nats://127.0.0.1:1"], stream: stream)
      #expect(unavailable { _ = try NATSLog(configuration) }?.contains("stream") == true)
    }

    @Test func `a certificate for another name is refused, and one that is missing`() throws {
      try withTemporaryDirectory { folder in
        let certificates = try TestCertificates(in: folder, for: "DNS:elsewhere")
        try withServers(settings: certificates.settings, scheme: "tls") { servers in
          var configuration = servers.configuration()
          configuration.tls = certificates.tls
          #expect(unavailable { _ = try NATSLog(configuration) } != nil)
          configuration.tls?.serverName = "elsewhere"
          try NATSLog(configuration).close()
          configuration.tls?.certificateFile = nil
          configuration.tls?.keyFile = nil
          #expect(unavailable { _ = try NATSLog(configuration) } != nil)
          configuration.tls = certificates.tls
          configuration.tls?.authorityFile = "\(folder)/client.pem"
          configuration.tls?.serverName = "elsewhere"
          #expect(unavailable { _ = try NATSLog(configuration) } != nil)
        }
      }
    }

    @Test func `a server whose certificate has ended is refused, and the error says so`() throws {
      try withTemporaryDirectory { folder in
        let certificates = try TestCertificates(in: folder, isExpired: true)
        try withServers(settings: certificates.settings, scheme: "tls") { servers in
          servers.tls = certificates.tls
          let words = unavailable { _ = try NATSLog(servers.configuration()) }
          #expect(words?.contains("expired") == true, "\(words as Any)")
        }
      }
    }

    @Test func `a message that was removed from the middle is gone`() throws {
      try withServers { servers in
        let log = try NATSLog(servers.configuration())
        let other = try NATSLog(servers.configuration())
        defer { for log in [log, other] { log.close() } }
        for number in 1...10 {
          _ = try log.append(bytes(number), named: "\(number)", expecting: nil)
        }
        #expect(try other.all().count == 10)
        try log.ask("STREAM.MSG.DELETE.log", #"{"seq":7}"#)
        let error = #expect(throws: LogFault.self) { try other.all(after: 4) }
        #expect(error == .gone(first: 8))
      }
    }

    @Test func `messages beyond the stream's limit are gone`() throws {
      try withServers { servers in
        var configuration = servers.configuration()
        configuration.maximalByteCount = 3 << 20
        let log = try NATSLog(configuration)
        defer { log.close() }
        for number in 1...10 {
          let part = [UInt8](repeating: UInt8(number), count: EntryLimits.partByteCount)
          #expect(try log.append(part, named: "\(number)", expecting: nil) == UInt64(number))
        }
        #expect(throws: LogFault.gone(first: 6)) { try log.messages(after: 0, limit: 100) }
        #expect(try log.all(after: 5).map(\.position) == [6, 7, 8, 9, 10])
      }
    }
  }
#endif
