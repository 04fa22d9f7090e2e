import PandoFixtures
import PandoLMDB
import PandoModels
import PandoStore
import PandoSystem
import Testing

/// The figures that a service can log and count.
@Suite struct StatisticsTests {
  @Test(.overBothBackings) func `statistics are those of the last commit`() throws {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.set(Message(id: 1, text: "a", author: Person(id: 1, name: "Ada")))
      try transaction.set(FullProfile(id: 1, name: "Ada", age: 36))
      try transaction.append([Person(id: 1, name: "Ada")], toCollection: "people")
    }
    let statistics = try store.statistics()
    #expect(statistics.commitNumber.value == 1)
    #expect(statistics.nodeCount == 2)
    #expect(statistics.recordCounts == ["Message": 1, "Person": 1, "FullProfile": 1])
    #expect(statistics.edgeCount == 2)
    #expect(statistics.collectionCount == 1)
    #expect(statistics.changeLogCount == 1)
    #expect(statistics.formatVersion == 6)
    #expect(statistics.storeIdentifier.count == 32)
    #expect(statistics.mapSizeInBytes == 16 << 20)
    #expect(statistics.usedSizeInBytes > 0)
    #expect(statistics.fileSizeInBytes >= statistics.usedSizeInBytes)
    #expect(statistics.readerCountMaximum >= 1024)
    #expect(statistics.oldestReaderAgeInSeconds == nil)
    try store.write { try $0.removeAll() }
    let empty = try store.statistics()
    #expect(empty.nodeCount == 0)
    #expect(empty.recordCounts == [:])
    #expect(empty.storeIdentifier == statistics.storeIdentifier)
  }

  @Test(.overBothBackings) func `free pages are those that removals left`() throws {
    let store = try ModelStore.forTest()
    let text = String(repeating: "a", count: 1000)
    try store.write { transaction in
      for id in 0..<1000 { try transaction.set(FullProfile(id: id, name: text, age: 36)) }
    }
    let full = try store.statistics()
    #expect(full.freeSizeInBytes < 100_000)
    try store.write { try $0.removeAll() }
    let empty = try store.statistics()
    #expect(empty.freeSizeInBytes > 1_000_000)
    #expect(empty.freeSizeInBytes < empty.usedSizeInBytes)
    // The next commit could still have a reader of the version before the removal.
    try store.write { try $0.set(Person(id: 1, name: "Ada")) }
    try store.write { transaction in
      for id in 0..<500 { try transaction.set(FullProfile(id: id, name: text, age: 36)) }
    }
    let half = try store.statistics()
    #expect(half.freeSizeInBytes < empty.freeSizeInBytes)
    #expect(half.usedSizeInBytes < full.usedSizeInBytes * 5 / 4)
  }

  @Test(.overBothBackings) func `a reader that is under way shows`() throws {
    let store = try ModelStore.forTest()
    try store.read { _ in
      let statistics = try store.statistics()
      #expect(statistics.readerCount > 0)
      #expect((statistics.oldestReaderAgeInSeconds ?? -1) >= 0)
    }
  }

  @Test(.overBothBackings) func `a write that is under way shows its process`() throws {
    let store = try ModelStore.forTest()
    #expect(try store.statistics().writerProcessID == nil)
    let writer = try store.write { _ throws in try store.statistics().writerProcessID }
    #expect(writer == Int(getpid()))
    #expect(try store.statistics().writerProcessID == nil)
  }

  @Test func `a write of another process shows that process`() throws {
    try withTemporaryDirectory { path throws in
      let store = try ModelStore(path: path)
      let other = try OtherProcess(path)
      try other.perform("hold")
      #expect(try store.statistics().writerProcessID == Int(other.identifier))
      other.kill()
      #expect(try store.statistics().writerProcessID == nil)
      store.close()
    }
  }

  @Test(.overBothBackings)
  func `events tell of slow commits, failed writes and conflicting content`() throws {
    struct Stop: Error {}
    let events = Locked<[String]>([])
    var configuration = ModelStore.Configuration.forTests
    configuration.slowCommitThreshold = .zero
    configuration.events = { event in
      let text =
        switch event {
        case .slowCommit(_, let count): "slow \(count)"
        case .failedWrite(let error): "failed \(type(of: error))"
        case .conflictingContent(let identifier, let type): "conflict \(identifier) \(type)"
        default: "\(event)"
        }
      events.withLock { $0.append(text) }
    }
    let store = try ModelStore.forTest(configuration)
    let one = TreeNode("leaf", type: "Leaf", fields: ["n": 1])
    let two = TreeNode("leaf", type: "Leaf", fields: ["n": 2])
    try store.write {
      try $0.set(TreeNode("box", type: "Box", fields: ["a": .node(one), "b": .node(two)]))
    }
    #expect(throws: Stop.self) { try store.write { _ in throw Stop() } }
    let unknown = ["Box", "Leaf"].map { "unknownType(typeName: \"\($0)\")" }
    #expect(events.value == unknown + ["conflict leaf Leaf", "slow 1", "slow 1", "failed Stop"])
    #expect(try store.read { try $0.tree("leaf") } == two, "the last in traversal order counts")
    let counters = store.counters
    #expect(counters.writes == 1)
    #expect(counters.failedWrites == 1)
    #expect(counters.conflictingContents == 1)
    #expect(counters.slowCommits == 2)
    #expect(counters.flushes == 2)
  }

  @Test(.overBothBackings, arguments: [false, true])
  func `a copy is a store of its own, made while others write`(compacting: Bool) throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore.forTest()
      @Sendable func leaf(_ id: Int) -> TreeNode {
        TreeNode(
          "leaf:\(id)", type: "Leaf", fields: ["b": .bytes([UInt8](repeating: 7, count: 500))])
      }
      let first = (0..<500).map { leaf($0) }
      try store.write { transaction in for tree in first { try transaction.set(tree) } }
      try store.write { transaction in
        for id in 0..<400 { try transaction.deleteIfPresent("leaf:\(id)") }
      }
      let isCopied = Event()
      try onThreads(2) { thread in
        if thread == 0 {
          defer { isCopied.signal() }
          try store.copy(to: "\(path)/copy", compacting: compacting)
        } else {
          for id in 0..<50 {
            try store.write { try $0.set(TreeNode("later:\(id)", type: "Leaf")) }
          }
          isCopied.wait()
        }
      }
      #expect(try ModelStore.verify(path: "\(path)/copy").problems == [])
      let copy = try ModelStore(path: "\(path)/copy", configuration: .forTests)
      defer { copy.close() }
      let (count, number) = try copy.read { try ($0.count(), $0.commitNumber.value) }
      #expect(count == 100 + Int(number) - 2, "one whole version")
      if compacting {
        #expect(try copy.statistics().fileSizeInBytes < store.statistics().fileSizeInBytes)
      }
      expectFailure(engine: .fileExists) { try store.copy(to: "\(path)/copy") }
      try copy.write { try $0.removeAll() }
      #expect(try store.read { try $0.count() } == 150)
    }
  }
}
