#if NATS
  import PandoFixtures
  import PandoModels
  import PandoReplication
  import PandoStore
  import Testing

  @testable import PandoNATSLog

  /// Stores that follow a log over NATS.
  @Suite(.enabled(if: TestServers.isThere, "nats-server is not installed"))
  struct NATSReplicaTests {
    struct Note: Model, Codable, Equatable {
      var id: String
      var text = ""
      var modelIdentifier: String? { "Note:\(id)" }
    }

    private struct Fixture {
      let store: ModelStore
      let log: NATSLog
      let replica: Replica

      init(_ path: String, _ configuration: NATSLogConfiguration) throws {
        store = try ModelStore(path: path, configuration: .forTests)
        do {
          log = try NATSLog(configuration)
          do {
            replica = try Replica(store, log: log)
          } catch {
            log.close()
            throw error
          }
        } catch {
          store.close()
          throw error
        }
      }

      func dump() throws -> [String] {
        var lines: [String] = []
        try store.dump { lines.append($0) }
        return lines
      }

      func close() {
        store.close()
        log.close()
      }
    }

    @Test func `two stores that write to one log end equal`() throws {
      try withTemporaryDirectory { path in
        try withServers { servers in
          let first = try Fixture("\(path)/1", servers.configuration())
          let second = try Fixture("\(path)/2", servers.configuration())
          for fixture in [first, second] {
            let replica = fixture.replica
            fixture.log.follow { replica.noteEnd($0) }
          }
          try onThreads(2) { index in
            let fixture = index == 0 ? first : second
            for number in 0..<150 {
              try fixture.store.write { transaction in
                let id = number % 3 == 0 ? "shared" : "\(index) \(number)"
                let old = try transaction.snapshot.model("Note:\(id)", as: Note.self)?.text ?? ""
                try transaction.set(Note(id: id, text: "\(old) \(index)/\(number)"))
              }
            }
          }
          // One that does not fit into a message.
          let text = String(repeating: "long ", count: 300_000)
          try first.store.write { try $0.set(Note(id: "long", text: text)) }
          for fixture in [first, second] { try fixture.replica.catchUp() }
          #expect(try first.dump() == second.dump())
          let shared = try second.store.read { try $0.model("Note:shared", as: Note.self) }
          #expect(shared?.text.split(separator: " ").count == 100)
          for fixture in [first, second] { fixture.close() }
          // A third reads all of it from the log.
          let third = try Fixture("\(path)/3", servers.configuration())
          try third.replica.catchUp()
          let again = try Fixture("\(path)/1", servers.configuration())
          #expect(try third.dump() == again.dump())
          for fixture in [third, again] { fixture.close() }
        }
      }
    }

    @Test func `stores show what others write by themselves, behind a restart of the server too`()
      async throws
    {
      try await withTemporaryDirectory { path in
        let servers = try TestServers(1, in: path)
        defer { servers.end() }
        var configuration = servers.configuration()
        configuration.replicas = 1
        let (here, there) = (
          try ReplicatedStore(
            path: "\(path)/a", log: NATSLog(configuration), configuration: .forTests),
          try ReplicatedStore(
            path: "\(path)/b", log: NATSLog(configuration), configuration: .forTests)
        )
        for round in 0..<3 {
          for number in 0..<20 {
            let text = "\(round) \(number)"
            try await written(here) { try $0.set(Note(id: "here", text: text)) }
            try await written(there) { try $0.set(Note(id: "there", text: text)) }
          }
          // Nobody asks for it.
          try await shown("\(round) 19", "Note:here", in: there.store)
          try await shown("\(round) 19", "Note:there", in: here.store)
          servers.kill(0)
          let kept = try there.store.read { try $0.model("Note:here", as: Note.self) }
          #expect(kept != nil)
          try servers.start(0)
        }
        try await written(here) { try $0.set(Note(id: "last")) }
        let last = try await there.read(after: here.position) {
          try $0.model("Note:last", as: Note.self)
        }
        #expect(last != nil)
        await here.close()
        await there.close()
      }
    }

    /// Writes until the log has it: a connection that was cut says so once.
    private func written(
      _ store: ReplicatedStore, _ body: @escaping @Sendable (inout ModelTransaction) throws -> Void
    ) async throws {
      while true {
        do {
          return try await store.store.write(body)
        } catch let error as StoreError where error.code == .unavailable {
        }
      }
    }

    /// Waits until a store shows a text.
    private func shown(_ text: String, _ identifier: String, in store: ModelStore) async throws {
      for try await _ in store.changes(since: 0) {
        let found = try store.read { try $0.model(identifier, as: Note.self)?.text }
        if found == text { return }
      }
    }

    @Test func `a store stops where the log has let go of what it needs`() throws {
      try withTemporaryDirectory { path in
        try withServers { servers in
          let behind = try Fixture("\(path)/1", servers.configuration())
          let ahead = try Fixture("\(path)/2", servers.configuration())
          for number in 0..<5 {
            try ahead.store.write { try $0.set(Note(id: "\(number)")) }
          }
          try ahead.log.ask("STREAM.PURGE.log", #"{"seq":4}"#)
          let error = #expect(throws: StoreError.self) { try behind.replica.catchUp() }
          #expect(error?.code == .logLost)
          #expect(error?.description.contains("position 4") == true, "\(error as Any)")
          #expect(try behind.store.read { try $0.model("Note:0", as: Note.self) } == nil)
          // One that has all of it goes on, also when it is opened again.
          ahead.close()
          let again = try Fixture("\(path)/2", servers.configuration())
          try again.store.write { try $0.set(Note(id: "more")) }
          for fixture in [behind, again] { fixture.close() }
        }
      }
    }

    @Test func `a store does not follow the log of others`() throws {
      try withTemporaryDirectory { path in
        try withServers { servers in
          let first = try Fixture("\(path)/1", servers.configuration())
          try first.store.write { try $0.set(Note(id: "1")) }
          try first.log.ask("STREAM.DELETE.log")
          let second = try Fixture("\(path)/2", servers.configuration())
          // While it is open, it notices by the end; when it is opened again, by the identity.
          let open = #expect(throws: StoreError.self) {
            try first.store.write { try $0.set(Note(id: "2")) }
          }
          #expect(open?.code == .logLost, "\(open as Any)")
          first.close()
          let error = #expect(throws: StoreError.self) {
            try Fixture("\(path)/1", servers.configuration()).close()
          }
          #expect(error?.code == .logLost, "\(error as Any)")
          second.close()
        }
      }
    }
  }
#endif
