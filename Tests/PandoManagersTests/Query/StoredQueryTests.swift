import Foundation
import PandoFixtures
import PandoManagers
import PandoStore
import Testing

@testable import PandoManagersFixtures

/// Queries over a store against the same query over an array.
@Suite struct StoredQueryTests {
  @Test(arguments: seeds(4))
  func `random queries give what they give over an array, with and without indexes`(
    seed: UInt64
  ) throws {
    var random = BookMaker(seed: seed)
    let store = try ModelStore.temporary()
    defer { store.close() }
    // What the array holds is in the order in which the store first saw it.
    var books: [Book] = []
    var withIndexes = seed % 2 == 0
    if withIndexes { try store.addIndexes(of: [Book.self]) }
    for round in 0..<12 {
      try Self.change(&books, in: store, &random)
      if round == 6 {
        withIndexes.toggle()
        if withIndexes {
          try store.addIndexes(of: [Book.self])
        } else {
          try store.write { transaction in
            for index in Book.declaredIndexes {
              try transaction.dropIndex(on: index.field, ofType: index.typeName)
            }
          }
        }
      }
      for _ in 0..<25 {
        let query = random.query(books)
        let expected = try query.apply(to: books)
        let found = try store.read { try $0.find(query) }
        let plan = try store.explain(query)
        // A book whose price is no number is not equal to itself.
        try #require(
          found.entities.map(\.id) == expected.entities.map(\.id)
            && found.groups.map(\.value) == expected.groups.map(\.value)
            && found.groups.map(\.entities.count) == expected.groups.map(\.entities.count),
          "seed \(seed), round \(round): \(query), \(plan)")
      }
    }
    #expect(try store.verify().problems == [])
  }

  /// Changes the store and the array by one write.
  static func change(
    _ books: inout [Book], in store: ModelStore, _ random: inout BookMaker
  ) throws {
    var new = books
    var steps: [(inout ModelTransaction) throws -> Void] = []
    for _ in 0..<random.int(1...30) {
      let book = random.book()
      if random.chance(20), let place = new.indices.randomElement(using: &random.generator) {
        let identifier = new.remove(at: place).id.modelIdentifier
        steps.append { try $0.deleteIfPresent(identifier) }
      } else {
        if let place = new.firstIndex(where: { $0.id == book.id }) {
          new[place] = book
        } else {
          new.append(book)
        }
        steps.append { try $0.set(book) }
      }
    }
    let isUndone = random.chance(15)
    let all = Unchecked(steps)
    do {
      try store.write { transaction in
        for step in all.value { try step(&transaction) }
        if isUndone { throw CancellationError() }
      }
      books = new
    } catch is CancellationError {}
  }

  /// Closures that are made before the write and run during it, while this thread waits.
  private struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  @Test func `the transaction under way is asked as it is so far`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.addIndexes(of: [Book.self])
    try store.write { try $0.set(Book(id: .remote("1"), title: "The first", year: 1990)) }
    try store.write { transaction in
      try transaction.set(Book(id: .remote("2"), title: "The second", year: 1990))
      try transaction.deleteIfPresent("Book:1")
      let found = try transaction.snapshot.find(Query(filter: \Book.year == 1990))
      #expect(found.entities.map(\.id) == [.remote("2")])
    }
  }

  @Test func `explain names the way that is taken`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.addIndexes(of: [Book.self])
    #expect(try store.explain(Query<Book>.all).access == .nothing)
    try store.write { transaction in
      for number in 0..<2000 {
        try transaction.set(
          Book(
            id: .remote("\(number)"), title: "title \(number)", year: number,
            isLent: number % 2 == 0))
      }
    }
    func access(_ query: Query<Book>) throws -> QueryPlan.Access { try store.explain(query).access }
    let year = QueryPlan.Access.index(field: "year", rangeCount: 1, isOrdered: false)
    #expect(try access(.all) == .scan)
    #expect(try access(Query(ids: [.remote("1"), .local("x")])) == .identifiers(count: 2))
    #expect(try access(Query(filter: \.id == .remote("1"))) == .identifiers(count: 1))
    #expect(try access(Query(filter: \.year == 1990)) == year)
    #expect(try access(Query(filter: \.year > 1990)) == year)
    #expect(try access(Query(filter: \.year > 5)) == .scan, "nearly all of them")
    #expect(try access(Query(filter: \.year > 10 && \.year < 20)) == year)
    #expect(try access(Query(filter: \.year > 20 && \.year < 20)) == .nothing)
    #expect(try access(Query(filter: \.year != 1990)) == .scan)
    #expect(try access(Query(filter: !(\.year == 1990))) == .scan)
    #expect(
      try access(Query(filter: \.year >> [1, 5, 7]))
        == .index(field: "year", rangeCount: 3, isOrdered: false))
    #expect(
      try access(Query(filter: \.title ~= "^title 199"))
        == .index(field: "title", rangeCount: 1, isOrdered: false))
    #expect(try access(Query(filter: \.title ~= "title 199")) == .scan)
    #expect(
      try access(Query(filter: .hasPrefix(\.title, "title 7")))
        == .index(field: "title", rangeCount: 1, isOrdered: false))
    #expect(
      try access(Query(filter: \.year == 3 || \.title == "title 4"))
        == .union([year, .index(field: "title", rangeCount: 1, isOrdered: false)]))
    #expect(try access(Query(filter: \.year == 3 || \.price > 4)) == .scan)
    #expect(
      try access(Query(order: [.descending(\.year)], limit: 10))
        == .index(field: "year", rangeCount: 1, isOrdered: true))
    #expect(
      try access(Query(filter: \.isLent == true, order: [.ascending(\.title)], limit: 10))
        == .index(field: "title", rangeCount: 1, isOrdered: true))
    #expect(try access(Query(order: [.descending(\.year)])) == .scan)
    #expect(try access(Query(limit: 0)) == .nothing)
    let plan = try store.explain(Query<Book>(order: [.descending(\.year)], limit: 10))
    #expect(plan.description == "Book: index on year, in order (2000 in all)")
  }

  @Test func `an index is used where it has few rows, of two the one that has fewer`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.addIndexes(of: [Book.self])
    func addBooks(_ numbers: Range<Int>) throws {
      try store.write { transaction in
        for number in numbers {
          try transaction.set(
            Book(id: .remote("\(number)"), title: "title \(number)", year: number))
        }
      }
    }
    func access(_ query: Query<Book>) throws -> QueryPlan.Access { try store.explain(query).access }
    let year = QueryPlan.Access.index(field: "year", rangeCount: 1, isOrdered: false)
    let title = QueryPlan.Access.index(field: "title", rangeCount: 1, isOrdered: false)
    let inOrderOfTitles = QueryPlan.Access.index(field: "title", rangeCount: 1, isOrdered: true)
    try addBooks(0..<100)
    #expect(try access(Query(filter: \.year < 63)) == year, "few, though more than a third")
    #expect(try access(Query(filter: \.year < 64)) == .scan)
    try addBooks(100..<300)
    #expect(try access(Query(filter: \.year < 99)) == year, "fewer than a third")
    #expect(try access(Query(filter: \.year < 100)) == .scan, "a third")
    // Of 50 and 11, and of 1 and 11.
    let ends = Filter<Book>.hasPrefix(\.title, "title 29")
    #expect(try access(Query(filter: \.year < 50 && ends)) == title)
    #expect(try access(Query(filter: \.year == 7 && ends)) == year)
    // The index of the order would have to be gone through for long to find ten of them, or not.
    let order = [QueryOrder<Book>.ascending(\.title)]
    #expect(try access(Query(filter: \.year == 7, order: order, limit: 10)) == year)
    #expect(try access(Query(filter: \.year < 90, order: order, limit: 10)) == inOrderOfTitles)
    let unique = [QueryField<Book>.field(\.title)]
    #expect(
      try access(Query(filter: \.year < 90, order: order, uniqueBy: unique, limit: 10)) == year)
    #expect(try access(Query(order: order, uniqueBy: unique, limit: 10)) == .scan)
  }
}

