import Foundation
import PandoFixtures
import PandoModels
import Testing

@testable import PandoStore

/// Texts that are compared without case and accents.
@Suite struct TextComparisonTests {
  struct Person: Model, Codable, Equatable, Queryable {
    var number: Int
    var name: String
    var mail: String?

    var modelIdentifier: String? { "Person:\(number)" }
    static let fields: [Field<Person>] = [.field(\.number), .field(\.name), .field(\.mail)]
    static let indexes: [FieldIndex<Person>] = [
      .indexed(.folded(\.name)), .unique(.folded(\.mail)),
    ]
  }

  @Test(arguments: [
    ("Äther", "ather"), ("STRASSE", "strasse"), ("Straße", "strasse"), ("ὈΔΥΣΣΕΎΣ", "οδυσσευσ"),
    ("e\u{301}", "e"), ("İ", "i"), ("ı", "ı"), ("ﬁne", "fine"), ("が", "か\u{3099}"), ("東京", "東京"),
    ("שָׁלוֹם", "שלום"), ("कुल", "कुल"), ("ŉ", "ʼn"), ("", ""), ("ᾳ", "α"), ("🌲a", "🌲a"),
  ])
  func `a folded text has neither case nor accents`(text: String, folded: String) {
    #expect(Array(TextFolding.whole.folded(text).unicodeScalars) == Array(folded.unicodeScalars))
    // Folding again changes nothing, so a folded text can be compared with a folded one.
    #expect(TextFolding.whole.folded(folded).utf8.elementsEqual(folded.utf8))
  }

  @Test func `equivalent texts fold to the same bytes, whatever their form`() {
    for value in UInt32(0x80)..<0x3000 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let composed = String(scalar)
      let decomposed = composed.decomposedStringWithCanonicalMapping
      #expect(
        TextFolding.whole.folded(composed).utf8
          .elementsEqual(TextFolding.whole.folded(decomposed).utf8), "U+\(String(value, radix: 16))"
      )
    }
  }

  @Test(arguments: [
    ("The Dune", "dune", true, false), ("DÜNE", "düne", true, false), ("DÜNE", "dune", false, true),
    ("Dune", "düne", false, true), ("Dune", "du", true, false), ("du", "dune", false, false),
    ("a.b", ".", true, false), ("ab", ".", false, false), ("aab", "ab", true, false),
    ("Größe", "SSE", true, false), ("naïve", "NAIVE", false, true), ("", "", true, false),
    ("dunE\u{301}", "e", true, false),
  ])
  func `a text contains another one as the options say`(
    text: String, part: String, ignoringCase: Bool, ignoringAccents: Bool
  ) {
    #expect(TextPart(part, .caseInsensitive).isFound(in: text) == ignoringCase)
    #expect(
      TextPart(part, [.caseInsensitive, .diacriticInsensitive]).isFound(in: text)
        == (ignoringCase || ignoringAccents))
  }

  @Test(.overBothBackings, arguments: seeds(1))
  func `filters of parts find what a loop over characters finds`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let people = (0..<200).map { Self.person($0, &random) }
    let store = try ModelStore.forTest()
    try store.write { transaction in for person in people { try transaction.set(person) } }
    for _ in 0..<50 {
      let part = Self.text(1...2, &random)
      for options in [[], TextComparison.caseInsensitive] {
        func folded(_ text: String) -> [Unicode.Scalar] {
          Array((options.isEmpty ? text : text.lowercased()).unicodeScalars)
        }
        let inside = Query<Person>(filter: .contains(\.name, part, options))
        #expect(
          try store.find(inside).entities
            == people.filter { folded($0.name).contains(folded(part)) }, "\(part)")
        let first = Query<Person>(filter: .hasPrefix(\.name, part, options))
        let starting = people.filter { folded($0.name).starts(with: folded(part)) }
        #expect(try store.find(first).entities == starting, "\(part)")
        #expect(try people.filter(inside.filter.matches) == store.find(inside).entities)
      }
    }
  }

  @Test(.overBothBackings, arguments: seeds(2))
  func `the folded order is that of folded texts, with and without an index`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try ModelStore.forTest()
    var people: [Int: Person] = [:]
    for step in 0..<12 {
      if step == 6 { try store.addIndexes(of: [Person.self]) }
      let changes = (0..<10).map { _ in Self.person(.random(in: 0..<60, using: &random), &random) }
      try store.write { transaction in
        for person in changes {
          if person.name.count == 1 {
            try transaction.deleteIfPresent("Person:\(person.number)")
          } else {
            try transaction.set(person)
          }
        }
      }
      for person in changes { people[person.number] = person.name.count == 1 ? nil : person }
      let order = try store.find(Query<Person>.all).entities
      func sorted(_ isBefore: (String, String) -> Bool) -> [Person] {
        order.enumerated().sorted { one, other in
          let (left, right) = (one.element.name.plain, other.element.name.plain)
          return left == right ? one.offset < other.offset : isBefore(left, right)
        }.map(\.element)
      }
      let ascending = Query<Person>(order: [.ascending(.folded(\.name))])
      #expect(try store.find(ascending).entities == sorted(<))
      var window = Query<Person>(order: [.descending(.folded(\.name))], offset: 2, limit: 5)
      #expect(try store.find(window).entities == Array(sorted(>).dropFirst(2).prefix(5)))
      let bytes = Query<Person>(order: [.ascending(\.name)])
      #expect(
        try store.find(bytes).entities
          == (try store.find(Query<Person>(order: [.ascending(\.name)])).entities))
      window.filter = .compare(.folded(\.name), .equal, "ÄA")
      #expect(
        Set(try store.find(window).entities.map(\.number)).isSubset(
          of: people.values.filter { $0.name.plain == "aa" }.map(\.number)))
      if step > 6 {
        let plan = try store.explain(window)
        #expect("\(plan)".contains("index on folded(name)") || plan.access == .nothing)
        #expect(try store.read { try $0.indexProblems() } == [])
      }
    }
  }

  @Test(.overBothBackings)
  func `a unique folded index refuses texts that differ in case alone`() throws {
    let store = try ModelStore.forTest()
    try store.addIndexes(of: [Person.self])
    try store.write { try $0.set(Person(number: 1, name: "a", mail: "Ada@example.org")) }
    try store.write { try $0.set(Person(number: 2, name: "a", mail: nil)) }
    #expect(throws: StoreError.self) {
      try store.write { try $0.set(Person(number: 3, name: "a", mail: "ADA@example.org")) }
    }
    #expect(try store.find(Query<Person>.all).entities.count == 2)
  }

  private static func text(_ count: ClosedRange<Int>, _ random: inout SeededGenerator) -> String {
    let letters = ["a", "A", "b", "B", "ä", "Ä", "á"]
    return (0..<Int.random(in: count, using: &random))
      .map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] }.joined()
  }

  private static func person(_ number: Int, _ random: inout SeededGenerator) -> Person {
    Person(number: number, name: text(1...5, &random), mail: nil)
  }
}

extension String {
  /// Without case and accents, by Foundation.
  fileprivate var plain: String {
    folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
  }
}
