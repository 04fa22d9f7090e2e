import Foundation
import PandoFixtures
import PandoManagers
import Testing

@testable import PandoManagersFixtures
@testable import PandoStore

/// Questions about queries, indexes of several fields, and pages, each against an array.
@Suite struct AnswerTests {
  /// Indexes that come and go beside those that the type declares.
  private static let composites = [
    ["genre", "year"], ["isLent", "author", "added"], ["title", "year"], ["year", "title"],
    ["genre", "isLent", "price"], ["author", "genre", "isLent", "year"], ["isLent", "title"],
  ]

  @Test(arguments: seeds(4))
  func `random questions and pages give what they give over an array`(seed: UInt64) throws {
    var random = BookMaker(seed: seed)
    let store = try ModelStore.temporary()
    defer { store.close() }
    var books: [Book] = []
    for round in 0..<steps(10) {
      try StoredQueryTests.change(&books, in: store, &random)
      if round % 3 == 0 { try Self.changeIndexes(of: store, &random) }
      for _ in 0..<25 {
        let query = random.chance(50) ? random.query(books) : random.compositeQuery()
        let place: Comment = "seed \(seed), round \(round): \(query)"
        try store.read { snapshot in
          try Self.check(query, books, snapshot, place)
          try Self.checkPage(query, books, snapshot, &random, place)
          try random.question().check(query, books, snapshot, place)
        }
      }
    }
    #expect(try store.verify().problems == [])
  }

  private static func changeIndexes(of store: ModelStore, _ random: inout BookMaker) throws {
    let simple = Book.declaredIndexes.map(\.fields)
    let chosen = (simple + composites).map { ($0, random.chance(50)) }
    try store.write { transaction in
      for (fields, isWanted) in chosen {
        if isWanted {
          try transaction.addIndex(on: fields, ofType: "Book")
        } else {
          try transaction.dropIndex(on: fields, ofType: "Book")
        }
      }
    }
  }

  private static func check(
    _ query: Query<Book>, _ books: [Book], _ snapshot: borrowing ModelSnapshot, _ place: Comment
  ) throws {
    let expected = try query.apply(to: books).entities.map(\.id)
    let found = try snapshot.find(query).entities.map(\.id)
    let plan = try snapshot.explain(query)
    try #require(found == expected, "\(place), \(plan)")
    let identifiers = try snapshot.identifiers(matching: query)
    try #require(identifiers == expected, place)
  }

  /// Checks the page after an entity, whether the query finds that entity or not.
  private static func checkPage(
    _ query: Query<Book>, _ books: [Book], _ snapshot: borrowing ModelSnapshot,
    _ random: inout BookMaker, _ place: Comment
  ) throws {
    guard let last = books.randomElement(using: &random.generator) else { return }
    var whole = query
    whole.offset = 0
    whole.limit = nil
    var found = try whole.apply(to: books).entities
    // The place of one that does not match: behind those that come before it among all.
    var all = whole
    all.filter = .all
    all.uniqueBy = []
    let order = try all.apply(to: books).entities.map(\.id)
    let end = try #require(order.firstIndex(of: last.id))
    let before = Set(order[...end])
    found.removeAll { before.contains($0.id) }
    let rest = found.dropFirst(query.offset).map(\.id)
    let expected = Array(query.limit.map { rest.prefix($0) } ?? rest[...])
    let page = try snapshot.find(query, after: last).entities.map(\.id)
    let plan = try snapshot.explain(query)
    try #require(page == expected, "\(place), after \(last), \(plan)")
    let identifiers = try snapshot.identifiers(matching: query, after: last)
    try #require(identifiers == expected, place)
  }

  private struct Issue: PersistentEntity, Equatable {
    var id: EntityIdentifier<Issue>
    var status: String
    var author: String
    var created: Int
    var rank = 0

    static let fields: [Field<Issue>] = [
      .indexed(\.status, "status"), .indexed(\.author, "author"), .field(\.created, "created"),
      .field(\.rank, "rank"),
    ]
    static let indexes: [FieldIndex<Issue>] = [
      .indexed(\.status, \.author, \.created), .unique(\.created),
    ]
  }

  private static func makeIssues(_ count: Int) throws -> ModelStore {
    let store = try ModelStore.temporary()
    try store.addIndexes(of: [Issue.self])
    try store.write { transaction in
      for number in 0..<count {
        try transaction.set(
          Issue(
            id: .remote("\(number)"), status: number % 2 == 0 ? "open" : "closed",
            author: number % 10 == 0 ? "Ada" : "Ben", created: number))
      }
    }
    return store
  }

