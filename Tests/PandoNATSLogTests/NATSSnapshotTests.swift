#if NATS
  import CPandoNATS
  import PandoFixtures
  import PandoLogFixtures
  import Testing

  @testable import PandoNATSLog

  @Suite(.enabled(if: TestServers.isThere, "nats-server is not installed"))
  struct NATSSnapshotTests {
    @Test func `the newest copy is read, and two are kept`() throws {
      try withServers { servers in
        let log = try NATSLog(servers.configuration())
        let other = try NATSLog(servers.configuration())
        defer { for log in [log, other] { log.close() } }
        #expect(try log.newestCopy() == nil)
        let large = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try log.put([large, bytes("end")], at: 5)
        #expect(try other.newestCopy()?.position == 5)
        #expect(try other.newestCopy()?.bytes == large + bytes("end"))
        try other.put([bytes(6)], at: 6)
        try log.put([bytes(7), [], bytes("seven")], at: 7)
        #expect(try log.newestCopy()?.bytes == bytes("7seven"))
        let kept = try #require(
          try log.link.lookIfThere("log-snapshots", "\(log.configuration.snapshotSubject).>"))
        #expect(kept.count == 6)
        #expect(kept.has_subject)
        // The log itself has nothing of it.
        #expect(try log.end() == 0)
      }
    }

    /// Of use with a clock of the machine that is an hour off (.ci/long clock).
    @Test func `the clock of the servers determines ages`() throws {
      try withServers { servers in
        var configuration = servers.configuration()
        configuration.maximalAgeInSeconds = 3600
        let log = try NATSLog(configuration)
        defer { log.close() }
        _ = try log.append(bytes(1), named: "1", expecting: nil)
        #expect(try log.retentionUsed(since: 0) < 0.5)
        #expect(try log.snapshotAge() == nil)
        try log.put([bytes("a")], at: 1)
        let age = try #require(try log.snapshotAge())
        #expect(age < .seconds(1800) && age >= .zero)
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
        #expect(try log.newestCopy() == nil)
        try log.put([bytes("a"), bytes("b")], at: 2)
        try log.put([bytes("c"), bytes("d")], at: 3)
        let state = try log.link.look("log-snapshots", "\(log.configuration.snapshotSubject).>")
        // A part of the newest is gone.
        try log.ask("STREAM.MSG.DELETE.log-snapshots", "{\"seq\":\(state.last - 1)}")
        #expect(try log.newestCopy()?.position == 2)
        #expect(try log.newestCopy()?.bytes == bytes("ab"))
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
        #expect(try log.newestCopy()?.position == 2)
        #expect(try log.newestCopy()?.bytes == bytes("ab"))
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
  }
#endif
