import PandoFixtures
import PandoLMDB
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

/// Elements of long lists are found by the dependency index, which says in which leaf they are.
@Suite(.overBothBackings) struct ElementPlaceTests {
  private func leaf(_ number: Int) -> TreeNode { TreeNode("leaf:\(number)", type: "Leaf") }

  /// The rows of the leaves of list 1, by block.
  private func leaves(
    _ transaction: borrowing WriteTransaction, _ table: RawTable
  ) throws -> [UInt64: [UInt8]] {
    var rows: [UInt64: [UInt8]] = [:]
    try transaction.snapshot.scan(table, prefix: big(1)) { key, value in
      let block = key.bigEndian(at: 8) ?? 0
      if block & CountedList.leafBit != 0 { rows[block] = Array(copying: value) }
      return true
    }
    return rows
  }

  // Checks would end the process at the write of damaged rows.
  @Test(.enabled(if: !InternalChecks.areOn))
  func `a delete reads the leaf of its element and no other`() throws {
    let store = try ModelStore.forTest()
    try store.write { try $0.setCollection("list", to: (0..<2_000).map { .node(leaf($0)) }) }
    let node: UInt64 = 1_001
    let occurrence = try store.core.read { try $0.occurrence(of: node, inCollection: 1) }
    let block = try #require(occurrence.leaf)
    try store.editRows { transaction, tables in
      for (other, row) in try leaves(transaction, tables.elements) where other != block {
        try transaction.put(row.map { ~$0 }, big(1) + big(other), in: tables.elements)
      }
    }
    try store.write { transaction in
      let places = try transaction.snapshot.indexes(of: "leaf:1000", inCollection: "list")
      #expect(places == [1_000])
      let deletion = try transaction.deleteIfPresent("leaf:1000")
      #expect(deletion?.collections == ["list"])
    }
    #expect(try store.read { try $0.collectionCount("list") } == 1_999)
    store.close()
  }

  @Test func `a wrong place is found by verify, and costs a delete no more than time`() throws {
    let store = try ModelStore.forTest()
    try store.write { try $0.setCollection("list", to: (0..<2_000).map { .node(leaf($0)) }) }
    let key = ParentKey(child: 1_001, parent: RecordKey(collection: 1))
    try store.editRows { transaction, tables in
      let blocks = try leaves(transaction, tables.elements).keys
      let row = try transaction.value((0..<16).map { key.bytes[$0] }, in: tables.parents)
      let present = Occurrence(row.span)?.leaf
      for block in blocks where block != present {
        let wrong = Occurrence(inBlock: block).bytes
        try transaction.put(wrong.span, forKey: key.bytes.span, in: tables.parents)
      }
    }
    #expect(
      try store.verify().problems.map(\.reason)
        == ["the dependency index says another place of leaf:1000"])
    let places = try store.read { try $0.indexes(of: "leaf:1000", inCollection: "list") }
    #expect(places == [1_000])
    try store.write { _ = try $0.deleteIfPresent("leaf:1000") }
    #expect(try store.verify().problems == [])
    #expect(try store.read { try $0.collectionCount("list") } == 1_999)
    store.close()
  }

  private typealias Change = @Sendable (inout ModelTransaction) throws -> Void

  /// Two lists of numbers of leaves; a negative one stands in a value that requires the leaf.
  private struct Reference {
    let keys = ["first", "second"]
    var lists: [[Int]] = [[], []]
    private var last = 0

    /// A leaf that is new, or one that is there already.
    private mutating func element(_ random: inout SeededGenerator) -> Int {
      last += 1
      let number = last % 9 == 0 ? Int.random(in: 1..<last, using: &random) : last
      return number % 7 == 0 ? -number : number
    }

    private static func tree(_ element: Int) -> TreeValue {
      let leaf = TreeValue.node(TreeNode("leaf:\(abs(element))", type: "Leaf"))
      return element < 0 ? .object(["who": .required(leaf)]) : leaf
    }

    var trees: [[TreeValue]] { lists.map { $0.map(Self.tree) } }

    /// Changes the lists at random.
    ///
    /// - Returns: What does the same in a store.
    mutating func change(_ random: inout SeededGenerator, grows: Bool) -> Change {
      let side = Int.random(in: 0..<2, using: &random)
      let key = keys[side]
      let count = lists[side].count
      let place = Int.random(in: 0...count, using: &random)
      switch Int.random(in: 0..<(grows ? 4 : 9), using: &random) {
      case 0 where grows, 1 where grows:
        let new = (0..<Int.random(in: 1..<200, using: &random)).map { _ in element(&random) }
        lists[side].insert(contentsOf: new, at: place)
        let trees = new.map(Self.tree)
        return { try $0.insert(trees, at: place, inCollection: key) }
      case 2 where place < count:
        let target = Int.random(in: 0..<count, using: &random)
        lists[side].insert(lists[side].remove(at: place), at: target)
        return { try $0.moveElement(from: place, to: target, inCollection: key) }
      case 3 where place < count:
        lists[side][place] = element(&random)
        let tree = Self.tree(lists[side][place])
        return { try $0.update(tree, at: place, inCollection: key) }
      case 4 where place < count:
        let range = place..<min(count, place + Int.random(in: 1..<30, using: &random))
        lists[side].removeSubrange(range)
        return { try $0.removeElements(in: range, fromCollection: key) }
      default:
        guard place < count else { return { _ in } }
        let number = abs(lists[side][place])
        for index in lists.indices { lists[index].removeAll { abs($0) == number } }
        return { _ = try $0.deleteIfPresent("leaf:\(number)") }
      }
    }
  }

  @Test(arguments: seeds(1))
  func `random changes leave each place right`(seed: UInt64) throws {
    let store = try ModelStore.forTest()
    var random = SeededGenerator(seed: seed)
    var reference = Reference()
    let keys = reference.keys
    try store.write { for key in keys { try $0.setCollection(key, to: [TreeValue]()) } }
    for step in 0..<100 {
      // They grow at first, and are emptied in the end.
      let grows = step < 40
      let changes = (0..<(grows ? 2 : 40)).map { _ in reference.change(&random, grows: grows) }
      try store.write { for change in changes { try change(&$0) } }
      // Both take much longer than the changes.
      if step % 8 != 3 { continue }
      let found = try store.read { snapshot in
        try keys.map { try snapshot.collectionTrees($0) }
      }
      try #require(found == reference.trees, "seed \(seed), step \(step)")
      try #require(try store.verify().problems == [], "seed \(seed), step \(step)")
    }
    #expect(reference.lists.joined().count < 100, "merges of leaves were met")
    store.close()
  }
}
