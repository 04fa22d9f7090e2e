import Foundation
import PandoFixtures
import PandoModels
import Testing

@testable import PandoStore

/// Searches by words against loops over plain words, with and without an index.
@Suite struct WordIndexTests {
  struct Tea: Model, Codable, Equatable, Queryable {
    var number: Int
    var title: String
    var details: String?
    var tags: [String] = []
    var price = 0

    var modelIdentifier: String? { "Tea:\(number)" }
    static let fields: [Field<Tea>] = [
      .field(\.number), .field(\.title), .field(\.details), .field(.each(\.tags)),
      .indexed(\.price),
    ]
    static let indexes: [FieldIndex<Tea>] = [.text(\.title, \.details, \.tags)]

    /// The plain words of each text.
    var texts: [[String]] {
      ([title] + [details].compactMap(\.self) + tags).map(WordIndexTests.plainWords)
    }
  }

  fileprivate static func plainWords(_ text: String) -> [String] {
    text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      .split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

  /// Few words, so that most of them occur often; several begin alike.
  private static let words = [
    "red", "Red", "chai", "Chá", "chaise", "green", "greener", "tea", "TÉA", "x", "7", "77", "leaf",
    "leaves", "oolong", "ooze",
  ]

  private static func text(_ count: ClosedRange<Int>, _ random: inout SeededGenerator) -> String {
    (0..<Int.random(in: count, using: &random)).map { _ in
      // Low numbers more often.
      let place = Int.random(in: 0..<words.count, using: &random)
      return words[Int.random(in: 0...place, using: &random)]
    }.joined(separator: [" ", ", ", "-"][Int.random(in: 0...2, using: &random)])
  }

  private static func tea(_ number: Int, _ random: inout SeededGenerator) -> Tea {
    Tea(
      number: number, title: text(0...4, &random),
      details: Bool.random(using: &random) ? text(0...9, &random) : nil,
      tags: (0..<Int.random(in: 0...2, using: &random)).map { _ in text(1...2, &random) },
      price: Int.random(in: 0...5, using: &random))
  }

  /// A search, by plain words.
  struct Search: CustomStringConvertible {
    let text: String
    let matching: WordMatching

    init(_ random: inout SeededGenerator) {
      var text = WordIndexTests.text(1...3, &random)
      matching = WordMatching.allCases[Int.random(in: 0...3, using: &random)]
      if Bool.random(using: &random) {
        text = String(text.dropLast(Int.random(in: 0...2, using: &random)))
      }
      self.text = text
    }

    var description: String { "\(matching) \"\(text)\"" }

    var filter: Filter<Tea> { .search(text, matching) }

    /// The words, and whether the last one may be longer.
    var wanted: (words: [String], isPrefix: Bool) {
      let last = text.last.map { $0.isLetter || $0.isNumber } ?? false
      return (WordIndexTests.plainWords(text), matching == .allWords && last)
    }

    func matches(_ tea: Tea) -> Bool {
      let (words, isPrefix) = wanted
      let all = tea.texts.flatMap(\.self)
      switch matching {
      case .allWords, .wholeWords:
        return words.enumerated().allSatisfy { place, word in
          isPrefix && place == words.count - 1
            ? all.contains { $0.hasPrefix(word) } : all.contains(word)
        }
      case .anyWord: return words.contains { all.contains($0) }
      case .phrase: return words.isEmpty || tea.texts.contains { $0.contains(words) }
      }
    }

    /// The BM25 of each tea.
    func relevances(_ teas: [Tea]) -> [Double] {
      let (words, isPrefix) = wanted
      var units: [(String, Bool)] = []
      for (place, word) in words.enumerated() {
        let unit = (word, isPrefix && place == words.count - 1)
        if !units.contains(where: { $0 == unit }) { units.append(unit) }
      }
      let all = teas.map { $0.texts.flatMap(\.self) }
      let total = Double(all.count { !$0.isEmpty })
      let average = Double(all.reduce(0) { $0 + $1.count }) / max(1, total)
      var sums = Array(repeating: 0.0, count: teas.count)
      for (word, isPrefix) in units {
        func has(_ other: String) -> Bool { isPrefix ? other.hasPrefix(word) : other == word }
        let count = min(total, Double(all.reduce(0) { $0 + Set($1.filter(has)).count }))
        let weight = log(1 + (total - count + 0.5) / (count + 0.5))
        for (place, words) in all.enumerated() {
          let count = Double(words.count(where: has))
          if count == 0 { continue }
          let norm = 1.2 * (1 - 0.75 + 0.75 * Double(words.count) / average)
          sums[place] += weight * count * 2.2 / (count + norm)
        }
      }
      return sums
    }
  }

  private static func requireEqual(
    _ store: ModelStore, _ teas: [Tea], _ random: inout SeededGenerator
  ) throws {
    for _ in 0..<3 {
      let search = Search(&random)
      let expected = teas.filter(search.matches)
      var query = Query(filter: search.filter)
      #expect(try store.find(query).entities == expected, "\(search)")
      #expect(try teas.filter(query.filter.matches) == expected, "\(search)")
      #expect(try store.answer(.count, to: query) == expected.count, "\(search)")
      let price = Int.random(in: 0...5, using: &random)
      query.filter = search.filter && \.price <= price
      let cheap = expected.filter { $0.price <= price }
      #expect(try store.find(query).entities == cheap, "\(search)")
      query.order = [.descending(\.price)]
      query.offset = Int.random(in: 0...2, using: &random)
      query.limit = Int.random(in: 0...4, using: &random)
      let sorted = cheap.enumerated()
        .sorted { ($1.element.price, $0.offset) < ($0.element.price, $1.offset) }.map(\.element)
      let window = Array(sorted.dropFirst(query.offset).prefix(query.limit ?? 0))
      #expect(try store.find(query).entities == window, "\(search)")
      query = Query(filter: search.filter, offset: query.offset, limit: query.limit)
      let first = Array(expected.dropFirst(query.offset).prefix(query.limit ?? 0))
      #expect(try store.find(query).entities == first, "\(search)")
      query = Query(filter: !search.filter || \.price == price)
      let others = teas.filter { !search.matches($0) || $0.price == price }
      #expect(try store.find(query).entities == others, "\(search)")
      try requireRelevance(store, teas, search, price, &random)
    }
  }

  /// Compares the order by relevance with sorted sums.
  private static func requireRelevance(
    _ store: ModelStore, _ teas: [Tea], _ search: Search, _ price: Int,
    _ random: inout SeededGenerator
  ) throws {
    let relevances = search.relevances(teas)
    // Sums in another order differ in their last bits.
    let rounded = relevances.map { ($0 * 1e6).rounded() }
    func requireInOrder(_ found: [Tea], _ expected: [Tea]) throws {
      let places = try found.map { tea in try #require(teas.firstIndex(of: tea)) }
      let wanted = expected.map { tea in rounded[teas.firstIndex(of: tea) ?? 0] }
      #expect(
        places.map { rounded[$0] } == Array(wanted.sorted(by: >).prefix(found.count)), "\(search)")
      for (one, next) in zip(places, places.dropFirst()) where rounded[one] == rounded[next] {
        #expect(one < next, "\(search)")
      }
    }
    let expected = teas.filter(search.matches)
    var query = Query(filter: search.filter, order: [.relevance])
    let all = try store.find(query).entities
    #expect(all.count == expected.count)
    try requireInOrder(all, expected)
    query.offset = Int.random(in: 0...3, using: &random)
    query.limit = Int.random(in: 0...6, using: &random)
    #expect(
      try store.find(query).entities
        == Array(all.dropFirst(query.offset).prefix(query.limit ?? 0)), "\(search)")
    query = Query(filter: \.price == price && search.filter, order: [.relevance])
    let some = try store.find(query).entities
    #expect(some == all.filter { $0.price == price }, "\(search)")
    // A search of fewer fields counts their words alone.
    query = Query(filter: .search(search.text, search.matching, in: \.title), order: [.relevance])
    let titles = teas.map { Tea(number: $0.number, title: $0.title) }
    let inTitles = titles.filter(search.matches).map(\.number)
    #expect(Set(try store.find(query).entities.map(\.number)) == Set(inTitles), "\(search)")
  }

