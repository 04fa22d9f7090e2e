import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import Testing

/// Machines whose store is flushed now and then: the log brings again what a power cut takes.
@Suite struct ReplicaPowerCutTests {
  private static let durabilities = [Durability.relaxed(every: .seconds(60)), .full]

  private func open(
    _ path: String, _ log: MemoryLog, _ durability: Durability
  ) throws -> ReplicaFixture {
    var configuration = ModelStore.Configuration.forTests
    configuration.durability = durability
    let store = try ModelStore(path: path, configuration: configuration)
    return ReplicaFixture(
      store: store,
      replica: try Replica(store, log: MemoryConnection(log), configuration: .forTests))
  }

  @Test(arguments: durabilities)
  func `a machine has all again that a cut took, under the same numbers`(
    afterwards: Durability
  ) throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      let cut = try open("\(path)/store", log, Self.durabilities[0])
      let other = try open("\(path)/other", log, .full)
      defer { other.store.close() }
      try cut.store.write { try $0.set(Leaf(id: "kept")) }
      try cut.store.flush()
      let flushed = try cut.store.read { try $0.commitNumber }
      for number in 0..<20 {
        try cut.store.write { try $0.set(Leaf(id: "\(number)")) }
        try other.replica.catchUp()
        try other.store.write { try $0.set(Leaf(id: "other \(number)")) }
        try cut.replica.catchUp()
      }
      let newest = try cut.store.read { try $0.commitNumber }
      try CheckpointBoot.copyCut("\(path)/store", to: "\(path)/cut")
      cut.store.close()

      let again = try open("\(path)/cut", log, afterwards)
      defer { again.store.close() }
      #expect(try again.store.read { try $0.commitNumber } == flushed)
      try again.replica.catchUp()
      #expect(try again.store.read { try $0.commitNumber } == newest)
      let changes = try [again, other].map { machine in
        try machine.store.read { try $0.changes(since: flushed) }.map {
          "\($0.commitNumber) \($0.inserted) \($0.updated) \($0.deleted)"
        }
      }
      #expect(changes[0] == changes[1] && changes[0].count == 40)
      try again.store.write { try $0.set(Leaf(id: "again")) }
      try other.replica.catchUp()
      #expect(try again.dump() == other.dump())
      #expect(try again.store.verify().problems == [])
    }
  }

  @Test func `a store that was cut before it joined keeps its numbers apart`() throws {
    try withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration.forTests
      configuration.durability = Self.durabilities[0]
      let store = try ModelStore(path: "\(path)/store", configuration: configuration)
      try store.write { try $0.set(Leaf(id: "kept")) }
      try store.flush()
      try store.write { try $0.set(Leaf(id: "lost")) }
      let lost = try store.read { try $0.commitNumber.value }
      try CheckpointBoot.copyCut("\(path)/store", to: "\(path)/cut")
      store.close()

      let log = MemoryLog()
      let first = try open("\(path)/cut", log, Self.durabilities[0])
      #expect(try first.store.read { try $0.commitNumber.value } > lost)
      try first.store.write { try $0.set(Leaf(id: "new")) }
      try first.store.flush()
      let known = try first.store.read { try $0.commitNumber }
      try CheckpointBoot.copyCut("\(path)/cut", to: "\(path)/again")
      first.store.close()
      let second = try open("\(path)/again", log, Self.durabilities[0])
      defer { second.store.close() }
      #expect(try second.store.read { try $0.commitNumber } == known)
      try second.store.write { try $0.set(Leaf(id: "newer")) }
      #expect(try second.store.verify().problems == [])
    }
  }
}
