#if NATS
  import CPandoNATS
  import PandoFixtures
  import PandoModels
  import PandoReplication
  import PandoStore
  import Testing

  @testable import PandoNATSLog

  @Suite(.enabled(if: TestServers.isThere, "nats-server is not installed"))
  struct NATSSnapshotTests {
    private func put(_ log: NATSLog, at position: UInt64, _ parts: [[UInt8]]) throws {
      var rest = parts[...]
      try log.putSnapshot(at: position) { rest.popFirst() }
    }

    private func newest(_ log: NATSLog) throws -> (position: UInt64, bytes: [UInt8])? {
      var bytes: [UInt8] = []
      return try log.readSnapshot { bytes += $0 }.map { ($0, bytes) }
    }

    @Test func `the newest copy is read, and two are kept`() throws {
      try withServers { servers in
        let log = try NATSLog(servers.configuration())
        let other = try NATSLog(servers.configuration())
        defer { for log in [log, other] { log.close() } }
        #expect(try newest(log) == nil)
        let large = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try put(log, at: 5, [large, bytes("end")])
        #expect(try newest(other)?.position == 5)
        #expect(try newest(other)?.bytes == large + bytes("end"))
        try put(other, at: 6, [bytes(6)])
        try put(log, at: 7, [bytes(7), [], bytes("seven")])
        #expect(try newest(log)?.bytes == bytes("7seven"))
        let kept = try #require(
          try log.lookIfThere("log-snapshots", "\(log.configuration.snapshotSubject).>"))
        #expect(kept.count == 6)
        #expect(kept.has_subject)
        // The log itself has nothing of it.
        #expect(try log.end() == 0)
      }
    }

    @Test func `a copy that is not whole is passed over`() throws {
      try withServers { servers in
        let log = try NATSLog(servers.configuration())
        defer { log.close() }
        struct Stop: Error {}
        // Nothing but one that was not ended.
        var rest = [bytes(1)][...]
        #expect(throws: Stop.self) {
          try log.putSnapshot(at: 1) {
            guard let part = rest.popFirst() else { throw Stop() }
            return part
          }
        }
        #expect(try newest(log) == nil)
        try put(log, at: 2, [bytes("a"), bytes("b")])
        try put(log, at: 3, [bytes("c"), bytes("d")])
        let state = try log.look("log-snapshots", "\(log.configuration.snapshotSubject).>")
        // A part of the newest is gone.
        try log.ask("STREAM.MSG.DELETE.log-snapshots", "{\"seq\":\(state.last - 1)}")
        #expect(try newest(log)?.position == 2)
        #expect(try newest(log)?.bytes == bytes("ab"))
        // Records that are none, or of parts that are none.
        let subject = "\(log.configuration.snapshotSubject).end"
        var record = SnapshotRecord(position: 9)
        record.add(bytes("a"), at: state.last)
        try log.put(record.bytes, subject, of: "log-snapshots")
        var damaged = record.bytes
        damaged[6] ^= 1
        for message in [damaged, [], bytes("PNDS"), Array(record.bytes.dropLast())] {
          try log.put(message, subject, of: "log-snapshots")
        }
        #expect(try newest(log)?.position == 2)
        #expect(try newest(log)?.bytes == bytes("ab"))
      }
    }

    @Test(arguments: seeds(20))
    func `a record is read as it was written, and no other bytes are one`(seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      var record = SnapshotRecord(position: random.next())
      var sequence = UInt64.random(in: 1...100, using: &random)
      for _ in 0..<Int.random(in: 0..<30, using: &random) {
        record.add([UInt8.random(in: 0...255, using: &random)], at: sequence)
        sequence += UInt64.random(in: 1...3, using: &random)
      }
      #expect(SnapshotRecord(record.bytes) == record)
      for _ in 0..<100 {
        var bytes = record.bytes
        if Bool.random(using: &random) {
          let index = Int.random(in: 0..<bytes.count, using: &random)
          bytes[index] ^= UInt8.random(in: 1...255, using: &random)
        } else {
          bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
        }
        #expect(SnapshotRecord(bytes) == nil)
      }
      let part = SnapshotRecord.message(of: bytes("part"))
      #expect(SnapshotRecord.part(of: part) == bytes("part"))
      for index in part.indices {
        var damaged = part
        damaged[index] ^= 0x40
        #expect(SnapshotRecord.part(of: damaged) == nil)
        #expect(SnapshotRecord.part(of: Array(part.prefix(index))) == nil)
      }
    }

    @Test func `machines join, come back and go on by a copy in the engine`() async throws {
      try await withServersAsync { servers, path in
        func open(_ name: String) throws -> ReplicatedStore {
          try ReplicatedStore(
            path: "\(path)/\(name)", log: try NATSLog(servers.configuration()),
            configuration: .forTests)
        }
        let first = try open("a")
        let behind = try open("b")
        for number in 0..<300 {
          try await first.store.write { transaction in
            for part in 0..<20 {
              try transaction.set(
                Page(id: "\(number)-\(part)", text: String(repeating: "x", count: 200)))
            }
          }
          if number == 100 {
            try await behind.caughtUp()
            await behind.close()
          }
        }
        let position = try await first.putSnapshot()
        let log = try NATSLog(servers.configuration())
        #expect(try log.snapshotPosition() == position)
        #expect(try log.retentionUsed(since: position) == 0)
        #expect(try log.retentionUsed(since: 0) > 0)
        try log.ask("STREAM.PURGE.log", #"{"seq":250}"#)
        #expect(try log.retentionUsed(since: 0) == 1)
        var stores = [first, try open("b"), try open("c")]
        for store in stores { try await store.caughtUp() }
        let count = 300 * 20
        for store in stores { #expect(try store.store.statistics().nodeCount == count) }
        #expect(stores[1].status.replacedCount == 1)
        // The engine has lost everything.
        for store in stores { await store.close() }
        try log.ask("STREAM.DELETE.log")
        try log.ask("STREAM.DELETE.log-snapshots")
        log.close()
        let empty = try NATSLog(servers.configuration())
        try await ReplicatedStore.republish(path: "\(path)/a", log: empty)
        for name in ["b", "c"] {
          try await ReplicatedStore.replace(path: "\(path)/\(name)", log: empty)
        }
        empty.close()
        stores = try ["a", "b", "c", "d"].map { try open($0) }
        try await stores[2].store.write { try $0.set(Page(id: "last", text: "")) }
        for store in stores { try await store.caughtUp() }
        for store in stores { #expect(try store.store.statistics().nodeCount == count + 1) }
        for store in stores { await store.close() }
      }
    }
  }

  private struct Page: Model, Codable {
    var id: String
    var text: String
    var modelIdentifier: String? { id }
  }

  /// Runs a closure with a server, and a folder for stores.
  private func withServersAsync(
    _ body: (TestServers, String) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { folder in
      let servers = try TestServers(1, in: "\(folder)/servers")
      defer { servers.end() }
      try await body(servers, "\(folder)")
    }
  }
#endif
