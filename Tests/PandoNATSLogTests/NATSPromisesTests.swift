#if NATS
  import PandoFixtures
  import PandoLogFixtures
  import PandoReplication
  import Testing

  @testable import PandoNATSLog

  /// What servers do not promise is said when a log is opened.
  struct NATSPromisesTests {
    private func warnings(
      _ versions: [[Int]?], flushes: [Bool?] = [true], replicas: Int64 = 3
    ) -> [String] {
      NATSPromises(
        servers: versions.map { NATSPromises.Server(name: "one:4222", version: $0) },
        monitors: flushes.map { NATSPromises.Monitor(name: "one:8222", flushesAlways: $0) },
        replicas: replicas, stream: "orders"
      ).warnings
    }

    @Test(arguments: [[2, 10, 23], [2, 10, 29], [2, 11, 0], [2, 12, 1], [2, 14, 0]])
    func `a version that keeps and flushes acknowledged messages causes no warning`(
      version: [Int]
    ) {
      #expect(warnings([version]).isEmpty)
    }

    @Test(arguments: [[2, 9, 10], [2, 2, 0], [2, 10, 0], [2, 10, 22], [1, 4, 1]])
    func `an older version is named, with its losses`(version: [Int]) {
      let found = warnings([version])
      let text = version.map { "\($0)" }.joined(separator: ".")
      #expect(found.count == 1 && found[0].contains("one:4222 is nats-server \(text),"), "\(found)")
      #expect(found.first?.contains("2.10.23") == true)
    }

    @Test func `one replica, rare flushes, and unknown settings are named`() {
      #expect(warnings([[2, 15, 0]]).first?.contains("sync_interval") == true)
      #expect(warnings([[3, 0, 0]]).first?.contains("sync_interval") == true)
      #expect(warnings([nil]).first?.contains("version of nats-server") == true)
      let lonely = warnings([[2, 14, 0]], replicas: 1)
      #expect(lonely.count == 1 && lonely[0].contains("orders is kept on one server"), "\(lonely)")
      let late = warnings([[2, 14, 0]], flushes: [false])
      #expect(late.count == 1 && late[0].contains("sync_interval to always"), "\(late)")
      let silent = warnings([[2, 14, 0]], flushes: [nil])
      #expect(silent.count == 1 && silent[0].contains("does not say"), "\(silent)")
      let unknown = warnings([[2, 14, 0], [2, 14, 0]], flushes: [true])
      #expect(unknown.count == 1 && unknown[0].contains("monitoring"), "\(unknown)")
      #expect(warnings([[2, 9, 10], [2, 14, 0]], flushes: [false, nil], replicas: 1).count == 4)
    }

    @Test func `versions and flushing are read from answers of servers only`() {
      #expect(
        NATSPromises.version(in: #"INFO {"server_id":"a","version":"2.9.10","x":1}"#) == [2, 9, 10])
      #expect(NATSPromises.version(in: "{\n  \"version\": \"2.12.0-RC.1\",\n}") == [2, 12, 0])
      for text in [
        "", "INFO {}", #"{"version":"2.9"}"#, #"{"version":"a.b.c"}"#, #"{"version":"2.9.1"#,
      ] {
        #expect(NATSPromises.version(in: text) == nil, "\(text)")
      }
      let varz = #"{"jetstream": {"config": {"store_dir": "/x", "sync_interval": 120000000000"#
      #expect(NATSPromises.flushesAlways(in: varz + #", "sync_always": true}}}"#) == true)
      #expect(NATSPromises.flushesAlways(in: varz + "}}}") == false)
      #expect(NATSPromises.flushesAlways(in: "HTTP/1.0 404 Not Found\r\n\r\n") == nil)
      for text in ["", "https://one:8222", "one:8222", "http://", "http://a b:1", "http://one:0"] {
        #expect(NATSProbe.address(ofMonitor: text) == nil, "\(text)")
      }
      #expect(NATSProbe.address(ofMonitor: "http://[::1]:8222")?.description == "[::1]:8222")
    }

    @Test(.enabled(if: TestServers.isThere, "nats-server is not installed"))
    func `servers are asked when a log is opened`() throws {
      let version = try #require(TestServers.version)
      let isOld = version.lexicographicallyPrecedes([2, 10, 23])
      try withServers { servers in
        var configuration = servers.configuration()
        let first = try NATSLog(configuration)
        let unasked = first.waitForWarnings()
        first.close()
        #expect(unasked.contains { $0.contains("monitoring") }, "\(unasked)")
        #expect(unasked.contains { $0.contains("kept on one server") }, "\(unasked)")
        let text = version.map { "\($0)" }.joined(separator: ".")
        #expect(unasked.contains { $0.contains("nats-server \(text),") } == isOld, "\(unasked)")
        configuration.monitors = ["http://127.0.0.1:\(servers.members[0].monitorPort)"]
        let second = try NATSLog(configuration)
        let asked = second.waitForWarnings()
        #expect(second.warnings == asked)
        second.close()
        #expect(!asked.contains { $0.contains("monitoring") }, "\(asked)")
        #expect(asked.contains { $0.contains("sync_interval to always") }, "\(asked)")
      }
      // Version 2.9 refuses the setting.
      guard !isOld else { return }
      try withServers(jetStream: "sync_interval: always") { servers in
        var configuration = servers.configuration()
        configuration.monitors = ["http://127.0.0.1:\(servers.members[0].monitorPort)"]
        let log = try NATSLog(configuration)
        defer { log.close() }
        let found = log.waitForWarnings()
        #expect(found.count == 1 && found[0].contains("kept on one server"), "\(found)")
      }
    }
  }
#endif