  @Test func `explain says what rows tell, and which indexes are shared`() throws {
    let store = try Self.makeIssues(2000)
    defer { store.close() }
    let open: Filter<Issue> = \.status == "open"
    let adas: Filter<Issue> = \.author == "Ada"
    let newest = Query(filter: open && adas, order: [.descending(\Issue.created)], limit: 20)
    try store.read { snapshot in
      #expect(
        try snapshot.explain(newest).description
          == "Issue: index on status, author, created, in order (2000 in all)")
      let found = try snapshot.find(newest).entities.map(\.created)
      #expect(found == (0..<20).map { 1990 - 10 * $0 })
      func plan<Answer>(
        _ question: Question<Issue, Answer>, _ query: Query<Issue>
      ) throws -> String {
        try snapshot.explain(question, to: query).description
      }
      #expect(
        try plan(.count, .all) == "Issue: count of records, no record looked at (2000 in all)")
      #expect(
        try plan(.count, Query(filter: open))
          == "Issue: index on status, no record looked at (2000 in all)")
      #expect(
        try plan(.count, Query(filter: open && adas))
          == "Issue: index on status, author, created, no record looked at (2000 in all)")
      let late = try plan(.count, Query(filter: \.created > 7))
      #expect(late == "Issue: index on created, no record looked at (2000 in all)")
      #expect(
        try plan(.count.grouped(by: \.author), Query(filter: open))
          == "Issue: index on status, author, created, in order, no record looked at (2000 in all)")
      #expect(
        try plan(.max(\.created), Query(filter: open && adas))
          == "Issue: index on status, author, created, 5 ranges, in order, only fields of records "
          + "(2000 in all)")
      #expect(
        try plan(.sum(\.created), .all)
          == "Issue: index on created, no record looked at (2000 in all)")
      #expect(
        try plan(.sum(\.created).grouped(by: \.author).top(3), Query(filter: open))
          == "Issue: index on status, author, created, no record looked at (2000 in all)")
      #expect(
        try plan(.sum(\.created).grouped(by: \.author), Query(filter: \.created > 7 && adas))
          .hasSuffix("only fields of records (2000 in all)"))
      #expect(
        try plan(.sum(\.rank), .all) == "Issue: scan, only fields of records (2000 in all)")
      #expect(
        try snapshot.answer(.max(\.created), to: Query(filter: open && adas)) == 1990)
    }
    try store.write { try $0.dropIndex(on: ["status", "author", "created"], ofType: "Issue") }
    try store.read { snapshot in
      let both = Query(filter: open && adas)
      let plan = try snapshot.explain(.count, to: both)
      #expect(
        plan.description
          == "Issue: index on author shared with index on status, no record looked at (2000 in all)"
      )
      #expect(try snapshot.answer(.count, to: both) == 200)
      #expect(try snapshot.answer(.exists, to: both))
    }
  }

  @Test func `pages are stable under inserts, and say when a place is lost`() throws {
    let store = try Self.makeIssues(100)
    defer { store.close() }
    let byAuthor = Query<Issue>(order: [.ascending(\.author)], limit: 5)
    var shown: [Int] = []
    var page = try store.read { try $0.find(byAuthor) }
    var number = 1000
    while let last = page.entities.last {
      shown += page.entities.map(\.created)
      try #require(shown.count < 1000, "the pages come to an end")
      // Those that come before the page are not shown; of the others a few are.
      for author in number > 1020 ? ["Aaron"] : ["Aaron", "Ada", "Zoe"] {
        number += 1
        let new = Issue(
          id: .remote("\(number)"), status: "open", author: author, created: number)
        try store.write { try $0.set(new) }
      }
      page = try store.read { try $0.find(byAuthor, after: last) }
    }
    #expect(Set(shown).count == shown.count, "nothing comes twice")
    #expect(Set(shown).isSuperset(of: 0..<100), "nothing is left out")
    let gone = Issue(id: .remote("gone"), status: "open", author: "Ada", created: -1)
    #expect(throws: QueryError.self) {
      try store.read { _ = try $0.find(byAuthor, after: gone) }
    }
    let byID = Query<Issue>(order: [.ascending(\.author), .ascending(\.id)], limit: 1)
    let next = try store.read { try $0.find(byID, after: gone) }
    #expect(next.entities.map(\.author) == ["Ben"], "as text, gone comes behind all numbers")
  }

  @Test func `a manager answers from disk, from memory and with a contract alike`() async throws {
    let container = try CoreManagerContainer(
      entities: Issue.self, Note.self, diskStoreConfig: .store(try ModelStore.temporary()))
    let issues = container[Issue.self]
    let notes = container[Note.self]
    for number in 0..<30 {
      try await issues.set(
        Issue(id: .remote("\(number)"), status: "s\(number % 3)", author: "a", created: number))
      try await notes.set(Note(id: .remote("\(number)"), size: number % 3))
    }
    let query = Query<Issue>(filter: \.status == "s1", order: [.descending(\.created)], limit: 4)
    for context in [.local, ReadContext<Issue>.local.with(contract: Anything())] {
      #expect(try await issues.answer(.count, to: query, in: context) == 4)
      #expect(try await issues.answer(.sum(\.created), to: query, in: context) == 94)
      let ids = try await issues.identifiers(matching: query, in: context)
      #expect(ids.map(\.text) == ["28", "25", "22", "19"])
      let last = try #require(try await issues.get(byID: ids[3]))
      let next = try await issues.search(withQuery: query, after: last, in: context)
      #expect(next.entities.map(\.created) == [16, 13, 10, 7])
    }
    let sizes = try await notes.answer(.count.grouped(by: \.size), to: .all)
    #expect(sizes == [0: 10, 1: 10, 2: 10])
    let small = Query<Note>(order: [.ascending(\.size)], limit: 2)
    let note = try #require(try await notes.get(byID: .remote("27")))
    #expect(
      try await notes.search(withQuery: small, after: note).entities.map(\.id.text) == ["1", "4"])
    await #expect(throws: StoreError.self) {
      try await issues.set(Issue(id: .remote("x"), status: "", author: "", created: 7))
    }
    #expect(try await issues.get(byID: .remote("x")) == nil, "nothing of it is kept")
  }

  private struct Note: LocalEntity {
    var id: EntityIdentifier<Note>
    var size: Int
  }

  private struct Anything: EntityContract {
    func isValid(_ entity: Issue, for query: Query<Issue>) -> Bool { true }
  }
}