  @Test(.overBothBackings, arguments: seeds(2))
  func `after random writes a search finds what a loop finds`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try ModelStore.forTest()
    var teas: [Int: Tea] = [:]
    for round in 0..<12 {
      if round == 4 { try store.addIndexes(of: [Tea.self]) }
      var steps: [(tea: Tea, isDeleted: Bool, isNested: Bool, isKept: Bool)] = []
      let isAborted = Int.random(in: 0...5, using: &random) == 0
      let before = teas
      for _ in 0..<[1, 4, 40][Int.random(in: 0...2, using: &random)] {
        let tea = Self.tea(.random(in: 0..<80, using: &random), &random)
        let isDeleted = Int.random(in: 0...3, using: &random) == 0
        let isNested = Int.random(in: 0...3, using: &random) == 0
        let isKept = !isNested || Bool.random(using: &random)
        steps.append((tea, isDeleted, isNested, isKept))
        if isKept { teas[tea.number] = isDeleted ? nil : tea }
      }
      let chosen = steps
      let red = teas.values.count { $0.texts.flatMap(\.self).contains("red") }
      func write() throws {
        try store.write { transaction in
          for step in chosen {
            func run(_ transaction: inout ModelTransaction) throws {
              if step.isDeleted {
                try transaction.deleteIfPresent("Tea:\(step.tea.number)")
              } else {
                try transaction.set(step.tea)
              }
            }
            if step.isNested {
              try? transaction.nested { transaction in
                try run(&transaction)
                if !step.isKept { throw CancellationError() }
              }
            } else {
              try run(&transaction)
            }
          }
          let query = Query<Tea>(filter: .search("Red", .wholeWords))
          #expect(try transaction.snapshot.answer(.count, to: query) == red)
          if isAborted { throw CancellationError() }
        }
      }
      if isAborted {
        #expect(throws: CancellationError.self) { try write() }
        teas = before
      } else {
        try write()
      }
      // In their natural order, which the store has.
      let present = try store.find(Query<Tea>.all).entities
      #expect(Dictionary(uniqueKeysWithValues: present.map { ($0.number, $0) }) == teas)
      try Self.requireEqual(store, present, &random)
      if round % 3 == 2 { #expect(try store.read { try $0.indexProblems() } == []) }
    }
    try store.write { try $0.removeAll() }
    try Self.requireEqual(store, [], &random)
    let last = Self.tea(1, &random)
    try store.write { try $0.set(last) }
    #expect(try store.verify().problems == [])
  }

