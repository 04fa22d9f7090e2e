import CPandoLMDB
import Glibc
import PandoFixtures
import Testing

@testable import PandoLMDB

/// Commits that nobody flushes, and the versions that a power cut leaves.
@Suite struct CheckpointTests {
  /// What the disk can have after a checkpoint of round 1 and commits up to `last`.
  private func withCuts(
    upTo last: UInt8, keepsSlots: Bool = true,
    _ body: (_ path: String, _ seed: UInt64) throws -> Void
  ) throws {
    try withTemporaryDirectory { path in
      mkdir("\(path)/store", 0o700)
      let fixture = try CheckpointFixture("\(path)/store")
      try fixture.write(1)
      try fixture.environment.flush()
      let durable = try fixture.data
      for round in 2...last { try fixture.write(round) }
      let latest = try fixture.data
      for seed in UInt64(0)..<40 {
        try fixture.cut(
          to: "\(path)/\(seed)", durable: durable, latest: latest, seed: seed,
          keepsSlots: keepsSlots)
        try body("\(path)/\(seed)", seed)
      }
      fixture.environment.close()
    }
  }

  @Test(arguments: [true, false])
  func `a power cut leaves the version of the last checkpoint`(opensWithout: Bool) throws {
    try withCuts(upTo: 9) { path, seed in
      let configuration = CheckpointFixture.configuration(opensWithout ? nil : .seconds(60))
      #expect(try CheckpointFixture.round(in: path, configuration) == 1, "seed \(seed)")
      let environment = try Environment(path: path, configuration: configuration)
      defer { environment.close() }
      #expect(environment.cutCount == 1)
    }
  }

  @Test func `without its slot a file that was cut is damaged or of no version`() throws {
    var damaged = 0
    try withCuts(upTo: 9, keepsSlots: false) { path, _ in
      do {
        _ = try CheckpointFixture.round(in: path, .forTests)
      } catch {
        damaged += 1
      }
    }
    #expect(damaged > 0)
  }

  /// The rule is needed: one who writes without it uses pages of the checkpoint again.
  @Test func `a writer without a pin makes the checkpoint worthless`() throws {
    var damaged = 0
    try withTemporaryDirectory { path in
      let store = "\(path)/store"
      mkdir(store, 0o700)
      let fixture = try CheckpointFixture(store)
      for round in UInt8(1)...2 { try fixture.write(round) }
      try fixture.environment.flush()
      let durable = try fixture.data
      let slots = try DamagedFileTests.read("\(store)/checkpoint.mdb")
      fixture.environment.close()
      let without = try Environment(path: store, configuration: .forTests)
      let table = try without.table("rows", keys: .uint32, values: .bytes)
      for round in UInt8(3)...9 {
        try without.write { transaction in
          for key in 0..<CheckpointFixture.rowCount {
            try transaction.put([UInt8](repeating: round, count: 500), forKey: key, in: table)
          }
        }
      }
      let latest = try fixture.data
      without.close()
      try DamagedFileTests.write(slots, to: "\(store)/checkpoint.mdb")
      for seed in UInt64(0)..<40 {
        let target = "\(path)/\(seed)"
        try fixture.cut(to: target, durable: durable, latest: latest, seed: seed)
        if (try? CheckpointFixture.round(in: target, .forTests)) != 2 { damaged += 1 }
      }
    }
    #expect(damaged > 0)
  }

  @Test func `a store survives several power cuts in a row, and counts them`() throws {
    try withCuts(upTo: 3) { path, seed in
      guard seed < 4 else { return }
      for cut in UInt64(1)...3 {
        let fixture = try CheckpointFixture(path)
        #expect(fixture.environment.cutCount == cut)
        try fixture.write(20)
        // The files as they are while it is open, of another boot: a version lost again.
        mkdir("\(path)/next", 0o700)
        for name in ["data.mdb", "checkpoint.mdb"] {
          try DamagedFileTests.write(
            try DamagedFileTests.read("\(path)/\(name)"), to: "\(path)/next/\(name)")
        }
        fixture.environment.close()
        for name in ["data.mdb", "checkpoint.mdb"] {
          try DamagedFileTests.write(
            try DamagedFileTests.read("\(path)/next/\(name)"), to: "\(path)/\(name)")
        }
        try CheckpointFixture.startAnew(path)
      }
      #expect(try CheckpointFixture.round(in: path, .forTests) == 1)
    }
  }

  @Test func `a read-only opening is refused until a writer has restored the version`() throws {
    try withCuts(upTo: 3) { path, seed in
      guard seed < 3 else { return }
      var readOnly = CheckpointFixture.configuration(nil)
      readOnly.isReadOnly = true
      expectError(.readOnly) { _ = try Environment(path: path, configuration: readOnly) }
      for configuration in [.forTests, readOnly] {
        let round = try CheckpointFixture.round(in: path, configuration)
        #expect(round == 1)
      }
    }
  }