/// A sum is too large for `Int`.
private struct TooLarge: Error {}

/// A question, and its answer by a loop over an array.
private struct Asked {
  private let compare: (Query<Book>, [Book], ModelSnapshot, Comment) throws -> Void

  init<Answer: Equatable>(
    _ name: String, _ question: Question<Book, Answer>,
    _ answer: @escaping ([Book]) throws -> Answer
  ) {
    compare = { query, books, snapshot, place in
      let plan = try snapshot.explain(question, to: query)
      do {
        let expected = try answer(try query.apply(to: books).entities)
        let found = try snapshot.answer(question, to: query)
        // No number equals itself, but reads alike.
        try #require(
          found == expected || "\(found)" == "\(expected)", "\(place), \(name): \(plan)")
      } catch is TooLarge {
        let error = #expect(throws: QueryError.self, "\(place), \(name): \(plan)") {
          try snapshot.answer(question, to: query)
        }
        #expect(error?.code == .overflow)
      }
    }
  }

  func check(
    _ query: Query<Book>, _ books: [Book], _ snapshot: ModelSnapshot, _ place: Comment
  ) throws { try compare(query, books, snapshot, place) }
}

extension BookMaker {
  fileprivate mutating func question() -> Asked {
    switch int(0...20) {
    case 0, 1: Asked("count", .count, \.count)
    case 2: Asked("exists", .exists) { !$0.isEmpty }
    case 3: Asked("sum year", .sum(\.year)) { try Self.years($0) }
    case 4: Asked("sum price", .sum(\.price)) { Self.sum($0) }
    case 5:
      Asked("average year", .average(\.year)) { books in
        let years = books.compactMap(\.year)
        let sum = years.reduce(0 as Int128) { $0 + Int128($1) }
        return years.isEmpty ? nil : Double(sum) / Double(years.count)
      }
    case 6:
      Asked("average price", .average(\.price)) { books in
        let count = books.count { !$0.price.isNaN }
        return count == 0 ? nil : Self.sum(books) / Double(count)
      }
    case 7: Asked("min title", .min(\.title)) { Self.ordered($0.map(\.title)).first }
    case 8: Asked("max title", .max(\.title)) { Self.ordered($0.map(\.title)).last }
    case 9: Asked("min year", .min(\.year)) { $0.compactMap(\.year).min() }
    case 10: Asked("max year", .max(\.year)) { $0.compactMap(\.year).max() }
    case 11: Asked("max price", .max(\.price)) { Self.prices($0).max() }
    case 12: Asked("min added", .min(\.added)) { $0.map(\.added).min() }
    case 13: grouped("genre", \.genre)
    case 14: grouped("year", \.year)
    case 15: grouped("title", \.title)
    case 16: grouped("author", \.author)
    case 17: grouped("shelf", \.shelf)
    case 18: grouped("isLent", \.isLent)
    case 19:
      Asked("distinct year", .distinct(\.year)) { books in
        let years = Set(books.map(\.year))
        return (years.contains(nil) ? [nil] : []) + years.compactMap(\.self).sorted()
      }
    default:
      Asked("count by genre by year", .count.grouped(by: \.genre).grouped(by: \.year)) { books in
        Dictionary(grouping: books, by: \.year)
          .mapValues { Dictionary(grouping: $0, by: \.genre).mapValues(\.count) }
      }
    }
  }

