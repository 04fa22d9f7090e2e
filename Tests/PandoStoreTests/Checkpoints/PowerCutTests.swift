import PandoFixtures
import PandoLMDB
import PandoModels
import Testing

@testable import PandoStore

/// A store whose commits are flushed now and then, behind a power cut.
@Suite struct PowerCutTests {
  private static func configuration(
    _ durability: Durability = .relaxed(every: .seconds(60))
  ) -> ModelStore.Configuration {
    var configuration = ModelStore.Configuration.forTests
    configuration.durability = durability
    return configuration
  }

  @Test func `numbers that a cut took are never given again`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: "\(path)/store", configuration: Self.configuration())
      try store.write { try $0.set(Person(id: 1, name: "Ada")) }
      try store.flush()
      try store.write { try $0.set(Person(id: 1, name: "Bob")) }
      let lost = try store.read { try $0.commitNumber.value }
      try CheckpointBoot.copyCut("\(path)/store", to: "\(path)/cut")
      store.close()

      for durability in [Durability.relaxed(), .unsynchronized] {
        let again = try ModelStore(
          path: "\(path)/cut", configuration: Self.configuration(durability))
        #expect(try again.read { try $0.get("Person:1", as: Person.self)?.name } == "Ada")
        #expect(try again.read { try $0.commitNumber.value } > lost)
        try again.write { try $0.set(Person(id: 2, name: "\(durability)")) }
        for number in [lost - 1, lost] {
          expectFailure(.changesExpired, "the change log begins at commit") {
            _ = try again.read { try $0.changes(since: CommitNumber(value: number)) }
          }
        }
        #expect(try again.verify().problems == [])
        again.close()
      }
      let last = try ModelStore(path: "\(path)/cut", configuration: Self.configuration())
      // One cut, one step, however often the store is opened.
      #expect(try last.read { try $0.commitNumber.value } == lost - 1 + 1 << 24 + 2)
      last.close()
    }
  }

  @Test func `a second cut skips numbers, too, also where the first step was lost with it`() throws
  {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: "\(path)/0", configuration: Self.configuration())
      try store.write { try $0.set(Person(id: 1, name: "Ada")) }
      try store.flush()
      var highest = try store.read { try $0.commitNumber.value }
      try CheckpointBoot.copyCut("\(path)/0", to: "\(path)/1")
      store.close()
      for cut in 1...3 {
        let again = try ModelStore(path: "\(path)/\(cut)", configuration: Self.configuration())
        let number = try again.commit { try $0.set(Person(id: 7, name: "\(cut)")) }.changeSet
        #expect(try #require(number).commitNumber.value > highest + 1 << 20)
        highest = try #require(number).commitNumber.value
        try CheckpointBoot.copyCut("\(path)/\(cut)", to: "\(path)/\(cut + 1)")
        again.close()
      }
    }
  }

  @Test func `cursors of before a cut have to start anew`() async throws {
    try await withTemporaryDirectory { path in
      let store = try ModelStore(path: "\(path)/store", configuration: Self.configuration())
      let cursor = try store.cursor(named: "mail")
      try await store.write { try $0.set(Person(id: 1, name: "Ada")) }
      try await cursor.acknowledge(CommitNumber(value: 1))
      try await store.flush()
      try await store.write { try $0.set(Person(id: 1, name: "Bob")) }
      try CheckpointBoot.copyCut("\(path)/store", to: "\(path)/cut")
      await store.close()
      let again = try ModelStore(path: "\(path)/cut", configuration: Self.configuration())
      var changes = try again.cursor(named: "mail").changes().makeAsyncIterator()
      let error = await #expect(throws: StoreError.self) { _ = try await changes.next() }
      #expect(error?.code == .changesExpired)
      await again.close()
    }
  }

  @Test func `a store with checkpoints is of version 5, and of another one afterwards`() throws {
    try withTemporaryDirectory { path in
      for (durability, version) in [
        (Durability.unsynchronized, 6), (.relaxed(), 5), (.full, 6), (.relaxed(), 5),
      ] {
        let store = try ModelStore(path: path, configuration: Self.configuration(durability))
        #expect(try store.statistics().formatVersion == version, "\(durability)")
        try store.write { try $0.set(Person(id: 1, name: "\(version)")) }
        #expect(try store.statistics().formatVersion == version, "\(durability)")
        store.close()
      }
    }
  }

  @Test func `verifying before opening sees the version of the checkpoint`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: "\(path)/store", configuration: Self.configuration())
      try store.write { try $0.set(Person(id: 1, name: "Ada")) }
      try CheckpointBoot.copyCut("\(path)/store", to: "\(path)/cut")
      store.close()
      expectFailure(engine: .readOnly) { _ = try ModelStore.verify(path: "\(path)/cut") }
      var configuration = Self.configuration()
      configuration.verifying = .everything
      let again = try ModelStore(path: "\(path)/cut", configuration: configuration)
      #expect(try again.read { try $0.count() } == 0)
      again.close()
      #expect(try ModelStore.verify(path: "\(path)/cut").isClean)
    }
  }

  @Test func `a write that asks for it is on the disk when it returns`() async throws {
    // The thread makes a checkpoint of its own after half of the interval: then the versions tell nothing.
    let limit = Duration.seconds(30)
    while true {
      let start = ContinuousClock.now
      let versions = try await versionsAroundFlushes()
      if start.duration(to: .now) >= limit { continue }
      #expect(versions == [0, 3, 3, 4])
      return
    }
  }

  /// How far the checkpoint moves with a write, one that asks for a flush, another write, and a flush.
  private func versionsAroundFlushes() async throws -> [UInt64] {
    try await withTemporaryDirectory { path in
      let store = try ModelStore(path: path, configuration: Self.configuration())
      try await store.write { try $0.set(Person(id: 1, name: "Ada")) }
      let before = try CheckpointBoot.version(path)
      var versions: [UInt64] = []
      try await store.write { try $0.set(Person(id: 1, name: "Bob")) }
      versions.append(try CheckpointBoot.version(path) - before)
      try await store.write {
        $0.flushWhenCommitted()
        try $0.set(Person(id: 1, name: "Eve"))
      }
      versions.append(try CheckpointBoot.version(path) - before)
      // The wish is that of one write.
      try await store.write { try $0.set(Person(id: 1, name: "Ada")) }
      versions.append(try CheckpointBoot.version(path) - before)
      try await store.flush()
      versions.append(try CheckpointBoot.version(path) - before)
      await store.close()
      return versions
    }
  }

  @Test(arguments: Durability.allCases)
  func `flushing does no harm at any level`(durability: Durability) throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path, configuration: Self.configuration(durability))
      try store.write {
        $0.flushWhenCommitted()
        try $0.set(Person(id: 1, name: "Ada"))
      }
      try store.flush()
      #expect(try store.read { try $0.count() } == 1)
      store.close()
    }
  }
}