  @Test(.overBothBackings)
  func `a plan names the words, or says that no index has them`() throws {
    let store = try ModelStore.forTest()
    var random = SeededGenerator(seed: 1)
    let teas = (0..<100).map { Self.tea($0, &random) }
    try store.write { transaction in for tea in teas { try transaction.set(tea) } }
    var query = Query<Tea>(filter: .search("red chai"), order: [.relevance], limit: 5)
    let before = try store.explain(query)
    #expect(before.access == .scan)
    #expect(before.reason?.contains("title, details, tags[]") == true)
    let found = try store.find(query).entities
    try store.addIndexes(of: [Tea.self])
    let plan = try store.explain(query)
    #expect(plan.access == .words(fields: "title, details, tags[]"))
    #expect(!plan.isSorted)
    #expect(plan.reason == nil)
    #expect(try store.find(query).entities == found)
    query.order = []
    #expect(try store.explain(query).access == .words(fields: "title, details, tags[]"))
    let indexes = try store.read { try $0.indexes(ofType: "Tea") }
    #expect(indexes.map(\.field) == ["price", "words(title,details,tags[])"])
    #expect(indexes.allSatisfy { !$0.isUndeclared })
    #expect(try store.addIndexes(of: [Tea.self]) == 0)
  }

  /// The third search was asked for fewer matches than none.
  @Test(.overBothBackings, arguments: [WordMatching.allWords, .anyWord])
  func `searches joined by || find what each of them finds`(matching: WordMatching) throws {
    let store = try ModelStore.forTest()
    let titles = Array(repeating: "red", count: 80) + ["chai", "char", "tea", "red tea", "x"]
    try store.write { transaction in
      for (number, title) in titles.enumerated() {
        try transaction.set(Tea(number: number, title: title))
      }
    }
    try store.addIndexes(of: [Tea.self])
    let red = Filter<Tea>.search("red ", matching)
    let others = Filter<Tea>.search("ch", matching) || .search("tea ", matching)
    let query = Query(filter: red || others)
    let expected = try query.apply(
      to: (0..<titles.count).map { Tea(number: $0, title: titles[$0]) })
    #expect(try store.find(query).entities == expected.entities)
  }

