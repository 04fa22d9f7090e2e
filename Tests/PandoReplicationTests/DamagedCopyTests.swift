import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Copies beside a log that come back otherwise than they were put there.
@Suite struct DamagedCopyTests {
  /// A log with a copy of a store, and that store.
  private func withCopy(
    _ body: (MemoryLog, ReplicaFixture, _ copy: [UInt8], _ path: String) throws -> Void
  ) throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      let maker = try ReplicaFixture("\(path)/maker", MemoryConnection(log))
      defer { maker.store.close() }
      for id in 0..<20 { try maker.store.write { try $0.set(Leaf(id: "\(id)", text: "a text")) } }
      _ = try maker.replica.putSnapshot()
      let copy = try #require(log.state.withLock { $0.snapshot }).parts.flatMap(\.self)
      try body(log, maker, copy, path)
    }
  }

  private func put(_ bytes: [UInt8], beside log: MemoryLog) {
    log.state.withLock { $0.snapshot?.parts = [bytes] }
  }

  private func begin(_ path: String, _ log: MemoryLog) throws {
    try ReplicatedStore.begin(path, MemoryConnection(log), .forTests, .forTests).close()
  }

  /// Fixed: what lies in no page that is looked at, or in a row that nothing else tells, was installed.
  @Test func `a copy of which a byte has changed is refused, wherever that is`() throws {
    try withCopy { log, _, copy, path in
      let count = copy.count
      let offsets =
        Array(stride(from: 0, to: count, by: 509)) + [1, 8, 16, 24, 32].map { count - $0 }
      for offset in offsets {
        var bytes = copy
        bytes[offset] ^= 0x10
        put(bytes, beside: log)
        let error = #expect(throws: StoreError.self, "byte \(offset) of \(count)") {
          try begin("\(path)/\(offset)", log)
        }
        #expect(error?.code == .damaged, "byte \(offset) of \(count): \(error as Any)")
        #expect(access("\(path)/\(offset)/data.mdb", F_OK) != 0)
      }
      put(copy, beside: log)
      try begin("\(path)/whole", log)
    }
  }

  @Test(arguments: [1, 31, 32, 33, 4096, 4128])
  func `a copy whose end is missing is refused, or has lost no more than its checksum`(
    count: Int
  ) throws {
    try withCopy { log, _, copy, path in
      put(copy.dropLast(count), beside: log)
      if count == 32 { return try begin("\(path)/1", log) }
      let error = #expect(throws: StoreError.self) { try begin("\(path)/1", log) }
      #expect(error?.code == .damaged, "\(error as Any)")
    }
  }

  /// As an earlier version reads a copy of this one: it takes all bytes as the file of a store.
  @Test func `a copy with its checksum is the file of a store`() throws {
    try withCopy { _, maker, copy, path in
      #expect(copy.count % 4096 == 32)
      mkdir("\(path)/earlier", 0o700)
      let descriptor = open("\(path)/earlier/data.mdb", O_WRONLY | O_CREAT, 0o600)
      #expect(write(descriptor, copy, copy.count) == copy.count)
      PandoSystem.close(descriptor)
      #expect(try ModelStore.verify(path: "\(path)/earlier").isClean)
      let store = try ModelStore(path: "\(path)/earlier", configuration: .forTests)
      #expect(try store.dumpLines() == maker.dump())
      store.close()
    }
  }

  /// Fixed: it was `damaged` at each look, and never said that it has lost its log.
  @Test func `a store that needs a damaged copy is logLost until there is a whole one`() throws {
    try withCopy { log, maker, copy, path in
      let time = Locked<Int64>(0)
      var configuration = ReplicaConfiguration.forTests
      configuration.clock = { time.withLock(\.self) }
      let late = try ReplicaFixture("\(path)/late", MemoryConnection(log), configuration)
      defer { late.store.close() }
      log.forget(first: 10)
      var bytes = copy
      bytes[bytes.count / 2] ^= 1
      put(bytes, beside: log)
      for _ in 0..<2 {
        let error = #expect(throws: StoreError.self) { try late.replica.catchUp() }
        #expect(error?.code == .logLost, "\(error as Any)")
        #expect(error?.reason.contains("damaged") == true, "\(error as Any)")
        #expect(late.replica.halt?.code == .logLost)
      }
      #expect(try late.replica.looksForCopy())
      // At the same place a whole one is found after some time, at another one at once.
      put(copy, beside: log)
      #expect(try late.replica.looksForCopy())
      time.withLock { $0 += 61_000_000_000 }
      try late.replica.catchUp()
      #expect(late.replica.halt == nil)
      #expect(late.replica.statistics.replaced == 1)
      #expect(try late.dump() == maker.dump())
    }
  }

  @Test func `a store that needs a damaged copy goes on from a newer one at once`() throws {
    try withCopy { log, maker, copy, path in
      let late = try ReplicaFixture("\(path)/late", MemoryConnection(log))
      defer { late.store.close() }
      log.forget(first: 10)
      put(Array(copy.dropLast(33)), beside: log)
      #expect(throws: StoreError.self) { try late.replica.catchUp() }
      try maker.store.write { try $0.set(Leaf(id: "more")) }
      _ = try maker.replica.putSnapshot()
      try late.replica.catchUp()
      #expect(late.replica.halt == nil)
      #expect(try late.dump() == maker.dump())
    }
  }
}
