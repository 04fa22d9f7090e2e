import PandoFixtures
import PandoModels
import PandoStore
import Testing

/// Identifiers and keys at their limits: compared byte by byte, never guessed.
@Suite(.overBothBackings) struct IdentifierTests {
  private func leaf(_ identifier: String, _ number: Int = 0) -> TreeNode {
    TreeNode(identifier, type: "Leaf", fields: ["number": .integer(Int64(number))])
  }

  /// Pairs and families that are easily taken for one another.
  private static let families: [String: [String]] = [
    "canonically equivalent": ["caf\u{e9}", "cafe\u{301}", "\u{212b}", "\u{c5}", "A\u{30a}"],
    "with NUL": ["a", "a\u{0}", "a\u{0}b", "\u{0}", "\u{0}\u{0}"],
    "prefixes of each other": (1...20).map { String(repeating: "p", count: $0) },
    "around the longest key": (508...515).map { String(repeating: "k", count: $0) },
    "of ten thousand characters": ["a", "b", "c"].map {
      String(repeating: "ä", count: 10_000) + $0
    },
    "long with one prefix": (0..<5).map { String(repeating: "z", count: 600) + "\($0)" },
  ]

  @Test(arguments: IdentifierTests.families.keys.sorted())
  func `similar identifiers are distinguished`(family: String) throws {
    let identifiers = try #require(Self.families[family])
    let store = try ModelStore.forTest()
    let commit = try store.commit { transaction in
      for (number, identifier) in identifiers.enumerated() {
        try transaction.set(leaf(identifier, number))
      }
      try transaction.set(
        TreeNode(
          "all", type: "Box",
          fields: [
            "list": .array(
              identifiers.map { .reference(identifier: $0, typeName: "Leaf") })
          ]))
    }
    #expect(commit.changeSet?.inserted.count == identifiers.count + 1)
    try store.read { snapshot in
      let count = try snapshot.count(ofType: "Leaf")
      #expect(count == identifiers.count)
      for (number, identifier) in identifiers.enumerated() {
        let tree = try snapshot.tree(identifier)
        #expect(tree == leaf(identifier, number))
        let parents = try snapshot.parents(of: identifier)
        #expect(parents == ["all"])
      }
      let listed = try snapshot.identifiers(ofType: "Leaf")
      #expect(Set(listed.map { Array($0.utf8) }) == Set(identifiers.map { Array($0.utf8) }))
      let prefix = identifiers[identifiers.count - 1]
      let found = try snapshot.identifiers(prefix: prefix)
      #expect(found.map { Array($0.utf8) }.contains(Array(prefix.utf8)))
    }
    let deletion = try store.write { try $0.deleteIfPresent(identifiers[0]) }
    #expect(deletion?.deleted.map { Array($0.utf8) } == [Array(identifiers[0].utf8)])
    let rest = try store.read { try $0.count(ofType: "Leaf") }
    #expect(rest == identifiers.count - 1)
    #expect(try store.verify().problems == [])
  }

  @Test func `a dump keeps them`() throws {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      for identifier in Self.families.values.joined() { try transaction.set(leaf(identifier)) }
    }
    var lines: [String] = []
    try store.dump { lines.append($0) }
    let source = LineSource(lines)
    let copy = try ModelStore.forTest()
    try copy.load { source.next() }
    var again: [String] = []
    try copy.dump { again.append($0) }
    #expect(again == lines)
    #expect(try copy.verify().problems == [])
  }

  @Test func `names of properties have 1 to 400 bytes`() throws {
    let store = try ModelStore.forTest()
    for name in ["", String(repeating: "n", count: 401)] {
      expectFailure(.emptyIdentifier, "has 1 to 400 bytes, this one has \(name.utf8.count)") {
        try store.write { try $0.setProperty(name, to: [1]) }
      }
      expectFailure(.emptyIdentifier, "1 to 400 bytes") {
        _ = try store.read { try $0.property(name) }
      }
    }
    let name = String(repeating: "n", count: 400)
    try store.write { try $0.setProperty(name, to: []) }
    #expect(try store.read { try $0.property(name) } == [])
    try store.write { try $0.setProperty(name, to: nil) }
    #expect(try store.read { try $0.property(name) } == nil)
  }
}
