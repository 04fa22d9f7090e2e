import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import Testing

/// Bytes of a log that anybody may have made.
@Suite struct EntryTests {
  /// A log with entries of all kinds of writes.
  private func messages() throws -> [[UInt8]] {
    let log = MemoryLog()
    try withReplicas(1, on: log) { replicas in
      let store = replicas[0].store
      try store.write { try JudgingTests.begin(&$0) }
      for operation in JudgingTests.Operation.allCases {
        try store.write { try operation.run("a", &$0) }
      }
    }
    return log.messages
  }

  @Test func `a decoded message equals the encoded one`() throws {
    for bytes in try messages() { #expect(try LogMessage(bytes).bytes == bytes) }
  }

  @Test func `a message that was cut off or changed is malformed`() throws {
    for bytes in try messages() {
      for count in 0..<bytes.count {
        #expect(throws: EntryFault.self) { try LogMessage(Array(bytes.prefix(count))) }
      }
      var changed = bytes
      changed[bytes.count / 2] ^= 1
      #expect(throws: EntryFault.self) { try LogMessage(changed) }
    }
  }

  @Test(arguments: seeds(40))
  func `all replicas judge any entry alike and stay valid`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let log = MemoryLog()
    for bytes in try messages() {
      log.append(bytes)
      if bytes == log.messages.first { continue }
      var changed = bytes
      for _ in 0...Int.random(in: 0..<3, using: &random) {
        // Behind origin and counter, so that it is not taken for the entry that it was made of.
        let index = Int.random(in: 5..<changed.count - 8, using: &random)
        changed[index] = UInt8.random(in: 0...255, using: &random)
      }
      log.append(changed.sealed())
    }
    var dumps: [[String]] = []
    try withTemporaryDirectory { path in
      for index in 0..<2 {
        let fixture = try ReplicaFixture("\(path)/\(index)", MemoryConnection(log))
        defer { fixture.store.close() }
        // One that stops, because the log is another one or newer, has taken in what comes before.
        do {
          try fixture.replica.catchUp()
        } catch let error as StoreError {
          #expect(error.code == .logLost || error.code == .needsUpgrade)
        }
        #expect(try fixture.store.verify().isClean)
        dumps.append(try fixture.dump())
      }
    }
    #expect(dumps[0] == dumps[1])
  }
}
