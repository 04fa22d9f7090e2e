#if NATS
  import CPandoNATS
  import Foundation
  import PandoFixtures
  import PandoLogFixtures
  import PandoModels
  import PandoReplication
  import PandoStore
  import PandoSystem
  import Testing

  @testable import PandoNATSLog

  /// Servers that are away, stand still, or elect a leader.
  @Suite(.enabled(if: TestServers.isThere, "nats-server is not installed"), .serialized)
  struct NATSAwayTests {
    private struct Note: Model, Codable {
      var id: String
      var modelIdentifier: String? { "Note:\(id)" }
    }

    /// As a service has it.
    private func configuration(_ servers: TestServers) -> NATSLogConfiguration {
      var configuration = servers.configuration()
      configuration.requestTimeoutInMilliseconds = 5000
      return configuration
    }

    private func open(_ path: String, _ servers: TestServers) throws -> ReplicatedStore {
      try ReplicatedStore(
        path: path, log: try NATSLog(configuration(servers)), configuration: .forTests)
    }

    /// The log of servers that may not have found themselves yet.
    private func reach(_ configuration: NATSLogConfiguration) throws -> NATSLog {
      let log = try NATSLog(configuration)
      while (try? log.end()) == nil { sched_yield() }
      return log
    }

    private func refusedWrite(
      _ store: ReplicatedStore, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
      let error = await #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
        try await store.store.write { try $0.set(Note(id: "refused")) }
      }
      #expect(error?.code == .unavailable, "\(error as Any)", sourceLocation: sourceLocation)
    }

    @Test func `no responders are no refusal, whatever code the library adds`() {
      let code = CInt(JSNotEnabledErr.rawValue)
      #expect(NATSStatus.isPassing(NATS_NO_RESPONDERS, code))
      guard case .notNow = NATSStatus.append(NATS_NO_RESPONDERS, code) else {
        Issue.record("an append was refused")
        return
      }
      // A server that says so itself refuses.
      guard case .refused = NATSStatus.append(NATS_ERR, code) else {
        Issue.record("an append was not refused")
        return
      }
    }

    @Test func `a log whose servers are away is there when they come`() throws {
      try withServers { servers in
        servers.kill(0)
        var settings = servers.configuration()
        settings.requestTimeoutInMilliseconds = 200
        let log = try NATSLog(settings)
        defer { log.close() }
        let told = Monitor<UInt64>(0)
        log.follow { position in
          told.withLock { $0 = max($0, position) }
          told.notifyAll()
        }
        let words = unavailable { _ = try log.end() }
        #expect(
          words?.contains("127.0.0.1:\(servers.members[0].port)") == true, "\(words ?? "nothing")")
        try servers.start(0)
        #expect(try log.appendSurely(bytes(1), named: "1") == 1)
        let other = try reach(servers.configuration())
        #expect(try other.append(bytes(2), named: "2", expecting: nil) == 2)
        other.close()
        told.waiting { $0 >= 2 ? () : nil }
      }
    }

    @Test func `a wrong stream is reported also if the servers start later`() throws {
      try withServers { servers in
        try NATSLog(servers.configuration()).close()
        servers.kill(0)
        var settings = servers.configuration()
        settings.subject = "another"
        let log = try NATSLog(settings)
        defer { log.close() }
        try servers.start(0)
        let words = unavailable { _ = try log.append(bytes(1), named: "1", expecting: nil) }
        #expect(words?.contains("another") == true, "\(words ?? "nothing")")
      }
    }

    @Test func `an append waits while a leader is elected`() throws {
      try withServers(3) { servers in
        let log = try reach(servers.configuration())
        defer { log.close() }
        _ = try log.appendSurely(bytes(0), named: "0")
        for round in 1...3 {
          var leader: Int?
          while leader == nil {
            let answer = try log.ask("STREAM.INFO.log")
            leader = servers.members.indices.first { answer.contains("\"leader\":\"s\($0)\"") }
          }
          let index = try #require(leader)
          servers.kill(index)
          var position: UInt64?
          while position == nil {
            do {
              position = try log.append(bytes(round), named: "\(round)", expecting: nil)
            } catch LogFault.noAnswer {}
          }
          #expect(position == UInt64(round + 1))
          try servers.start(index)
        }
      }
    }

    @Test func `writes fail while all servers stand still, and go on afterwards`() async throws {
      try await withTemporaryDirectory { path in
        let servers = try TestServers(3, in: "\(path)/servers")
        defer { servers.end() }
        try reach(servers.configuration()).close()
        let store = try open("\(path)/a", servers)
        try await store.store.write { try $0.set(Note(id: "1")) }
        for index in 0..<3 { servers.stop(index) }
        await refusedWrite(store)
        await refusedWrite(store)
        #expect(try store.store.read { try $0.contains("Note:1") })
        for index in 0..<3 { servers.go(index) }
        while (try? await store.store.write { try $0.set(Note(id: "2")) }) == nil {}
        for index in 0..<3 { servers.stop(index) }
        await store.close()
        for index in 0..<3 { servers.go(index) }
        let again = try open("\(path)/a", servers)
        #expect(try again.store.read { try $0.contains("Note:2") })
        await again.close()
      }
    }
  }
#endif
