import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Stores that follow one log, without faults.
@Suite struct ReplicaTests {
  @Test func `all stores have what one store writes`() throws {
    try withReplicas(3) { replicas in
      try replicas[0].store.write { transaction in
        try transaction.set(Card(id: "1", text: "a", leaves: [Leaf(id: "1"), Leaf(id: "2")]))
        try transaction.append([Leaf(id: "2"), Leaf(id: "3")], toCollection: "list")
      }
      try replicas[1].replica.catchUp()
      try replicas[1].store.write { transaction in
        try transaction.deleteIfPresent("Leaf:1")
        try transaction.set(CardTitle(id: "1", text: "b", color: "red"))
        try transaction.append([Mark(number: 7)], toCollection: "list")
      }
      for replica in replicas { try replica.replica.catchUp() }
      let dump = try replicas[0].dump()
      #expect(try replicas[1].dump() == dump)
      #expect(try replicas[2].dump() == dump)
      let card = try replicas[2].store.read { try $0.get("Card:1", as: Card.self) }
      #expect(card == Card(id: "1", text: "b", leaves: [Leaf(id: "2")]))
      #expect(replicas[0].replica.statistics.direct == 1)
      #expect(replicas[2].replica.statistics.judged == 2)
      for replica in replicas { #expect(try replica.store.verify().isClean) }
    }
  }

  @Test(arguments: [false, true])
  func `the first elements of a list are insertions on every store`(isJudged: Bool) throws {
    try withReplicas(2) { replicas in
      if isJudged { try replicas[1].store.write { try $0.set(Leaf(id: "0")) } }
      try replicas[0].store.write { transaction in
        try transaction.append([Leaf(id: "1")], toCollection: "list")
        try transaction.append([Leaf(id: "2")], toCollection: "list")
        try transaction.setCollection("whole", to: [Leaf(id: "1")])
        try transaction.append([Leaf(id: "2")], toCollection: "whole")
        try transaction.append([] as [Leaf], toCollection: "empty")
      }
      try replicas[1].replica.catchUp()
      for replica in replicas {
        let changes = try replica.store.read { try $0.changes(since: .zero) }.last
        #expect(
          changes?.change(ofCollection: "list") == .changes([.insert(index: 0), .insert(index: 1)]))
        #expect(changes?.change(ofCollection: "whole") == .reset)
        #expect(changes?.change(ofCollection: "empty") == .reset)
        #expect(try replica.store.verify().isClean)
      }
      #expect(try replicas[0].dump() == replicas[1].dump())
    }
  }

  @Test func `a write behind others runs again if they changed the same data`() throws {
    try withReplicas(2) { replicas in
      try replicas[0].store.write { try $0.set(Tally(id: 1, marks: [1])) }
      try replicas[1].replica.catchUp()
      try replicas[0].store.write { try $0.set(Tally(id: 1, marks: [1, 2])) }
      let runs = Locked(0)
      // Another node: valid, though it has not seen the last entry.
      try replicas[1].store.write { transaction in
        runs.withLock { $0 += 1 }
        try transaction.set(Tally(id: 2, marks: [3]))
      }
      #expect(runs.withLock { $0 } == 1)
      try replicas[0].store.write { try $0.set(Tally(id: 3)) }
      // The same node: it runs again, on what the other one has written.
      try replicas[0].store.write { try $0.set(Tally(id: 1, marks: [1, 2, 4])) }
      try replicas[1].store.write { transaction in
        var tally = try transaction.snapshot.get("Tally:1", as: Tally.self)
        tally?.marks.append(5)
        if let tally { try transaction.set(tally) }
      }
      try replicas[0].replica.catchUp()
      let tally = try replicas[0].store.read { try $0.get("Tally:1", as: Tally.self) }
      #expect(tally?.marks == [1, 2, 4, 5])
      #expect(replicas[1].replica.statistics.refused == 1)
      #expect(try replicas[0].dump() == replicas[1].dump())
    }
  }

  @Test func `a replicated store without its log is readable, and refuses writes`() throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      let first = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      try first.store.write { try $0.set(Leaf(id: "1", text: "a")) }
      first.store.close()
      let store = try ModelStore(path: "\(path)/1", configuration: .forTests)
      #expect(try store.read { try $0.get("Leaf:1", as: Leaf.self) }?.text == "a")
      #expect(try store.statistics().formatVersion == 4)
      for body: @Sendable (inout ModelTransaction) throws -> Void in [
        { try $0.set(Leaf(id: "2")) }, { try $0.setProperty("name", to: [1]) }, { _ in },
      ] {
        let error = #expect(throws: StoreError.self) { try store.write(body) }
        #expect(error?.code == .replicated)
      }
      #expect(try store.verify().isClean)
      store.close()
      let again = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      try again.store.write { try $0.set(Leaf(id: "2")) }
      again.store.close()
    }
  }

  @Test func `a connection announces messages that others append`() throws {
    let log = MemoryLog()
    let (own, other) = (MemoryConnection(log), MemoryConnection(log))
    let told = Locked<[UInt64]>([])
    own.follow { position in told.withLock { $0.append(position) } }
    _ = try other.append([1], named: "1", expecting: nil)
    _ = try other.append([2], named: "2", expecting: nil)
    own.close()
    _ = try other.append([3], named: "3", expecting: nil)
    #expect(told.withLock { $0 } == [1, 2])
  }

  @Test func `a store continues after a log has dropped its applied messages`() throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      for id in ["1", "2"] {
        let fixture = try ReplicaFixture("\(path)/1", MemoryConnection(log))
        try fixture.store.write { try $0.set(Leaf(id: id)) }
        fixture.store.close()
        log.forget(first: log.messages.count - 1)
      }
    }
  }

  @Test func `a store that its log has left behind stops, and says both positions`() throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      let behind = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      let ahead = try ReplicaFixture("\(path)/2", MemoryConnection(log))
      for id in ["1", "2", "3"] { try ahead.store.write { try $0.set(Leaf(id: id)) } }
      log.forget(first: 3)
      for _ in 0..<2 {
        let error = #expect(throws: StoreError.self) { try behind.replica.catchUp() }
        #expect(error?.code == .logLost)
        #expect(error?.description.contains("position 4") == true, "\(error as Any)")
        #expect(error?.description.contains("applied 1") == true, "\(error as Any)")
      }
      #expect(try behind.store.read { try $0.get("Leaf:1", as: Leaf.self) } == nil)
      behind.store.close()
      let error = #expect(throws: StoreError.self) {
        try ReplicaFixture("\(path)/1", MemoryConnection(log))
      }
      #expect(error?.code == .logLost)
      let fresh = #expect(throws: StoreError.self) {
        try ReplicaFixture("\(path)/3", MemoryConnection(log))
      }
      #expect(fresh?.code == .unavailable)
      ahead.store.close()
    }
  }

  /// The log ended behind the store's own entry by chance, and the write failed as `unavailable` for ever.
  @Test(arguments: 1..<5)
  func `a store under which the log was replaced stops`(kept: Int) throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      let fixture = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      defer { fixture.store.close() }
      for id in ["1", "2", "3", "4"] { try fixture.store.write { try $0.set(Leaf(id: id)) } }
      log.truncate(to: kept)
      log.forgetNames()
      for _ in 0..<2 {
        let error = #expect(throws: StoreError.self) {
          try fixture.store.write { try $0.set(Leaf(id: "5")) }
        }
        #expect(error?.code == .logLost, "\(error as Any)")
      }
      #expect(try fixture.store.read { try $0.get("Leaf:4", as: Leaf.self) } != nil)
    }
  }
}
