import PandoFixtures
import PandoModels
import Testing

@Suite struct CollectionDifferenceTests {
  private func changes<Element: SimpleModel>(
    from old: [Element], to new: [Element]
  ) throws -> [CollectionChangeInformation] {
    guard case .changes(let changes) = CollectionChange.difference(from: old, to: new) else {
      throw NoChanges()
    }
    return changes
  }

  private struct NoChanges: Error {}

  /// Shows for one pair that the changes lead from one list to the other, and that they are the fewest.
  private func check<Element: SimpleModel & Equatable>(
    from old: [Element], to new: [Element]
  ) throws {
    let changes = try changes(from: old, to: new)
    try expectOrder(changes)
    var reference = ChangeReference(old)
    for change in changes { try reference.apply(change) }
    let isRight = reference.shows(
      new,
      isSame: {
        $0.modelIdentifier == $1.modelIdentifier && ($0.modelIdentifier != nil || $0 == $1)
      }, isEqual: ==)
    try #require(isRight, "\(old) -> \(new): \(changes)")
    try #require(
      old.applying(changes) { new[$0] } == new, "\(old) -> \(new): \(changes)")
    try #require(changes.isEmpty == (old == new), "\(old) -> \(new): \(changes)")
  }

  private func items(_ text: String) -> [ListItem] {
    text.split(separator: " ").map { ListItem(name: String($0.prefix(1)), contents: $0.count) }
  }

  @Test func `the changes turn every short list into every other`() throws {
    let alphabet = [
      ListItem(name: "a", contents: 0), ListItem(name: "a", contents: 1),
      ListItem(name: "b", contents: 0), ListItem(name: nil, contents: 0),
      ListItem(name: nil, contents: 1),
    ]
    let lists = allLists(over: alphabet, upTo: 3)
    for old in lists { for new in lists { try check(from: old, to: new) } }
  }

  @Test func `they do so for every order of duplicates`() throws {
    let alphabet = ["a", "b", "c"].map { ListItem(name: $0) }
    let lists = allLists(over: alphabet, upTo: 4)
    for old in lists { for new in lists { try check(from: old, to: new) } }
  }

  @Test(arguments: seeds(8))
  func `they do so for random lists`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<60 {
      let nameCount = [2, 5, 20, 200].randomElement(using: &random) ?? 2
      let kinds = Int.random(in: 0...2, using: &random)
      func makeList() -> [ListItem] {
        (0..<Int.random(in: 0...60, using: &random)).map { _ in
          let number = Int.random(in: 0..<nameCount, using: &random)
          let contents = Int.random(in: 0...kinds, using: &random)
          let isNamed = Int.random(in: 0..<5, using: &random) > 0
          return ListItem(name: isNamed ? "\(number)" : nil, contents: contents)
        }
      }
      let (old, new) = (makeList(), makeList())
      try check(from: old, to: new)
      try check(from: old.map { HashableListItem($0) }, to: new.map { HashableListItem($0) })
    }
  }

  @Test(arguments: seeds(8))
  func `changes in parts turn one list into the other, and leave the rest where it is`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let nameCount = [5, 20, 200].randomElement(using: &random) ?? 5
      func makeList(_ most: Int) -> [ListItem] {
        (0..<Int.random(in: 0...most, using: &random)).map { _ in
          ListItem(
            name: "\(Int.random(in: 0..<nameCount, using: &random))",
            contents: Int.random(in: 0...2, using: &random))
        }
      }
      var (old, new): ([ListItem], [ListItem]) = ([], [])
      var parts: [ListReplacement<ListItem>] = []
      for number in 0..<Int.random(in: 1...5, using: &random) {
        let (before, after) = (makeList(8), makeList(8))
        parts.append(ListReplacement(oldStart: old.count, before, newStart: new.count, after))
        let shared = [ListItem(name: "shared \(number)")] + makeList(6)
        (old, new) = (old + before + shared, new + after + shared)
      }
      guard case .changes(let changes) = CollectionChange.difference(in: parts) else {
        throw NoChanges()
      }
      try expectOrder(changes)
      try #require(old.applying(changes) { new[$0] } == new, "\(old) -> \(new): \(changes)")
      try #require(!changes.isEmpty || old == new)
    }
  }

  @Test func `an element that moves over others moves alone`() {
    let items = (0..<9).map { ListItem(name: "\($0)") }
    // 1 moves from before 2 3 4 5 to behind them.
    let parts = [
      ListReplacement(oldStart: 0, Array(items[0...1]), newStart: 0, [items[0]]),
      ListReplacement(oldStart: 6, [items[6]], newStart: 5, [items[6], items[1]]),
    ]
    #expect(CollectionChange.difference(in: parts) == .changes([.move(from: 1, to: 6)]))
  }

  @Test func `a move for an element that left once and came in once`() throws {
    #expect(try changes(from: items("a b c d"), to: items("b c d a")) == [.move(from: 0, to: 3)])
    #expect(try changes(from: items("a b c d"), to: items("d a b c")) == [.move(from: 3, to: 0)])
    #expect(
      try changes(from: items("a b c d e f"), to: items("e b a d c f")).count == 3,
      "three elements keep their order")
  }

  @Test func `an element that left once and came in twice is no move`() throws {
    let changes = try changes(from: items("a b c"), to: items("b c a a"))
    #expect(changes == [.delete(index: 0), .insert(index: 2), .insert(index: 3)])
  }

  @Test func `deletions are in old positions, insertions and updates in new ones`() throws {
    let changes = try changes(from: items("a b c d e"), to: items("x b y dd z"))
    #expect(
      changes == [
        .delete(index: 4), .delete(index: 2), .delete(index: 0),
        .insert(index: 0), .insert(index: 2), .insert(index: 4), .update(index: 3),
      ])
  }

  @Test func `a moved element with other contents is named as updated, too`() throws {
    let (old, new) = (items("a b c"), items("b c aa"))
    let changes = try changes(from: old, to: new)
    #expect(changes == [.move(from: 0, to: 2), .update(index: 2)])
    #expect(old.applying(changes) { new[$0] } == new)
  }

  @Test func `identifiers that Unicode calls equivalent are two`() throws {
    let old = [ListItem(name: "e\u{301}")]
    let new = [ListItem(name: "\u{e9}")]
    #expect(try changes(from: old, to: new) == [.delete(index: 0), .insert(index: 0)])
  }

  @Test func `an element without identifier is itself as long as it is equal`() throws {
    let old = [1, 2, 5, 3].map { ListItem(contents: $0) }
    let new = [3, 1, 5, 4].map { ListItem(contents: $0) }
    #expect(
      try changes(from: old, to: new) == [
        .delete(index: 1), .move(from: 2, to: 0), .insert(index: 3),
      ])
  }

  @Test(arguments: [ListItem(name: "a"), ListItem(name: nil)])
  func `long lists of one element are compared in time`(item: ListItem) throws {
    // All pairs of the same elements would be a hundred million.
    let other = ListItem(name: "b")
    let old = [other] + Array(repeating: item, count: 10_000)
    let new = Array(repeating: item, count: 9_000) + [other, item, other]
    let changes = try changes(from: old, to: new)
    #expect(old.applying(changes) { new[$0] } == new)
    #expect(changes.count < 1_010)
  }

  @Test func `many different elements without identifier are compared in time`() throws {
    let old = (0..<5_000).map { ListItem(contents: $0) }
    let new = (0..<5_000).map { ListItem(contents: 20_000 - $0) }
    let changes = try changes(from: old, to: new)
    #expect(changes.count == 10_000)
    #expect(old.applying(changes) { new[$0] } == new)
  }
}