  @Test(.overBothBackings)
  func `a field that is named twice counts once`() throws {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.set(Tea(number: 1, title: "red", details: "zen"))
      try transaction.set(Tea(number: 2, title: "zen", details: nil))
    }
    try store.addIndexes(of: [Tea.self])
    let query = Query(filter: Filter<Tea>.search("zen", in: \.title, \.title), limit: 5)
    #expect(try store.find(query).entities.map(\.number) == [2])
  }

  @Test(.overBothBackings)
  func `a search of thousands of words finds those that have one`() throws {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      for number in 0..<50 { try transaction.set(Tea(number: number, title: "w\(number) red")) }
    }
    let text = (25..<3_000).map { "w\($0)" }.joined(separator: " ")
    for _ in 0..<2 {
      let query = Query<Tea>(filter: .search(text, .anyWord))
      #expect(try store.find(query).count == 25)
      try store.addIndexes(of: [Tea.self])
    }
  }

  @Test(.overBothBackings)
  func `an order by relevance without a search that must hold is an error`() throws {
    let store = try ModelStore.forTest()
    let search = Filter<Tea>.search("red")
    for filter in [.all, \.price == 3, search || \.price == 3, !search] {
      let query = Query<Tea>(filter: filter, order: [.relevance])
      #expect(throws: QueryError.self) { try store.find(query) }
      #expect(throws: QueryError.self) { try store.explain(query) }
    }
    try store.write { try $0.set(Tea(number: 1, title: "red", price: 3)) }
    let inner = Query<Tea>(filter: \.price == 3 && (\.number == 1 && search), order: [.relevance])
    #expect(try store.find(inner).count == 1)
    #expect(throws: QueryError.self) {
      try store.page(of: Query(filter: search, order: [.relevance]))
    }
  }

  @Test(.overBothBackings)
  func `an index of words of anything but own texts is refused`() throws {
    let store = try ModelStore.forTest()
    for fields in [
      ["words(a.b)"], ["words(a)", "b"], ["words(folded(a))"], ["words()"], ["words(a[].b)"],
    ] {
      #expect(throws: StoreError.self) {
        try store.write { try $0.addIndex(on: fields, ofType: "Tea") }
      }
    }
    #expect(throws: StoreError.self) {
      try store.write { try $0.addIndex(on: ["words(a)"], ofType: "Tea", unique: true) }
    }
    #expect(throws: StoreError.self) {
      try store.write { try $0.addIndex(on: ["words(a)"], ofType: "Tea", sums: []) }
    }
    #expect(try store.write { try $0.addIndex(on: ["words(title)"], ofType: "Tea") })
    #expect(try store.write { try $0.dropIndex(on: ["words(title)"], ofType: "Tea") })
    #expect(throws: QueryError.self) {
      try store.find(Query<Tea>(filter: .search("x", in: \.price)))
    }
  }

  @Test(.overBothBackings)
  func `a loaded dump has the index, and a damaged row is found`() throws {
    let store = try ModelStore.forTest()
    try store.addIndexes(of: [Tea.self])
    var random = SeededGenerator(seed: 2)
    let teas = (0..<50).map { Self.tea($0, &random) }
    try store.write { transaction in for tea in teas { try transaction.set(tea) } }
    var lines: [String] = []
    try store.dump { lines.append($0) }
    let copy = try ModelStore.forTest()
    let source = LineSource(lines)
    try copy.load { source.next() }
    var again: [String] = []
    try copy.dump { again.append($0) }
    #expect(again == lines)
    // The nodes of a dump are in the order of their identifiers.
    let loaded = try copy.find(Query<Tea>.all).entities
    #expect(Set(loaded.map(\.number)) == Set(teas.map(\.number)))
    try Self.requireEqual(copy, loaded, &random)
    #expect(try copy.verify().problems == [])
    let index = try copy.read { snapshot in
      try #require(snapshot.reader.indexes().values.joined().first { $0.holdsWords })
    }
    // The row of a word, and the number of its texts.
    let value = IndexValue.bytes(ofWord: Array("red".utf8).span)
    let nodes = try copy.read {
      try WordMatches(WordSearch("red", .wholeWords), index, limit: 1, isRanked: false, $0.reader)
        .nodes
    }
    let row = index.rowKey(value, node: try #require(nodes.first))
    try copy.editRows { try $0.put([1, 0, 1], row, in: $1.indexRows) }
    #expect(try copy.read { try $0.indexProblems() }.count == 1)
    try copy.editRows {
      try $0.put([1, 0, 0, 0, 0, 0, 0, 0], index.totalsPrefix + value, in: $1.indexRows)
    }
    #expect(try copy.read { try $0.indexProblems() }.count == 2)
    try copy.editRows { try $0.remove(row, in: $1.indexRows) }
    #expect(try copy.read { try $0.indexProblems() }.count >= 2)
  }
}
