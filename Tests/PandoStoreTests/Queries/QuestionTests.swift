import Foundation
import PandoFixtures
import PandoStore
import Testing

/// Answers in the types of the questions, each against a loop over an array.
@Suite struct QuestionTests {
  private enum Status: String, Codable, QueryRepresentable { case open, paid, gone }

  private struct Money: RawRepresentable, Codable, Hashable, Summable { var rawValue: Int }

  private struct Bill: Model, Codable, Equatable, Queryable {
    var number: Int
    var price: Decimal
    var tax: Decimal?
    var weight: Double
    var size: Float?
    var small: Int8
    var views: UInt64
    var total: Money
    var work: Duration
    var due: Date?
    var day: Date
    var status: Status
    var before: Status?
    var owner: String
    var isOpen: Bool
    var batch: UUID
    var parent: Key<Bill>
    var site: URL
    var bytes: Data

    var modelIdentifier: String? { "Bill:\(number)" }
    static let fields: [Field<Bill>] = [
      .indexed(\.number), .indexed(\.price), .field(\.tax), .indexed(\.weight), .field(\.size),
      .field(\.small), .field(\.views), .field(\.total), .indexed(\.work), .indexed(\.due),
      .indexed(\.day), .indexed(\.status), .indexed(\.before), .indexed(\.owner),
      .indexed(\.isOpen), .indexed(\.batch), .indexed(\.parent), .indexed(\.site),
      .indexed(\.bytes),
    ]
  }

