import Glibc
import PandoFixtures
import PandoLMDB
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Machines whose disk has no room.
@Suite struct FullReplicaTests {
  private static let full = LMDBError(.diskFull, function: "a test")

  @Test func `a write that a full store refuses is not in the log, and removals pass`() async throws
  {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration.forTests
      (configuration.mapSizeInBytes, configuration.maximumMapSizeInBytes) = (1 << 20, 1 << 20)
      let small = try ReplicatedStore(
        path: "\(path)/small", log: MemoryConnection(log), configuration: configuration)
      let other = try ReplicatedStore(
        path: "\(path)/other", log: MemoryConnection(log), configuration: .forTests)
      let text = String(repeating: "x", count: 3_000)
      let count = (0..<10_000).first { id in
        do {
          try small.store.write { try $0.set(Leaf(id: "\(id)", text: text)) }
          return false
        } catch {
          #expect((error as? LMDBError)?.code == .mapFull)
          return true
        }
      }
      let fitting = try #require(count)
      #expect(fitting > 50)
      try await other.caughtUp()
      #expect(try await other.store.read { try $0.count() } == fitting)
      // Half of them go here, the others there.
      for id in 0..<fitting {
        let store = id % 2 == 0 ? small.store : other.store
        try await store.write { try $0.deleteIfPresent("Leaf:\(id)") }
      }
      for machine in [small, other] {
        try await machine.caughtUp()
        #expect(try await machine.store.read { try $0.count() } == 0)
        await machine.close()
      }
    }
  }

  @Test(arguments: [false, true])
  func `a write whose commit fails behind the log is made once`(isFullForLong: Bool) throws {
    let isFull = Locked(false)
    var configuration = ReplicaConfiguration.forTests
    configuration.onStep = { step in
      guard isFull.withLock({ $0 }) else { return }
      if step == .willCommit || step == .willTakeIn && isFullForLong { throw Self.full }
    }
    try withReplicas(2, on: MemoryLog(), configuration) { replicas in
      let store = replicas[0].store
      try store.write { try $0.set(Leaf(id: "a", text: "")) }
      isFull.withLock { $0 = true }
      func write() throws {
        try store.write { transaction in
          try transaction.updateIfPresent(Leaf.self, "Leaf:a") { $0.text += "x" }
        }
      }
      if isFullForLong {
        #expect { try write() } throws: { error in
          let error = error as? StoreError
          return error?.code == .unavailable && (error?.underlying as? LMDBError) == Self.full
        }
        #expect(try store.read { try $0.get("Leaf:a", as: Leaf.self)?.text } == "")
      } else {
        try write()
        #expect(try store.read { try $0.get("Leaf:a", as: Leaf.self)?.text } == "x")
      }
      isFull.withLock { $0 = false }
      try write()
      for replica in replicas {
        try replica.replica.catchUp()
        #expect(try replica.store.read { try $0.get("Leaf:a", as: Leaf.self)?.text } == "xx")
      }
    }
  }

  @Test func `writes that share a commit that fails behind the log are made once`() async throws {
    let isFull = Locked(false)
    var configuration = ReplicaConfiguration.forTests
    configuration.onStep = { step in
      if step == .willCommit, isFull.withLock({ $0 }) { throw Self.full }
    }
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let replicas = try (0..<2).map {
        try ReplicaFixture("\(path)/\($0)", MemoryConnection(log), configuration)
      }
      let store = replicas[0].store
      try await store.write { try $0.set(Leaf(id: "a", text: "")) }
      let mayGoOn = Locked(false)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<3 {
          group.addTask {
            try await store.write { transaction in
              while index == 0, !mayGoOn.withLock(\.self) { sched_yield() }
              try transaction.updateIfPresent(Leaf.self, "Leaf:a") { $0.text += "\(index)" }
            }
          }
          while store.queuedWriteCount <= index { await Task.yield() }
        }
        isFull.withLock { $0 = true }
        mayGoOn.withLock { $0 = true }
        try await group.waitForAll()
      }
      for replica in replicas {
        try replica.replica.catchUp()
        let text = try await replica.store.read { try $0.get("Leaf:a", as: Leaf.self)?.text }
        #expect(text?.sorted() == ["0", "1", "2"])
        await replica.store.close()
      }
    }
  }
}