/// Makes random books and queries about them.
struct BookMaker {
  var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
  mutating func chance(_ percent: Int) -> Bool { int(0...99) < percent }
  mutating func pick<Value>(_ values: [Value]) -> Value {
    values.randomElement(using: &generator) ?? values[0]
  }

  /// Texts that differ only far behind what an index keeps, hold zeros, or are canonically equivalent.
  private static let titles = [
    "", "The", "The end", "The endless", "the", "Then", "\u{0}", "a\u{0}b", "a\u{0}", "a", "é",
    "e\u{301}", "zebra", "日本", String(repeating: "x", count: 399) + "\u{0}a",
    String(repeating: "x", count: 400), String(repeating: "x", count: 401),
    String(repeating: "x", count: 600) + "1", String(repeating: "x", count: 600) + "2",
  ]

  private static let prices = [
    0.0, -0.0, .nan, .infinity, -.infinity, 1.5, -1.5, 1e300, 0x1p53, 3, .leastNonzeroMagnitude,
  ]

  mutating func id() -> EntityIdentifier<Book> {
    chance(20) ? .local("\(int(0...5))") : .remote("\(int(0...60))")
  }

  mutating func book() -> Book {
    var book = Book(id: id())
    book.title = pick(Self.titles)
    book.year = chance(15) ? nil : chance(10) ? pick([.min, .max, 0, -1]) : int(1980...2000)
    book.price = pick(Self.prices)
    book.isLent = chance(50)
    book.genre = pick(Genre.allCases)
    book.added = Date(timeIntervalSinceReferenceDate: Double(int(-5...5)))
    book.shelf = chance(50) ? nil : pick(Self.shelves)
    book.summary = chance(50) ? .unrequested : .requested(pick(Self.titles))
    book.author = chance(30) ? nil : chance(30) ? .local("a") : .remote(int(1...4))
    return book
  }

