import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import Testing

/// Replicas that can't go on: they write and take in nothing more, and can be read.
@Suite struct StoppedReplicaTests {
  /// Opens a store whose log is not what it was: it is refused, and the store is readable without it.
  private func expectLogLost(
    _ path: String, _ log: MemoryLog, saying words: [String], has id: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let store = try ModelStore(path: path, configuration: .forTests)
    defer { store.close() }
    let lines = try store.dumpLines()
    let messages = log.messages
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
      try Replica(store, log: MemoryConnection(log), configuration: .forTests)
    }
    #expect(error?.code == .logLost, "\(error as Any)", sourceLocation: sourceLocation)
    for word in words {
      #expect(
        error?.description.contains(word) == true, "\(error as Any)",
        sourceLocation: sourceLocation)
    }
    let refusal = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
      try store.write { try $0.set(Leaf(id: "refused")) }
    }
    #expect(refusal?.code == .replicated, sourceLocation: sourceLocation)
    #expect(
      try store.read { try $0.get("Leaf:\(id)", as: Leaf.self) } != nil,
      sourceLocation: sourceLocation)
    #expect(try store.dumpLines() == lines, sourceLocation: sourceLocation)
    #expect(log.messages == messages, sourceLocation: sourceLocation)
  }

  /// Stops a replica by a message, and looks whether it stays so.
  private func expectStopped(
    _ fixture: ReplicaFixture, _ log: MemoryLog, _ code: StoreError.Code, saying words: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let lines = try fixture.dump()
    let messages = log.messages
    let calls: [() throws -> Void] = [
      { try fixture.replica.catchUp() },
      { try fixture.store.write { try $0.set(Leaf(id: "refused")) } },
      { try fixture.replica.catchUp() },
    ]
    for call in calls {
      let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try call() }
      #expect(error?.code == code, "\(error as Any)", sourceLocation: sourceLocation)
      for word in words {
        #expect(
          error?.description.contains(word) == true, "\(error as Any)",
          sourceLocation: sourceLocation)
      }
    }
    #expect(log.messages == messages, sourceLocation: sourceLocation)
    #expect(try fixture.dump() == lines, sourceLocation: sourceLocation)
    #expect(try fixture.store.verify().isClean, sourceLocation: sourceLocation)
  }

  /// A log that holds nothing any more was told without positions.
  @Test(arguments: 0..<3)
  func `an opening fails if the log is shorter than the store`(kept: Int) throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      let fixture = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      for id in ["1", "2"] { try fixture.store.write { try $0.set(Leaf(id: id)) } }
      fixture.store.close()
      log.truncate(to: kept)
      try expectLogLost(
        "\(path)/1", log, saying: ["ends at position \(kept)", "applied 3"], has: "2")
    }
  }

  /// It succeeded, as if the store had come as far as the log.
  @Test func `catching up fails if the log is shorter than the store`() throws {
    let log = MemoryLog()
    try withReplicas(1, on: log) { replicas in
      for id in ["1", "2"] { try replicas[0].store.write { try $0.set(Leaf(id: id)) } }
      log.truncate(to: 2)
      let error = #expect(throws: StoreError.self) { try replicas[0].replica.catchUp() }
      #expect(error?.code == .logLost)
      #expect(error?.description.contains("ends at position 2") == true, "\(error as Any)")
      #expect(error?.description.contains("applied 3") == true, "\(error as Any)")
      #expect(try replicas[0].store.read { try $0.get("Leaf:2", as: Leaf.self) } != nil)
      // It writes no more into what is left than the question whether it is shorter.
      let refusal = #expect(throws: StoreError.self) {
        try replicas[0].store.write { try $0.set(Leaf(id: "3")) }
      }
      #expect(refusal?.code == .logLost)
      #expect(log.messages.count == 3)
    }
  }

  @Test func `an opening fails with another log than the followed one`() throws {
    try withTemporaryDirectory { path in
      let logs = [MemoryLog(), MemoryLog()]
      for (index, log) in logs.enumerated() {
        let fixture = try ReplicaFixture("\(path)/\(index)", MemoryConnection(log))
        defer { fixture.store.close() }
        for id in 0...index { try fixture.store.write { try $0.set(Leaf(id: "\(id)")) } }
      }
      let words = ["another one", "ends at position 3", "applied 2"]
      try expectLogLost("\(path)/0", logs[1], saying: words, has: "0")
    }
  }

  @Test func `an opening fails if the log does not have the beginning of a log`() throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      let fixture = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      try fixture.store.write { try $0.set(Leaf(id: "1")) }
      fixture.store.close()
      let other = MemoryLog()
      for _ in 0..<2 { other.append([1, 2, 3]) }
      try expectLogLost("\(path)/1", other, saying: ["beginning of a log"], has: "1")
    }
  }

  @Test(arguments: [1, 200] as [UInt8])
  func `a replica stops at an entry of a newer version`(difference: UInt8) throws {
    let log = MemoryLog()
    try withReplicas(2, on: log) { replicas in
      try replicas[0].store.write { try $0.set(Leaf(id: "1")) }
      try replicas[1].replica.catchUp()
      let entry = LogMessage.entry(try replicas[0].store.entry()).bytes
      log.append(entry.newer(by: difference))
      for replica in replicas {
        try expectStopped(
          replica, log, .needsUpgrade,
          saying: [
            "position 3 ", "version \(EntryLimits.version + difference);",
            "reads \(EntryLimits.version)",
          ])
        #expect(try replica.store.position() == 2)
      }
    }
  }

  /// Nobody can say what a newer version means by it.
  @Test func `a replica stops at a part and at unknown bytes of a newer version`() throws {
    let part = EntryPart(.stranger(), index: 0, count: 2, first: 0, bytes: [1])
    let entry = LogMessage.part(part).bytes
    let unknown = Array(entry.prefix(5)) + [0xFF, 0xFF] + [UInt8](repeating: 0, count: 8)
    for bytes in [entry, unknown] {
      let log = MemoryLog()
      try withReplicas(1, on: log) { replicas in
        log.append(bytes.newer())
        try expectStopped(replicas[0], log, .needsUpgrade, saying: ["position 2 "])
      }
    }
  }

  @Test func `a damaged message of a newer version is malformed`() throws {
    let log = MemoryLog()
    try withReplicas(1, on: log) { replicas in
      var bytes = LogMessage.entry(try replicas[0].store.entry()).bytes.newer()
      bytes[6] ^= 1
      log.append(bytes)
      try replicas[0].replica.catchUp()
      #expect(replicas[0].replica.statistics.malformed == 1)
      try replicas[0].store.write { try $0.set(Leaf(id: "1")) }
    }
  }

  /// Who had followed at once had it, and who read it together with what stops it did not.
  @Test func `a replica applies the messages before the one that stops it`() throws {
    let log = MemoryLog()
    try withReplicas(2, on: log) { replicas in
      for id in ["1", "2"] { try replicas[0].store.write { try $0.set(Leaf(id: id)) } }
      log.append(LogMessage.entry(try replicas[0].store.entry()).bytes.newer())
      let error = #expect(throws: StoreError.self) { try replicas[1].replica.catchUp() }
      #expect(error?.code == .needsUpgrade)
      #expect(try replicas[1].store.position() == 3)
      for replica in replicas {
        try expectStopped(replica, log, .needsUpgrade, saying: ["position 4 "])
      }
      #expect(try replicas[0].dump() == replicas[1].dump())
    }
  }

  @Test func `a write that lies before the message that stops its replica is acknowledged`() throws
  {
    let log = MemoryLog()
    let isBusy = Rival()
    try withReplicas(
      2, on: log,
      onCall: { index, call, moment in
        guard index == 0, call == .append else { return }
        if moment == .before { try isBusy.write() }
        guard moment == .after, isBusy.count == 1 else { return }
        let part = EntryPart(.stranger(), index: 0, count: 2, first: 0, bytes: [1])
        log.append(LogMessage.part(part).bytes.newer())
      }
    ) { replicas in
      isBusy.begin { _ in try replicas[1].store.write { try $0.set(Leaf(id: "theirs")) } }
      // Behind another one's entry, so that it is read from the log, together with what comes behind it.
      try replicas[0].store.write { try $0.set(Leaf(id: "mine")) }
      isBusy.end()
      #expect(try replicas[0].store.position() == 3)
      try expectStopped(replicas[0], log, .needsUpgrade, saying: ["position 4 "])
    }
  }
}
