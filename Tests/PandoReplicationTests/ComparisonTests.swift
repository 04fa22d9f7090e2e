import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Stores that are compared with what their log says.
@Suite struct ComparisonTests {
  private func put(_ fixture: ReplicaFixture, _ log: MemoryLog) async throws {
    try await ReplicatedStore.putSnapshot(path: fixture.store.path, log: MemoryConnection(log))
  }

  private func compare(_ fixture: ReplicaFixture, _ log: MemoryLog) async throws
    -> ReplicaComparison
  {
    try await ReplicatedStore.compare(path: fixture.store.path, log: MemoryConnection(log))
  }

  @Test func `equal machines do not differ, wherever the copy is`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      let second = try ReplicaFixture("\(path)/2", MemoryConnection(log))
      for id in 0..<30 {
        try await first.store.write { transaction in
          try transaction.set(Card(id: "\(id)", leaves: [Leaf(id: "\(id % 7)")]))
          try transaction.append([Mark(number: id)], toCollection: "marks")
        }
        if id == 20 { try await put(first, log) }
      }
      try await first.store.write { try $0.deleteIfPresent("Card:3") }
      try second.replica.catchUp()
      try await second.store.write { try $0.setProperty("own", to: [1]) }
      let position = try await second.store.read { try $0.replicationRow?.position }
      for fixture in [first, second] {
        let found = try await compare(fixture, log)
        #expect(found.differences == [] && found.differenceCount == 0)
        #expect(found.position == position && found.copyPosition == 22)
      }
      #expect(access("\(path)/1/joining", F_OK) != 0 && access("\(path)/1/snapshot", F_OK) != 0)
      // It has taken nothing from who goes on.
      try await first.store.write { try $0.set(Leaf(id: "on")) }
      await first.store.close()
      let closed = try await compare(first, log)
      #expect(closed.differenceCount == 0 && closed.position > found(position))
      await second.store.close()
    }
  }

  private func found(_ position: UInt64?) -> UInt64 { position ?? 0 }

  @Test func `the comparison names what differs on a machine`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      var configuration = ReplicaConfiguration.forTests
      configuration.judges = false
      let second = try ReplicaFixture("\(path)/2", MemoryConnection(log), configuration)
      for id in 0..<2500 where id % 500 == 0 {
        try await first.store.write { transaction in
          for id in id..<id + 500 { try transaction.set(Leaf(id: "\(id)")) }
        }
      }
      try second.replica.catchUp()
      try await put(first, log)
      // The second does not judge: what all others refuse it has.
      try await first.store.write { try $0.set(Leaf(id: "7", text: "first")) }
      try await second.store.write { transaction in
        try transaction.set(Leaf(id: "7", text: "second"))
        try transaction.set(Leaf(id: "1999 and a half"))
        try transaction.append([Mark(number: 1)], toCollection: "marks")
      }
      for fixture in [first, second] { try fixture.replica.catchUp() }
      #expect(try await compare(first, log).differences == [])
      let found = try await compare(second, log)
      #expect(
        Set(found.differences) == [
          "Leaf:7", "Leaf:1999 and a half", "list marks", "type Mark", "the last commit",
        ]
          || Set(found.differences) == [
            "Leaf:7", "Leaf:1999 and a half", "list marks", "the last commit",
          ],
        "\(found)")
      #expect(found.differenceCount == found.differences.count)
      await first.store.close()
      await second.store.close()
    }
  }

  @Test func `a store behind the copy, and a log without a copy, are reported`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      let second = try ReplicaFixture("\(path)/2", MemoryConnection(log))
      try await first.store.write { try $0.set(Leaf(id: "1")) }
      let none = await #expect(throws: StoreError.self) { try await compare(first, log) }
      #expect(none?.code == .unavailable && none?.reason.contains("no copy") == true)
      try await put(first, log)
      let behind = await #expect(throws: StoreError.self) { try await compare(second, log) }
      #expect(behind?.code == .unavailable && behind?.reason.contains("position 1") == true)
      let plain = try ModelStore(path: "\(path)/3", configuration: .forTests)
      let other = await #expect(throws: StoreError.self) {
        try await ReplicatedStore.compare(path: plain.path, log: MemoryConnection(log))
      }
      #expect(other?.code == .replicated)
      for store in [first.store, second.store, plain] { await store.close() }
    }
  }
}
