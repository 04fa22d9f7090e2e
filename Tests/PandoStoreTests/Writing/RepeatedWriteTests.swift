import PandoFixtures
import PandoLMDB
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

/// Writes that have to run again, or can't be kept.
@Suite(.overBothBackings) struct RepeatedWriteTests {
  private struct Stop: Error {}

  private func leaf(_ id: Int, byteCount: Int = 0) -> TreeNode {
    TreeNode(
      "leaf:\(id)", type: "Leaf",
      fields: ["bytes": .bytes([UInt8](repeating: 7, count: byteCount))])
  }

  private static var small: ModelStore.Configuration {
    var configuration = ModelStore.Configuration.forTests
    configuration.mapSizeInBytes = 1 << 20
    return configuration
  }

  @Test func `a write that fills the map runs again in a larger one`() throws {
    let grown = Locked<[Int]>([])
    var configuration = Self.small
    configuration.events = { event in
      if case .mapGrown(let size) = event { grown.withLock { $0.append(size) } }
    }
    let store = try ModelStore.forTest(configuration)
    let runs = Locked(0)
    let commit = try store.commit { transaction in
      runs.withLock { $0 += 1 }
      for id in 0..<300 { try transaction.set(leaf(id, byteCount: 10_000)) }
      return 300
    }
    #expect(commit.result == 300)
    #expect(commit.changeSet?.inserted.count == 300)
    #expect(runs.value > 1)
    #expect(grown.value.count == store.counters.mapGrowths)
    #expect(store.counters.mapGrowths > 0)
    #expect(try store.verify().problems == [])
  }

  @Test func `a full map fails the write that is too large and no other`() throws {
    var configuration = Self.small
    configuration.maximumMapSizeInBytes = 2 << 20
    let store = try ModelStore.forTest(configuration)
    let queue = try WriteQueue(store)
    try queue.submit { try $0.set(leaf(0)) }
    try queue.submit { transaction in
      for id in 1..<400 { try transaction.set(leaf(id, byteCount: 10_000)) }
    }
    // An error that is swallowed is still a write that can't be kept.
    try queue.submit { transaction in
      for id in 500..<900 { try? transaction.set(leaf(id, byteCount: 10_000)) }
    }
    try queue.submit { try $0.set(leaf(1000)) }
    let outcomes = queue.run()
    #expect(try outcomes[0].get()?.commitNumber.value == 1)
    expectFailure(engine: .mapFull, "it may not grow above 2097152 bytes") {
      _ = try outcomes[1].get()
    }
    expectFailure(engine: .mapFull) { _ = try outcomes[2].get() }
    #expect(try outcomes[3].get()?.commitNumber.value == 2)
    #expect(try store.read { try $0.identifiers() } == ["leaf:0", "leaf:1000"])
    try store.write { try $0.deleteIfPresent("leaf:0") }
    #expect(try store.verify().problems == [])
  }

  @Test func `a nested transaction that throws is undone and the rest goes on`() throws {
    let store = try ModelStore.forTest()
    let commit = try store.commit { transaction in
      try transaction.set(leaf(0))
      #expect(throws: Stop.self) {
        try transaction.nested { inner in
          try inner.set(leaf(1))
          try inner.set(TreeNode("other", type: "Other"))
          try inner.append([.reference(identifier: "leaf:1", typeName: "Leaf")], toCollection: "c")
          throw Stop()
        }
      }
      try transaction.nested { try $0.set(leaf(2)) }
    }
    #expect(commit.changeSet?.inserted == ["leaf:0", "leaf:2"])
    #expect(commit.changeSet?.collections == [])
    #expect(try store.read { try $0.typeNames() } == ["Leaf"])
    #expect(try store.verify().problems == [])
  }

  /// A tree whose last part would close a cycle when all before it is stored.
  private var cyclic: TreeNode {
    let toBox = TreeValue.reference(identifier: "box", typeName: "Box")
    let inner = TreeNode("inner", type: "Box", fields: .object(["box": toBox]))
    let box = TreeNode(
      "box", type: "Box", fields: ["inner": .node(TreeNode("inner", type: "Box"))])
    return TreeNode("top", type: "Box", fields: ["a": .node(box), "b": .node(inner)])
  }

  @Test func `a closure can't keep an operation that was half done`() throws {
    // Was: the rows written before the error stayed, with a child that had no record.
    let store = try ModelStore.forTest()
    expectFailure(.cyclicModel, "would contain itself") {
      try store.write { transaction in
        try transaction.set(leaf(0))
        try? transaction.set(cyclic)
      }
    }
    #expect(try store.read { try $0.count() } == 0)
    try store.write { transaction in
      try transaction.set(leaf(0))
      try? transaction.nested { try $0.set(cyclic) }
      try? transaction.nested { inner in try? inner.set(cyclic) }
    }
    #expect(try store.read { try $0.identifiers() } == ["leaf:0"])
    #expect(try store.verify().problems == [])
  }

  @Test func `a closure goes on after an operation that was refused at once`() throws {
    let store = try ModelStore.forTest()
    let nameless = TreeNode("", type: "New")
    let commit = try store.commit { transaction in
      try? transaction.set(nameless)
      // Was: the empty collections were made although their elements were refused.
      try? transaction.setCollection("set", to: [.node(nameless)])
      try? transaction.append([.node(nameless)], toCollection: "append")
      try transaction.set(leaf(0))
    }
    #expect(commit.changeSet?.inserted == ["leaf:0"])
    #expect(commit.changeSet?.collections == [])
    #expect(try store.read { try $0.collectionKeys() } == [])
    #expect(try store.verify().problems == [])
  }
}
