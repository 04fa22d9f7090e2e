import Glibc
import PandoFixtures
import PandoLMDB
import PandoModels
import PandoStore
import Testing

/// The uses of `torture hostile`, in sizes for a test.
@Suite(.overBothBackings) struct HostileUseTests {
  private let child = TreeValue.reference(identifier: "child", typeName: "Child")

  @Test func `ten thousand parents of one node are found, and lose it when it is deleted`() throws {
    let count = 10_000
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.set(TreeNode("child", type: "Child", fields: ["text": "one for all"]))
      for number in 0..<count {
        let edge = number % 100 == 0 ? TreeValue.required(child) : child
        try transaction.set(TreeNode("parent:\(number)", type: "Parent", fields: ["of": edge]))
      }
    }
    let change = try store.commit {
      try $0.set(TreeNode("child", type: "Child", fields: ["text": "changed"]))
    }
    #expect(change.changeSet?.updated == ["child"])
    #expect(try store.read { try $0.parents(of: "child") }.count == count)
    let deletion = try #require(try store.write { try $0.deleteIfPresent("child") })
    #expect(deletion.deleted.count == 1 + count / 100)
    #expect(deletion.updated.count == count - count / 100)
    #expect(try store.read { try $0.count() } == count - count / 100)
    #expect(try store.read { try $0.tree("parent:1") }?["of"] == .null)
    #expect(try store.verify().problems == [])
  }

  @Test func `a reader that stands keeps its version, and the file grows until it goes`() throws {
    let count = 150
    let store = try ModelStore.forTest()
    func commit(_ start: Int) throws -> Int {
      for step in start..<start + count {
        let text = TreeValue.string(String(repeating: "\(step) ", count: 200))
        try store.write {
          try $0.set(TreeNode("leaf:\(step % 10)", type: "Leaf", fields: ["text": text]))
        }
      }
      return try store.statistics().fileSizeInBytes
    }
    _ = try commit(0)
    let quiet = try commit(count)
    let held = try store.read { snapshot in
      let before = try snapshot.tree("leaf:3")
      let size = try commit(2 * count)
      let after = try snapshot.tree("leaf:3")
      #expect(after == before)
      return size
    }
    // Each commit writes at least a page of records, one of the change log, and those above.
    #expect(held >= quiet + count * 2 * 4096)
    #expect(try commit(3 * count) <= held)
    #expect(try store.verify().problems == [])
  }

  @Test func `more readers at once than there are places is an error, and the next ones read`()
    throws
  {
    var configuration = ModelStore.Configuration.forTests
    configuration.maximumReaders = 1000
    let store = try ModelStore.forTest(configuration)
    func nest(_ depth: Int, _ body: () throws -> Void) throws {
      if depth == 0 { return try body() }
      try store.read { _ in try nest(depth - 1, body) }
    }
    for _ in 0..<2 {
      try nest(1000) {
        expectFailure(engine: .readersFull, "process \(getpid()) has 1000") {
          try store.read { _ in }
        }
      }
    }
    #expect(try store.statistics().readerCount == 0)
  }
}
