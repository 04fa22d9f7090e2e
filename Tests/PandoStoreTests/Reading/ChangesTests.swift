import PandoFixtures
import PandoModels
import Testing

@testable import PandoStore

/// The log of commits: bounded, in order, and honest about what it no longer has.
@Suite struct ChangesTests {
  private func leaf(_ id: Int) -> TreeNode { TreeNode("leaf:\(id)", type: "Leaf") }

  private func makeStore(limit: Int, commits: Int, path: String) throws -> ModelStore {
    var configuration = ModelStore.Configuration.forTests
    configuration.changeLogLimit = limit
    let store = try ModelStore(path: path, configuration: configuration)
    for id in 0..<commits { try store.write(context: id) { try $0.set(leaf(id)) } }
    return store
  }

  @Test func `the log keeps the last commits and says when it was too late`() throws {
    try withTemporaryDirectory { path in
      let store = try makeStore(limit: 5, commits: 12, path: path)
      try store.read { snapshot in
        let changes = try snapshot.changes(since: CommitNumber(value: 7))
        #expect(changes.map(\.commitNumber.value) == [8, 9, 10, 11, 12])
        #expect(changes.map(\.inserted) == (7..<12).map { ["leaf:\($0)"] })
        #expect(changes.allSatisfy { $0.context == nil && $0.author != nil })
        let last = try snapshot.changes(since: CommitNumber(value: 11))
        #expect(last.count == 1)
        let none = try snapshot.changes(since: CommitNumber(value: 12))
        #expect(none.isEmpty)
      }
      for number in [13, UInt64.max] {
        expectFailure(.changesExpired, "commit \(number) does not exist, the newest is commit 12") {
          _ = try store.read { try $0.changes(since: CommitNumber(value: number)) }
        }
      }
      for number in [UInt64(0), 6] {
        expectFailure(.changesExpired, "commit \(number): the change log begins at commit 8") {
          _ = try store.read { try $0.changes(since: CommitNumber(value: number)) }
        }
      }
      #expect(try store.statistics().changeLogCount == 5)
      #expect(try store.verify().problems == [])
      store.close()

      // A smaller limit of another opening changes nothing; one that was set takes effect with the next
      // commit.
      let again = try makeStore(limit: 2, commits: 0, path: path)
      defer { again.close() }
      _ = try again.setRetention(commitCount: 2)
      #expect(try again.read { try $0.changes(since: CommitNumber(value: 7)) }.count == 5)
      try again.write { try $0.set(leaf(99)) }
      #expect(
        try again.read { try $0.changes(since: CommitNumber(value: 11)) }.map(\.commitNumber.value)
          == [12, 13])
      expectFailure(.changesExpired, "begins at commit 12") {
        _ = try again.read { try $0.changes(since: CommitNumber(value: 10)) }
      }
      #expect(try again.verify().problems == [])
    }
  }

  @Test(.overBothBackings) func `a new store has no changes`() throws {
    let store = try ModelStore.forTest()
    #expect(try store.read { try $0.changes(since: .zero) }.isEmpty)
    #expect(try store.read { try $0.commitNumber.value } == 0)
  }

  @Test func `an old snapshot keeps its own version of the log`() throws {
    try withTemporaryDirectory { path in
      let store = try makeStore(limit: 2, commits: 3, path: path)
      defer { store.close() }
      try store.read { snapshot in
        try onThreads(1) { _ in
          for id in 10..<20 { try store.write { try $0.set(leaf(id)) } }
        }
        let number = try snapshot.commitNumber.value
        #expect(number == 3)
        let changes = try snapshot.changes(since: CommitNumber(value: 1))
        #expect(changes.map(\.commitNumber.value) == [2, 3])
        let count = try snapshot.count()
        #expect(count == 3)
      }
      #expect(try store.read { try $0.commitNumber.value } == 13)
    }
  }

  @Test(.overBothBackings) func `properties change nothing that is logged`() throws {
    let store = try ModelStore.forTest()
    let commit = try store.commit { transaction in
      try transaction.setProperty("a", to: [1])
      let inside = try transaction.snapshot.property("a")
      #expect(inside == [1])
    }
    #expect(commit.changeSet == nil)
    #expect(try store.read { try $0.property("a") } == [1])
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.write { transaction in
        try transaction.setProperty("a", to: [2])
        throw Stop()
      }
    }
    #expect(try store.read { try $0.property("a") } == [1])
    try store.write { try $0.removeAll() }
    #expect(try store.read { try $0.property("a") } == [1])
    #expect(try store.read { try $0.commitNumber.value } == 0)
  }
}
