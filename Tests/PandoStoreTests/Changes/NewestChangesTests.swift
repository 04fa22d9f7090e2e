import PandoFixtures
import PandoLMDB
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

/// The newest change sets, which stand beside the counters before they move to the table.
@Suite struct NewestChangesTests {
  private func leaf(_ id: Int) -> TreeNode {
    TreeNode("leaf:\(id)", type: "Leaf", fields: ["number": .integer(Int64(id))])
  }

  /// How many rows the table has, and how many change sets stand beside the counters.
  private func places(in store: ModelStore) throws -> (rows: Int, newest: Int) {
    try store.core.read { reader in
      var rows = 0
      try reader.snapshot.scan(reader.tables.changes) { _, _ in
        rows += 1
        return true
      }
      let newest = try reader.storedNewestChanges()
      return (rows, Int(newest.next - newest.first))
    }
  }

  private func expectWholeLog(of store: ModelStore, upTo last: Int) throws {
    for known in 0...last {
      let found = try store.read { try $0.changes(since: CommitNumber(value: UInt64(known))) }.map(
        \.commitNumber.value)
      #expect(found == Array(UInt64(known + 1)..<UInt64(max(last, known) + 1)))
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `small commits touch the table once for several`() throws {
    try withTemporaryDirectory { path in
      var store = try ModelStore(path: path, configuration: .forTests)
      var moves = 0
      var last = try places(in: store)
      for id in 1...60 {
        try store.write { try $0.set(leaf(id)) }
        let now = try places(in: store)
        #expect(now.rows + now.newest == id)
        if now.rows != last.rows { moves += 1 }
        last = now
        if id % 7 == 0 {
          store.close()
          store = try ModelStore(path: path, configuration: .forTests)
        }
      }
      #expect((2...10).contains(moves), "\(moves) moves")
      try expectWholeLog(of: store, upTo: 60)
      let changes = try store.read { try $0.changes(since: .zero) }
      #expect(changes.map(\.inserted) == (1...60).map { ["leaf:\($0)"] })
      store.close()
    }
  }

  @Test(.overBothBackings) func `a commit with a long change set moves all`() throws {
    let store = try ModelStore.forTest()
    for id in 1...3 { try store.write { try $0.set(leaf(id)) } }
    #expect(try places(in: store) == (0, 3))
    try store.write { transaction in for id in 10...200 { try transaction.set(leaf(id)) } }
    #expect(try places(in: store) == (4, 0))
    try store.write { try $0.set(leaf(4)) }
    #expect(try places(in: store) == (4, 1))
    try expectWholeLog(of: store, upTo: 5)
  }

  @Test(.overBothBackings) func `a write sees the changes of those before it in the same flush`()
    async throws
  {
    let store = try ModelStore.forTest()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in 0..<200 {
        group.addTask {
          try await store.write { transaction in
            let newest = try transaction.snapshot.commitNumber.value
            let known = try transaction.snapshot.changes(since: .zero).map(\.commitNumber.value)
            #expect(known == Array(1..<newest + 1))
            try transaction.set(leaf(id))
          }
        }
      }
      try await group.waitForAll()
    }
    try expectWholeLog(of: store, upTo: 200)
  }

  @Test(.overBothBackings) func `a write that fails leaves no change set`() throws {
    struct Failure: Error {}
    let store = try ModelStore.forTest()
    for id in 1...40 {
      #expect(throws: Failure.self) {
        try store.write { transaction in
          try transaction.set(leaf(1000 + id))
          throw Failure()
        }
      }
      try store.write { try $0.set(leaf(id)) }
    }
    try expectWholeLog(of: store, upTo: 40)
  }

  @Test func `records are logged in the table, with the change sets before them`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      for id in 1...3 { try store.write { try $0.set(leaf(id)) } }
      _ = try store.setRetention(keepsRecords: true)
      try store.write { try $0.set(leaf(4)) }
      #expect(try places(in: store) == (5, 0), "four change sets and the records of one")
      _ = try store.setRetention(keepsRecords: false)
      try store.write { try $0.set(leaf(5)) }
      #expect(try places(in: store) == (4, 1))
      try expectWholeLog(of: store, upTo: 5)
      store.close()
    }
  }

  @Test(arguments: [2, 3] as [UInt32])
  func `a store of an older format goes on, and is of this one from its first commit`(
    version: UInt32
  ) throws {
    try withTemporaryDirectory { path in
      var store = try ModelStore(path: path, configuration: .forTests)
      for id in 1...4 { try store.write { try $0.set(leaf(id)) } }
      try store.editRows { rows, tables in
        try rows.moveNewestChanges(in: tables)
        let row = try rows.value(StoreState.key, in: tables.meta)
        var state = try StoreState(row.span, path: path)
        state.formatVersion = version
        try rows.put(state.bytes, StoreState.key, in: tables.meta)
      }
      store.close()
      store = try ModelStore(path: path, configuration: .forTests)
      #expect(try store.statistics().formatVersion == Int(version))
      try expectWholeLog(of: store, upTo: 4)
      try store.write { try $0.set(leaf(5)) }
      #expect(try store.statistics().formatVersion == 6)
      try expectWholeLog(of: store, upTo: 5)
      store.close()
    }
  }
}
