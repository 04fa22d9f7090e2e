import PandoFixtures
import PandoLMDB
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Stores that have followed their log since before commits had marks.
@Suite struct EarlierVersionTests {
  /// Makes a store what an earlier version leaves; nobody has it open.
  private func forgetMarks(_ path: String) throws {
    let environment = try Environment(path: path)
    defer { environment.close() }
    let meta = try environment.rawTable("meta")
    let key = SharedRows.historiesKey
    try environment.write { try $0.delete(key: key.span, in: meta) }
  }

  private func number(_ fixture: ReplicaFixture) throws -> CommitNumber {
    try fixture.store.read { try $0.commitNumber }
  }

  /// Has each of two stores read what came behind a commit, by the number that the other one gives it.
  private func expectEqual(_ first: ReplicaFixture, _ second: ReplicaFixture) throws {
    let before = try number(first)
    #expect(try number(second) == before)
    #expect(before.history != 0)
    try first.store.write { try $0.set(Leaf(id: "last", text: first.store.path)) }
    try second.replica.catchUp()
    let after = try number(first)
    #expect(try number(second) == after)
    for fixture in [first, second] {
      #expect(
        try fixture.store.read { try $0.changes(since: before) }.map(\.commitNumber) == [after])
    }
  }

  /// Fixed: they stayed without, and a number that another machine had given was refused as one of another history.
  @Test(arguments: [false, true])
  func `their commits get the marks that those of other machines have`(
    hasContent: Bool
  ) async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      if hasContent {
        let store = try ModelStore(path: "\(path)/1", configuration: .forTests)
        for id in ["x", "y"] { try await store.write { try $0.set(Leaf(id: id)) } }
        await store.close()
      }
      let before = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      try await before.store.write { try $0.set(Leaf(id: "1")) }
      let known = try number(before)
      await before.store.close()
      if hasContent { try await ReplicatedStore.copy(path: "\(path)/1", to: "\(path)/2") }
      let second = try ReplicaFixture("\(path)/2", MemoryConnection(log))
      defer { second.store.close() }
      try second.replica.catchUp()
      try forgetMarks("\(path)/1")
      let first = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      defer { first.store.close() }
      #expect(try number(first) == known)
      try expectEqual(first, second)
      try expectEqual(second, first)
    }
  }

  @Test func `they get the marks of a log that was begun again`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      for id in ["1", "2"] {
        let fixture = try ReplicaFixture("\(path)/1", MemoryConnection(log))
        try await fixture.store.write { try $0.set(Leaf(id: id)) }
        await fixture.store.close()
        if id == "1" {
          try await ReplicatedStore.republish(path: "\(path)/1", log: MemoryConnection(log))
        }
      }
      try forgetMarks("\(path)/1")
      let first = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      defer { first.store.close() }
      let second = try ReplicaFixture("\(path)/2", MemoryConnection(log))
      defer { second.store.close() }
      try second.replica.catchUp()
      #expect(try number(first) == number(second))
      #expect(try number(first).history != 0)
    }
  }

  @Test func `a copy that an earlier version has put takes no marks`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let second = try ReplicaFixture("\(path)/2", MemoryConnection(log))
      defer { second.store.close() }
      let first = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      for id in ["1", "2"] { try await first.store.write { try $0.set(Leaf(id: id)) } }
      let known = try number(first)
      await first.store.close()
      try forgetMarks("\(path)/1")
      try await ReplicatedStore.putSnapshot(path: "\(path)/1", log: MemoryConnection(log))
      log.forget(first: 2)
      try second.replica.catchUp()
      #expect(second.replica.statistics.replaced == 1)
      #expect(try number(second) == known)
    }
  }
}