  /// A snapshot of the disk, of the same boot, has what a power cut would leave.
  @Test func `a copy of an open folder is brought back to its checkpoint`() throws {
    try withTemporaryDirectory { path in
      mkdir("\(path)/store", 0o700)
      mkdir("\(path)/copy", 0o700)
      let fixture = try CheckpointFixture("\(path)/store")
      try fixture.write(1)
      try fixture.environment.flush()
      try fixture.write(2)
      for name in ["data.mdb", "checkpoint.mdb"] {
        try DamagedFileTests.write(
          try DamagedFileTests.read("\(path)/store/\(name)"), to: "\(path)/copy/\(name)")
      }
      var readOnly = CheckpointFixture.configuration(nil)
      readOnly.isReadOnly = true
      expectError(.readOnly) { _ = try Environment(path: "\(path)/copy", configuration: readOnly) }
      let configuration = CheckpointFixture.configuration()
      #expect(try CheckpointFixture.round(in: "\(path)/copy", configuration) == 1)
      #expect(try CheckpointFixture.round(in: "\(path)/copy", readOnly) == 1)
      fixture.environment.close()
      #expect(try CheckpointFixture.round(in: "\(path)/store", configuration) == 2)
    }
  }

  @Test func `closing makes the file whole, and the slot is as if it were not there`() throws {
    try withTemporaryDirectory { path in
      let fixture = try CheckpointFixture(path)
      try fixture.write(1)
      let boot = try BootIdentifier.current()
      #expect(fixture.newestSlot?.boot == boot)
      fixture.environment.close()
      #expect(fixture.newestSlot?.boot == BootIdentifier.none)
      // What others write then is not taken back.
      let plain = try Environment(path: path, configuration: .forTests)
      let table = try plain.table("other", keys: .string, values: .string)
      try plain.write { try $0.put("b", forKey: "a", in: table) }
      plain.close()
      let slot = try #require(fixture.newestSlot)
      #expect(slot.boot == .none)
      let again = try CheckpointFixture(path)
      #expect(again.environment.cutCount == 0)
      let other = try again.environment.table("other", keys: .string, values: .string)
      #expect(try again.environment.read { try $0.value(forKey: "a", in: other) } == "b")
      again.environment.close()
    }
  }

  @Test func `after a flush the slot has the last commit`() throws {
    try withTemporaryDirectory { path in
      let fixture = try CheckpointFixture(path)
      for round in UInt8(1)...5 {
        try fixture.write(round)
        let number = try fixture.environment.statistics().lastTransactionID
        #expect(try #require(fixture.newestSlot).version < number)
        try fixture.environment.flush()
        #expect(try #require(fixture.newestSlot).version == number)
        // Nothing to do is done, too.
        try fixture.environment.flush()
      }
      fixture.environment.close()
    }
  }

  @Test func `a checkpoint comes by itself, and its pin goes when nothing is written`() throws {
    try withTemporaryDirectory { path in
      let fixture = try CheckpointFixture(path, interval: .milliseconds(20))
      try fixture.write(1)
      let number = try fixture.environment.statistics().lastTransactionID
      while try #require(fixture.newestSlot).version < number { sched_yield() }
      while fixture.environment.writer.withLock("test", { fixture.environment.checkpoints?.pinned })
        != nil
      { sched_yield() }
      fixture.environment.close()
    }
  }

  /// 2 000 commits of 60 KiB replace 120 MB; pages of 24 MiB at most wait for a checkpoint.
  @Test func `the file grows by the pages that wait for a checkpoint and no more`() throws {
    try withTemporaryDirectory { path in
      let fixture = try CheckpointFixture(path)
      try fixture.write(0)
      let before = try fixture.environment.statistics().usedSizeInBytes
      let sequence = try #require(fixture.newestSlot).sequence
      for round in 0..<2_000 { try fixture.write(UInt8(truncatingIfNeeded: round)) }
      let after = try fixture.environment.statistics().usedSizeInBytes
      #expect(after - before < 32 << 20, "\((after - before) >> 20) MiB")
      #expect(try #require(fixture.newestSlot).sequence > sequence + 3)
      fixture.environment.close()
    }
  }

  @Test func `a slot of another file is left alone`() throws {
    try withTemporaryDirectory { path in
      mkdir("\(path)/a", 0o700)
      let fixture = try CheckpointFixture("\(path)/a")
      for round in UInt8(1)...9 { try fixture.write(round) }
      try fixture.environment.flush()
      let slots = try DamagedFileTests.read("\(path)/a/checkpoint.mdb")
      fixture.environment.close()
      // A copy that is put in place of the file begins anew with its numbers.
      mkdir("\(path)/b", 0o700)
      let other = try CheckpointFixture("\(path)/b")
      try other.write(77)
      other.environment.close()
      try DamagedFileTests.write(slots, to: "\(path)/b/checkpoint.mdb")
      try CheckpointFixture.startAnew("\(path)/b")
      #expect(try CheckpointFixture.round(in: "\(path)/b", CheckpointFixture.configuration()) == 77)
    }
  }
}