  private static let shelves = [
    UUID(uuidString: "00000000-0000-0000-0000-00000000FF01"),
    UUID(uuidString: "80000000-0000-0000-0000-000000000000"),
  ]

  mutating func query(_ books: [Book]) -> Query<Book> {
    var query = Query<Book>(filter: chance(10) ? .all : filter(depth: 2))
    if chance(60) { query.order = (0..<int(1...3)).map { _ in order() } }
    if chance(15) { query.uniqueBy = [pick([.field(\.title), .field(\.year), .field(\.isLent)])] }
    if chance(15) { query.groupedBy = pick([.field(\.genre), .field(\.author)]) }
    if chance(50) { query.limit = int(0...20) }
    if chance(25) { query.offset = int(0...10) }
    return query
  }

  private mutating func order() -> QueryOrder<Book> {
    switch int(0...9) {
    case 0: .ascending(\.title)
    case 1: .descending(\.title)
    case 2: .ascending(\.year)
    case 3: .descending(\.year)
    case 4: .descending(\.genre)
    case 5: .ascending(\.price)
    case 6: .natural
    case 7: .identifiers((0..<5).map { _ in id() })
    case 8: .descending(\.author)
    default: .ascending(\.added)
    }
  }

  private mutating func filter(depth: Int) -> Filter<Book> {
    if depth > 0, chance(60) {
      let left = filter(depth: depth - 1)
      let right = filter(depth: depth - 1)
      return chance(50) ? left && right : chance(70) ? left || right : !left
    }
    switch int(0...13) {
    case 0: return comparison(\.title, pick(Self.titles))
    case 1: return comparison(\.year, int(1980...2000))
    case 2: return chance(50) ? \.year == nil : \.year != nil
    case 3: return comparison(\.price, pick(Self.prices))
    case 4: return comparison(\.isLent, true)
    case 5: return comparison(\.genre, pick(Genre.allCases))
    case 6: return comparison(\.added, Date(timeIntervalSinceReferenceDate: Double(int(-5...5))))
    case 7: return comparison(\.shelf, pick(Self.shelves))
    case 8: return comparison(\.summary, .requested(pick(Self.titles)))
    case 9: return comparison(\.author, chance(50) ? .local("a") : .remote(int(1...4)))
    case 10: return chance(50) ? comparison(\.id, id()) : \.id >> (0..<int(0...9)).map { _ in id() }
    case 11:
      return \.title
        ~= pick(["^The", "^The?", "end$", "^a", "x{3}", "^x+1|2", "^é", "^", "^The end$", "^\\w"])
    case 12: return .hasPrefix(\.title, pick(Self.titles))
    default:
      return chance(50)
        ? \.year >> (0..<int(0...9)).map { _ in int(1980...2000) }
        : \.title >> (0..<3).map { _ in pick(Self.titles) }
    }
  }

  private mutating func comparison<Value: QueryRepresentable>(
    _ field: any KeyPath<Book, Value> & Sendable, _ value: Value
  ) -> Filter<Book> {
    switch int(0...5) {
    case 0, 1: field == value
    case 2: field != value
    case 3: chance(50) ? field < value : field <= value
    case 4: field > value
    default: field >= value
    }
  }
}