  private static func bills(_ seed: UInt64) -> [Bill] {
    var random = SeededGenerator(seed: seed)
    func int(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
    return (0..<int(0...60)).map { number in
      Bill(
        number: number, price: Decimal(int(-500...500)) / 100,
        tax: int(0...3) == 0 ? nil : Decimal(int(0...9)) / 1000,
        weight: int(0...9) == 0 ? .nan : Double(int(-9...9)) / 8,
        size: int(0...3) == 0 ? nil : Float(int(-9...9)) / 4, small: Int8(int(-128...127)),
        views: UInt64(int(0...9)), total: Money(rawValue: int(0...900)),
        work: .milliseconds(int(0...5000)),
        due: int(0...2) == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(int(0...9)) / 2),
        day: Date(timeIntervalSinceReferenceDate: Double(int(0...3)) * 86_400),
        status: [.open, .paid, .gone][int(0...2)],
        before: int(0...1) == 0 ? nil : [.open, .paid][int(0...1)], owner: "o\(int(0...4))",
        isOpen: int(0...1) == 0,
        batch: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(int(0...2)))),
        parent: Key(rawValue: "Bill:\(int(0...3))"),
        site: URL(filePath: "/\(int(0...2))"), bytes: Data([UInt8(int(0...2))]))
    }
  }

  private static func withBills(
    hasIndexes: Bool, _ bills: [Bill], _ body: (ModelStore) throws -> Void
  ) throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    if hasIndexes { try store.addIndexes(of: [Bill.self]) }
    try store.write { transaction in
      for bill in bills { try transaction.set(bill) }
    }
    try body(store)
  }

  @Test(arguments: [false, true], seeds(2))
  func `each answer has the type of its question`(hasIndexes: Bool, seed: UInt64) throws {
    let bills = Self.bills(seed)
    try Self.withBills(hasIndexes: hasIndexes, bills) { (store) throws in
      let all = Query<Bill>.all
      let count: Int = try store.answer(.count, to: all)
      #expect(count == bills.count)
      let exists: Bool = try store.answer(.exists, to: all)
      #expect(exists == !bills.isEmpty)
      let price: Decimal = try store.answer(.sum(\.price), to: all)
      #expect(price == bills.map(\.price).reduce(0, +))
      let taxes = bills.compactMap(\.tax)
      let tax: Decimal = try store.answer(.sum(\.tax), to: all)
      #expect(tax == taxes.reduce(0, +))
      let weights = bills.map(\.weight).filter { !$0.isNaN }
      let weight: Double = try store.answer(.sum(\.weight), to: all)
      #expect(weight == weights.reduce(0, +))
      let size: Double = try store.answer(.sum(\.size), to: all)
      #expect(size == bills.compactMap(\.size).reduce(0) { $0 + Double($1) })
      let small: Int = try store.answer(.sum(\.small), to: all)
      #expect(small == bills.reduce(0) { $0 + Int($1.small) })
      let views: UInt64 = try store.answer(.sum(\.views), to: all)
      #expect(views == bills.map(\.views).reduce(0, +))
      let total: Int = try store.answer(.sum(\.total), to: all)
      #expect(total == bills.map(\.total.rawValue).reduce(0, +))
      let work: Duration = try store.answer(.sum(\.work), to: all)
      #expect(work == bills.map(\.work).reduce(.zero, +))
      let meanTax: Decimal? = try store.answer(.average(\.tax), to: all)
      #expect(meanTax == (taxes.isEmpty ? nil : taxes.reduce(0, +) / Decimal(taxes.count)))
      let meanWeight: Double? = try store.answer(.average(\.weight), to: all)
      #expect(
        meanWeight == (weights.isEmpty ? nil : weights.reduce(0, +) / Double(weights.count)))
      let meanTotal: Double? = try store.answer(.average(\.total), to: all)
      #expect(meanTotal == (bills.isEmpty ? nil : Double(total) / Double(bills.count)))
      let meanWork: Duration? = try store.answer(.average(\.work), to: all)
      #expect(meanWork == (bills.isEmpty ? nil : work / bills.count))
      let first: Date? = try store.answer(.min(\.due), to: all)
      #expect(first == bills.compactMap(\.due).min())
      let last: Date? = try store.answer(.max(\.day), to: all)
      #expect(last == bills.map(\.day).max())
      let status: Status? = try store.answer(.max(\.before), to: all)
      #expect(status?.rawValue == bills.compactMap(\.before?.rawValue).max())
      let longest: Duration? = try store.answer(.max(\.work), to: all)
      #expect(longest == bills.map(\.work).max())
    }
  }

  @Test(arguments: [false, true], seeds(2))
  func `groups are a dictionary by the values of their field`(hasIndexes: Bool, seed: UInt64)
    throws
  {
    let bills = Self.bills(seed)
    try Self.withBills(hasIndexes: hasIndexes, bills) { (store) throws in
      func check<Key: QueryRepresentable & Hashable & Sendable>(
        _ key: any KeyPath<Bill, Key> & Sendable
      ) throws {
        let groups = Dictionary(grouping: bills) { $0[keyPath: key] }
        let counts = try store.answer(.count.grouped(by: key), to: .all)
        #expect(counts == groups.mapValues(\.count), "\(key)")
        let sums = try store.answer(.sum(\.price).grouped(by: key), to: .all)
        #expect(sums == groups.mapValues { $0.map(\.price).reduce(0, +) }, "\(key)")
        let dues = try store.answer(.max(\.due).grouped(by: key), to: .all)
        #expect(dues == groups.mapValues { $0.compactMap(\.due).max() }, "\(key)")
        let means = try store.answer(.average(\.total).grouped(by: key), to: .all)
        #expect(
          means
            == groups.mapValues { group in
              Double(group.map(\.total.rawValue).reduce(0, +)) / Double(group.count)
            }, "\(key)")
        #expect(Set(try store.answer(.distinct(key), to: .all)) == Set(groups.keys), "\(key)")
      }
      try check(\.number)
      try check(\.small)
      try check(\.views)
      try check(\.total)
      try check(\.owner)
      try check(\.isOpen)
      try check(\.due)
      try check(\.day)
      try check(\.batch)
      try check(\.price)
      try check(\.tax)
      try check(\.size)
      try check(\.work)
      try check(\.parent)
      try check(\.status)
      try check(\.before)
      try check(\.site)
      try check(\.bytes)
      let nested: [Date: [Status: Int]] = try store.answer(
        .count.grouped(by: \.status).grouped(by: \.day), to: Query<Bill>.all)
      let expected = Dictionary(grouping: bills, by: \.day)
        .mapValues { Dictionary(grouping: $0, by: \.status).mapValues(\.count) }
      #expect(nested == expected)
    }
  }

  @Test func `distinct values stand in the order of values`() throws {
    let bills = Self.bills(3)
    let taxes = Set(bills.map(\.tax))
    let expected = (taxes.contains(nil) ? [nil] : []) + taxes.compactMap(\.self).sorted()
    try Self.withBills(hasIndexes: true, bills) { (store) throws in
      #expect(try store.answer(.distinct(\.tax), to: Query<Bill>.all) == expected)
    }
  }

  // The rows of an index have doubles for such numbers: a duration was no value of its type, and a sum of decimals
  // would be one of doubles.
  @Test(arguments: [false, true])
  func `numbers that are doubles have their type in answers of an index`(hasIndexes: Bool) throws {
    var bills = Array(Self.bills(2).prefix(3))
    try #require(bills.count == 3)
    for (index, price) in ["0.5", "0.1", "1e-25"].enumerated() {
      bills[index].price = try #require(Decimal(string: price))
      bills[index].work = .milliseconds(500 * (index + 1))
      bills[index].weight = [0x1p53, 1, 0.5][index]
    }
    try Self.withBills(hasIndexes: hasIndexes, bills) { (store) throws in
      let all = Query<Bill>.all
      #expect(try store.answer(.distinct(\.work), to: all) == bills.map(\.work))
      #expect(try store.answer(.sum(\.work), to: all) == .seconds(3))
      let sum = try #require(Decimal(string: "0.6000000000000000000000001"))
      #expect(try store.answer(.sum(\.price), to: all) == sum)
      // Rounded once: 2⁵³ + 1.5 is nearest to 2⁵³ + 2.
      #expect(try store.answer(.sum(\.weight), to: all) == 0x1p53 + 2)
      let reading = try store.explain(.sum(\.weight), to: all).reading
      #expect(reading == (hasIndexes ? .indexRows : .recordFields))
    }
  }

  @Test func `a window of the query bounds a grouped answer`() throws {
    let bills = Self.bills(1)
    try Self.withBills(hasIndexes: true, bills) { (store) throws in
      let query = Query<Bill>(order: [.descending(\.number)], offset: 2, limit: 9)
      let window = bills.reversed().dropFirst(2).prefix(9)
      #expect(
        try store.answer(.count.grouped(by: \.status), to: query)
          == Dictionary(grouping: window, by: \.status).mapValues(\.count))
    }
  }

  // MARK: Edges

  private struct Word: Model, Codable, Equatable, Queryable {
    var id: Int
    var text: String
    var count: Int = 0
    var wide: UInt64 = 0
    var level: Double = 0
    var modelIdentifier: String? { "Word:\(id)" }
    static let fields: [Field<Word>] = [
      .indexed(\.text), .field(\.count), .field(\.wide), .field(\.level),
    ]
  }

  private static func withWords(_ words: [Word], _ body: (ModelStore) throws -> Void) throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.addIndexes(of: [Word.self])
    try store.write { transaction in
      for word in words { try transaction.set(word) }
    }
    try body(store)
  }

  @Test func `texts of other bytes that are equal in Swift are one group`() throws {
    let words = [
      Word(id: 1, text: "caf\u{e9}", count: 1), Word(id: 2, text: "cafe\u{301}", count: 20),
    ]
    try Self.withWords(words) { (store) throws in
      #expect(try store.answer(.count.grouped(by: \.text), to: Query<Word>.all) == ["café": 2])
      #expect(
        try store.answer(.sum(\.count).grouped(by: \.text), to: Query<Word>.all) == ["café": 21])
      #expect(
        try store.answer(.max(\.count).grouped(by: \.text), to: Query<Word>.all) == ["café": 20])
    }
  }

  // The distinct values were both texts, and the groups one of them, another in each process.
  @Test func `distinct values are the keys of groups, and the first of equal texts`() throws {
    let texts = ["caf\u{e9}", "z", "cafe\u{301}", "cafe"]
    let words = texts.enumerated().map { Word(id: $0.offset, text: $0.element) }
    try Self.withWords(words) { (store) throws in
      let distinct = try store.answer(.distinct(\.text), to: Query<Word>.all)
      let expected = ["cafe", "cafe\u{301}", "z"].map { Array($0.utf8) }
      #expect(distinct.map { Array($0.utf8) } == expected)
      let keys = try store.answer(.count.grouped(by: \.text), to: Query<Word>.all).keys
      #expect(keys.sorted().map { Array($0.utf8) } == expected)
    }
  }

  private struct Level: Model, Codable, Equatable, Queryable {
    var id: Int
    var indexed: Double
    var plain: Double
    var modelIdentifier: String? { "Level:\(id)" }
    static let fields: [Field<Level>] = [.indexed(\.indexed), .field(\.plain)]
  }

  // An answer from an index had 0.0, and one from records the zero that was stored.
  @Test func `zero has no sign in an answer`() throws {
    let store = try ModelStore.temporary(models: [Level.self])
    defer { store.close() }
    try store.write { try $0.set(Level(id: 1, indexed: -0.0, plain: -0.0)) }
    let all = Query<Level>.all
    func answers(_ path: any KeyPath<Level, Double> & Sendable) throws -> [Double?] {
      [
        try store.answer(.min(path), to: all), try store.answer(.max(path), to: all),
        try store.answer(.distinct(path), to: all).first,
        try store.answer(.count.grouped(by: path), to: all).keys.first,
      ]
    }
    for answer in try answers(\.indexed) + answers(\.plain) {
      #expect(answer?.bitPattern == 0.0.bitPattern)
    }
    let stored = try store.get(Key<Level>(rawValue: "Level:1"))
    #expect(stored?.plain.bitPattern == (-0.0).bitPattern)
  }

  @Test func `a sum beyond its type is an error that names the field, and an average is none`()
    throws
  {
    let words = [
      Word(id: 1, text: "", count: .max, wide: .max), Word(id: 2, text: "", count: 1, wide: 1),
    ]
    try Self.withWords(words) { (store) throws in
      let error = #expect(throws: QueryError.self) {
        try store.answer(.sum(\.count), to: Query<Word>.all)
      }
      #expect(error?.code == .overflow)
      #expect(error?.subject == "count")
      #expect(throws: QueryError.self) { try store.answer(.sum(\.wide), to: Query<Word>.all) }
      #expect(try store.answer(.average(\.count), to: Query<Word>.all) == 0x1p62)
      #expect(try store.answer(.average(\.wide), to: Query<Word>.all) == 0x1p63)
    }
  }

  @Test func `infinities make a sum infinite or no number, and not-a-number does not count`() throws
  {
    let levels: [Double] = [.infinity, 1, .nan]
    let words = levels.enumerated().map { Word(id: $0, text: "", level: $1) }
    try Self.withWords(words) { (store) throws in
      #expect(try store.answer(.sum(\.level), to: Query<Word>.all) == .infinity)
      #expect(try store.answer(.average(\.level), to: Query<Word>.all) == .infinity)
      #expect(try store.answer(.min(\.level), to: Query<Word>.all) == 1)
    }
    try Self.withWords(words + [Word(id: 9, text: "", level: -.infinity)]) { (store) throws in
      #expect(try store.answer(.sum(\.level), to: Query<Word>.all).isNaN)
    }
    try Self.withWords([Word(id: 1, text: "", level: .nan)]) { (store) throws in
      #expect(try store.answer(.sum(\.level), to: Query<Word>.all) == 0)
      #expect(try store.answer(.average(\.level), to: Query<Word>.all) == nil)
      #expect(try store.answer(.max(\.level), to: Query<Word>.all) == nil)
    }
  }

  @Test(arguments: [false, true])
  func `a stored value that its type does not have is an error that names it`(hasIndexes: Bool)
    throws
  {
    let store = try ModelStore.temporary()
    defer { store.close() }
    let fields: TreeValue = ["number": .integer(1), "status": .string("lost"), "owner": .null]
    try store.write { try $0.set(TreeNode("Bill:1", type: "Bill", fields: fields)) }
    if hasIndexes { try store.write { try $0.addIndex(on: "status", ofType: "Bill") } }
    func error<Answer>(_ question: Question<Bill, Answer>) -> QueryError? {
      #expect(throws: QueryError.self) { try store.answer(question, to: .all) }
    }
    let grouped = error(.count.grouped(by: \.status))
    #expect(grouped?.code == .wrongType)
    #expect(grouped?.description == "status: the stored value \"lost\" is none of Status")
    #expect(error(.max(\.status))?.code == .wrongType)
    #expect(error(.distinct(\.owner))?.code == .wrongType)
    #expect(try store.answer(.min(\.owner), to: Query<Bill>.all) == nil)
    #expect(try store.answer(.sum(\.views), to: Query<Bill>.all) == 0)
  }
}
