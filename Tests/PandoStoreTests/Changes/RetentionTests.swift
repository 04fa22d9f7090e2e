import PandoFixtures
import PandoModels
import Testing

@testable import PandoStore

/// How much of the change log is kept.
@Suite struct RetentionTests {
  private func leaf(_ id: Int) -> TreeNode { TreeNode("leaf:\(id)", type: "Leaf") }

  private func open(
    _ path: String, limit: Int, cursorLimit: Int = 0, keepsRecords: Bool = false
  ) throws -> ModelStore {
    var configuration = ModelStore.Configuration.forTests
    configuration.changeLogLimit = limit
    configuration.changeLogLimitForCursors = cursorLimit
    configuration.changeLogKeepsRecords = keepsRecords
    return try ModelStore(path: path, configuration: configuration)
  }

  /// How many rows the table of the log has.
  private func rowCount(of store: ModelStore) throws -> Int {
    try store.core.read { reader in
      var count = 0
      try reader.snapshot.scan(reader.tables.changes) { _, _ in
        count += 1
        return true
      }
      return count
    }
  }

  private func write(_ count: Int, to store: ModelStore) throws {
    for id in 0..<count { try store.write { try $0.set(leaf(id).with(count)) } }
  }

  @Test func `an opening that asks for less trims nothing that another one needs`() throws {
    try withTemporaryDirectory { path in
      let store = try open(path, limit: 100)
      try write(60, to: store)
      store.close()
      for limit in [1, 20, 100] {
        let small = try open(path, limit: limit)
        try write(1, to: small)
        #expect(try small.statistics().changeLogCount > 60)
        #expect(try small.read { try $0.changes(since: .zero) }.first?.commitNumber.value == 1)
        small.close()
      }
      // More is kept from then on, and what had gone stays gone.
      let large = try open(path, limit: 1000)
      try write(70, to: large)
      #expect(try large.statistics().changeLogCount > 100)
      #expect(try large.verify().problems == [])
      large.close()
    }
  }

  @Test func `a limit that was lowered costs no write more than 64 rows`() throws {
    try withTemporaryDirectory { path in
      let store = try open(path, limit: 1000)
      defer { store.close() }
      try write(300, to: store)
      let kept = try store.setRetention(commitCount: 10)
      #expect(kept == (10, 0, false))
      #expect(try store.statistics().changeLogCount == 300)
      var count = try rowCount(of: store)
      for id in 0..<100 {
        try store.write { try $0.set(leaf(1000 + id)) }
        let left = try rowCount(of: store)
        #expect(count - left <= 64)
        count = left
        #expect(try store.statistics().changeLogCount == 10)
        #expect(try store.verify().problems == [])
      }
      #expect(count <= 10)
    }
  }

  @Test func `a store from before the row for it keeps what is usual`() throws {
    try withTemporaryDirectory { path in
      let store = try open(path, limit: 3)
      try store.core.environment.write { transaction in
        let key = ChangeLogRetention.key
        _ = try transaction.delete(key: key.span, in: store.core.tables.meta)
      }
      try write(5, to: store)
      #expect(try store.statistics().changeLogCount == 5)
      #expect(try store.core.read { try $0.retention() } == .standard)
      store.close()
    }
  }

  @Test func `the records of a commit are kept as they were, where that was turned on`() throws {
    try withTemporaryDirectory { path in
      let store = try open(path, limit: 3, keepsRecords: true)
      for version in 1...5 {
        try store.write {
          try $0.set(leaf(1).with(version))
        }
      }
      #expect(try store.statistics().changeLogCount == 3)
      #expect(
        try store.read { try $0.changes(since: CommitNumber(value: 2)) }.map(\.commitNumber.value)
          == [3, 4, 5])
      for number in 1...5 {
        let records = try store.core.read { try $0.loggedRecords(of: UInt64(number)) }
        let versions = records?.map { $0["value"]?.integerValue }
        #expect(versions == (number < 3 ? nil : [Int64(number)]))
      }
      #expect(try store.verify().problems == [])
      // Another opening that does not ask for it keeps them too.
      store.close()
      let again = try open(path, limit: 3)
      defer { again.close() }
      try again.write { try $0.set(leaf(2)) }
      #expect(try again.core.read { try $0.loggedRecords(of: 6) } == [leaf(2)])
      _ = try again.setRetention(keepsRecords: false)
      #expect(try again.core.read { try $0.loggedRecords(of: 6) } == nil)
      try again.write { try $0.set(leaf(3)) }
      #expect(try again.core.read { try $0.loggedRecords(of: 7) } == nil)
      #expect(try again.statistics().changeLogCount == 3)
      #expect(try again.verify().problems == [])
    }
  }

  @Test func `all records of a tree are kept, their children as references`() throws {
    let store = try ModelStore.temporary(
      configuration: {
        var configuration = ModelStore.Configuration.forTests
        configuration.changeLogKeepsRecords = true
        return configuration
      }())
    defer { store.close() }
    let child = TreeNode("leaf:\n“1”", type: "Leaf", fields: ["bytes": .bytes([0, 255])])
    try store.write {
      try $0.set(TreeNode("root", type: "Root", fields: ["child": .node(child), "none": .null]))
    }
    let records = try store.core.read { try $0.loggedRecords(of: 1) } ?? []
    #expect(records.map(\.identifier) == [child.identifier, "root"])
    #expect(records.last?["child"] == .reference(identifier: child.identifier, typeName: "Leaf"))
    #expect(records.last?["none"] == .null)
    #expect(records.first == child)
  }
}

extension TreeNode {
  fileprivate func with(_ value: Int) -> TreeNode {
    var copy = self
    copy["value"] = .integer(Int64(value))
    return copy
  }
}
