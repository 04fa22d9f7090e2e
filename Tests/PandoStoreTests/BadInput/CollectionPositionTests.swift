import PandoFixtures
import PandoModels
import PandoStore
import Testing

/// Positions and keys of collections that are not there.
@Suite(.overBothBackings) struct CollectionPositionTests {
  private func makeStore() throws -> ModelStore {
    let store = try ModelStore.forTest()
    try store.write { try $0.setCollection("abc", to: ["a", "b", "c"]) }
    return store
  }

  private static let mistakes: [(String, @Sendable (inout ModelTransaction) throws -> Void)] = [
    ("position -1", { try $0.insert(["x"], at: -1, inCollection: "abc") }),
    ("position 4", { try $0.insert(["x"], at: 4, inCollection: "abc") }),
    ("position 3", { try $0.update("x", at: 3, inCollection: "abc") }),
    ("position -1", { try $0.update("x", at: -1, inCollection: "abc") }),
    ("position 3", { try $0.moveElement(from: 3, to: 0, inCollection: "abc") }),
    ("position 3", { try $0.moveElement(from: 0, to: 3, inCollection: "abc") }),
    ("position 2..<4", { try $0.removeElements(in: 2..<4, fromCollection: "abc") }),
    ("position -1..<1", { try $0.removeElements(in: -1..<1, fromCollection: "abc") }),
  ]

  @Test(arguments: mistakes.indices)
  func `a position outside is refused and nothing is changed`(index: Int) throws {
    let store = try makeStore()
    let (position, mistake) = Self.mistakes[index]
    expectFailure(
      .indexOutOfRange,
      "abc: \(position) is outside the collection, which has 3 elements; nothing was changed"
    ) {
      try store.write { transaction in
        try transaction.set(TreeNode("a", type: "Leaf"))
        try mistake(&transaction)
      }
    }
    #expect(try store.read { try $0.collectionTrees("abc") } == ["a", "b", "c"])
    #expect(try store.read { try $0.count() } == 0)
    #expect(try store.read { try $0.commitNumber.value } == 1)
  }

  @Test func `a range outside is refused by reads`() throws {
    let store = try makeStore()
    expectFailure(.indexOutOfRange, "position 1..<4") {
      _ = try store.read { try $0.collectionTrees("abc", in: 1..<4) }
    }
    #expect(try store.read { try $0.collectionTrees("abc", in: 3..<3) } == [])
  }

  @Test func `a collection that is not there is refused where one is needed`() throws {
    let store = try makeStore()
    let needy: [@Sendable (inout ModelTransaction) throws -> Void] = [
      { try $0.insert(["x"], at: 0, inCollection: "none") },
      { try $0.update("x", at: 0, inCollection: "none") },
      { try $0.moveElement(from: 0, to: 0, inCollection: "none") },
      { try $0.removeElements(in: 0..<0, fromCollection: "none") },
    ]
    for operation in needy {
      expectFailure(.noSuchCollection, "none: there is no such collection") {
        try store.write { try operation(&$0) }
      }
    }
    #expect(try store.read { try $0.collectionKeys() } == ["abc"])
  }
}
