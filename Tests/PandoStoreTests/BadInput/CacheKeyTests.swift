import PandoFixtures
import PandoLMDB
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

/// Cache keys of collections are told apart byte by byte, however long they are.
@Suite(.overBothBackings) struct CacheKeyTests {
  private static let long = String(repeating: "k", count: 600)
  private static let raw = String(repeating: "r", count: 511)

  /// A row of `collections` as it was written before there were long keys: 511 bytes as they are.
  private static func makeOldStore() throws -> ModelStore {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.append([.string("old"), .node(leaf("leaf"))], toCollection: "x")
    }
    try store.editRows { rows, tables in
      try rows.remove(Array("x".utf8), in: tables.collections)
      try rows.put(little(1), Array(raw.utf8), in: tables.collections)
      try rows.put(Array(raw.utf8), big(1), in: tables.collectionNames)
    }
    return store
  }

  private static func leaf(_ identifier: String) -> TreeNode {
    TreeNode(identifier, type: "Leaf", fields: ["number": 1])
  }

  private static func elements(_ key: String, in store: ModelStore) throws -> [TreeValue]? {
    try store.read { try $0.collectionTrees(key) }
  }

  @Test func `an empty one is refused, and reads as absent`() throws {
    let store = try ModelStore.forTest()
    expectFailure(.emptyIdentifier, "the cache key of a collection is empty") {
      try store.write { try $0.setCollection("", to: [.node(Self.leaf("a"))]) }
    }
    #expect(try store.read { try $0.count() } == 0)
    #expect(try Self.elements("", in: store) == nil)
  }

  @Test func `cache keys of all lengths are distinguished`() throws {
    let store = try ModelStore.forTest()
    let big = String(repeating: "ä", count: 10_000)
    let keys =
      ["k", "k\u{0}", "caf\u{e9}", "cafe\u{301}", big, big + "a", big + "b"]
      + (505...515).map { String(Self.long.prefix($0)) }
      + (0..<5).map { Self.long + "\($0)" }
    for key in keys { #expect(try Self.elements(key, in: store) == nil) }
    let commit = try store.commit { transaction in
      for key in keys {
        try transaction.append([.string(key), .node(Self.leaf("leaf"))], toCollection: key)
      }
    }
    let told = try #require(commit.changeSet).collections.map { Array($0.cacheKey.utf8) }
    #expect(Set(told) == Set(keys.map { Array($0.utf8) }))
    for key in keys {
      #expect(try Self.elements(key, in: store)?.first == .string(key))
      #expect(try store.read { try $0.collectionCount(key) } == 2)
    }
    let sorted = keys.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    #expect(try store.read { try $0.collectionKeys() }.map { Array($0.utf8) } == sorted)
    let holding = try store.read { try $0.collections(holding: "leaf") }
    #expect(Set(holding.map { Array($0.utf8) }) == Set(sorted))
    #expect(try store.verify().problems == [])
    let deletion = try store.commit { _ = try $0.deleteIfPresent("leaf") }
    #expect(deletion.changeSet?.collections.count == keys.count)
    for key in keys { #expect(try Self.elements(key, in: store) == [.string(key)]) }
    #expect(try store.verify().problems == [])
  }

  @Test(arguments: seeds(4))
  func `random ones with equal beginnings are kept as in a dictionary`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try ModelStore.forTest()
    let keys = (0..<40).map { _ in
      let count =
        Int.random(in: 0..<8, using: &random) == 0
        ? 20_000
        : .random(
          in: 500...520, using: &random)
      let end = String(Int.random(in: 0..<3, using: &random))
      return String(repeating: "é", count: (count - 1) / 2) + (count % 2 == 0 ? "-" : "") + end
    }
    var expected: [String: [TreeValue]] = [:]
    for step in 0..<200 {
      let key = try #require(keys.randomElement(using: &random))
      let value = TreeValue.integer(Int64(step))
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        let isThere = expected.removeValue(forKey: key) != nil
        #expect(try store.write { try $0.removeCollection(key) } == isThere)
      case 1:
        try store.write { try $0.setCollection(key, to: [value]) }
        expected[key] = [value]
      default:
        try store.write { try $0.append([value], toCollection: key) }
        expected[key, default: []].append(value)
      }
    }
    for key in keys { #expect(try Self.elements(key, in: store) == expected[key]) }
    #expect(try store.read { try $0.collectionKeys() } == expected.keys.sorted())
    #expect(try store.verify().problems == [])
  }

  @Test func `a dump and the change log keep long ones`() throws {
    let store = try ModelStore.forTest()
    let keys = [Self.long, Self.long + "1", String(repeating: "b", count: 20_000), Self.raw, "a"]
    try store.write { transaction in
      for key in keys { try transaction.append([.string(key)], toCollection: key) }
    }
    let logged = try store.read { try $0.changes(since: .zero) }.flatMap(\.collections).map(
      \.cacheKey)
    #expect(Set(logged) == Set(keys))
    var lines: [String] = []
    try store.dump { lines.append($0) }
    let source = LineSource(lines)
    let copy = try ModelStore.forTest()
    try copy.load { source.next() }
    var again: [String] = []
    try copy.dump { again.append($0) }
    #expect(again == lines)
    for key in keys { #expect(try Self.elements(key, in: copy) == [.string(key)]) }
    #expect(try copy.verify().problems == [])
  }

  @Test func `one of 511 bytes that an older program wrote is found, changed and removed`() throws {
    let store = try Self.makeOldStore()
    #expect(try Self.elements(Self.raw, in: store)?.first == .string("old"))
    #expect(try store.read { try $0.collectionKeys() } == [Self.raw])
    #expect(try store.verify().problems == [])
    try store.write { try $0.append([.string("new")], toCollection: Self.raw) }
    #expect(try store.statistics().collectionCount == 1)
    #expect(try store.statistics().formatVersion == 6)
    #expect(try Self.elements(Self.raw, in: store)?.count == 3)
    var lines: [String] = []
    try store.dump { lines.append($0) }
    let source = LineSource(lines)
    let copy = try ModelStore.forTest()
    try copy.load { source.next() }
    #expect(try Self.elements(Self.raw, in: copy)?.count == 3)
    let deletion = try store.write { try $0.deleteIfPresent("leaf") }
    #expect(deletion?.collections == [Self.raw])
    #expect(try store.write { try $0.removeCollection(Self.raw) })
    #expect(try store.read { try $0.collectionKeys() } == [])
    #expect(try Self.elements(Self.raw, in: store) == nil)
    try store.write { try $0.append([.string("again")], toCollection: Self.raw) }
    #expect(try Self.elements(Self.raw, in: store) == [.string("again")])
    #expect(try store.verify().problems == [])
  }

  @Test func `two of one beginning and one hash are no one list`() throws {
    let store = try ModelStore.forTest()
    try store.write { try $0.append([.string("a")], toCollection: Self.long) }
    let other = Self.long + "other"
    // No two texts of one hash are known: the row says that it is the other one's.
    try store.editRows { rows, tables in
      try rows.put(Array(other.utf8), big(1), in: tables.collectionNames)
    }
    expectFailure(.invalidModel, "the same 128-bit hash as another cache key") {
      _ = try Self.elements(Self.long, in: store)
    }
    // Which would end the process at the next write.
    if !InternalChecks.areOn {
      expectFailure(.invalidModel, "the same 128-bit hash as another cache key") {
        try store.write { try $0.append([.string("b")], toCollection: Self.long) }
      }
    }
    let problems = try store.verify().problems
    #expect(problems.contains { $0.reason == "its number leads back to another cache key" })
  }
}