  private mutating func grouped<Key: QueryRepresentable & Hashable & Sendable>(
    _ name: String, _ key: any KeyPath<Book, Key> & Sendable
  ) -> Asked {
    func groups<Answer>(
      _ answer: @escaping ([Book]) throws -> Answer
    ) -> ([Book]) throws -> [Key: Answer] {
      { try Dictionary(grouping: $0) { $0[keyPath: key] }.mapValues(answer) }
    }
    return switch int(0...4) {
    case 0:
      Asked(
        "sum year by \(name)", .sum(\.year).grouped(by: key),
        groups { try Self.years($0) })
    case 1:
      Asked(
        "max price by \(name)", .max(\.price).grouped(by: key),
        groups {
          Self.prices($0).max()
        })
    case 2:
      Asked(
        "distinct genre by \(name)", .distinct(\.genre).grouped(by: key),
        groups {
          Set($0.map(\.genre)).sorted { $0.rawValue < $1.rawValue }
        })
    default: Asked("count by \(name)", .count.grouped(by: key), groups(\.count))
    }
  }

  private static func years(_ books: [Book]) throws -> Int {
    let sum = books.compactMap(\.year).reduce(0 as Int128) { $0 + Int128($1) }
    guard let sum = Int(exactly: sum) else { throw TooLarge() }
    return sum
  }

  private static func prices(_ books: [Book]) -> [Double] {
    books.map(\.price).filter { !$0.isNaN }
  }

  private static func sum(_ books: [Book]) -> Double {
    var sum = DoubleSum()
    for price in prices(books) { sum.add(price) }
    return sum.value
  }

  private static func ordered(_ texts: [String]) -> [String] {
    texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// A query that indexes of several fields can answer: mostly equality, and an order beside it.
  mutating func compositeQuery() -> Query<Book> {
    var filter: Filter<Book> = .all
    for _ in 0..<int(0...3) {
      switch int(0...7) {
      case 0: filter = filter && \.genre == pick(Genre.allCases)
      case 1: filter = filter && \.isLent == chance(50)
      case 2: filter = filter && \.author == .remote(int(1...4))
      case 3: filter = filter && \.year == int(1980...2000)
      case 4: filter = filter && \.genre >> [pick(Genre.allCases), pick(Genre.allCases)]
      case 5: filter = filter && (\.year > int(1980...1990) && \.year <= int(1988...2000))
      case 6: filter = filter && (\.year == nil || \.year < int(1980...2000))
      default: filter = filter && .hasPrefix(\.title, pick(["", "The", "x", "a", "\u{0}"]))
      }
    }
    var query = Query(filter: filter)
    for _ in 0..<int(0...2) {
      let order: QueryOrder<Book> =
        switch int(0...7) {
        case 0: .ascending(\.year)
        case 1: .descending(\.year)
        case 2: .ascending(\.title)
        case 3: .descending(\.added)
        case 4: .ascending(\.genre)
        case 5: .descending(\.isLent)
        case 6: .descending(\.price)
        default: .descending(\.title)
        }
      query.order.append(order)
    }
    if chance(70) { query.limit = int(0...12) }
    if chance(20) { query.offset = int(0...4) }
    return query
  }
}
