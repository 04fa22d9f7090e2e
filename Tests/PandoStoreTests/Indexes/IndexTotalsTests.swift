import Foundation
import PandoFixtures
import PandoModels
import Testing

@testable import PandoStore

/// Indexes that keep the number of rows and the sums of any range, each against a loop over an array.
@Suite struct IndexTotalsTests {
  struct Sale: Model, Codable, Equatable, Queryable {
    var number: Int
    var day: Int?
    var region: String
    var total: Decimal
    var weight: Double
    var views: UInt64
    var tags: [String] = []

    var modelIdentifier: String? { "Sale:\(number)" }
    static let fields: [Field<Sale>] = [
      .field(\.number), .field(\.day), .field(\.region), .field(\.total), .field(\.weight),
      .field(\.views), .field(.each(\.tags)),
    ]
    static let indexes: [FieldIndex<Sale>] = [
      .indexed(\.day, sums: [\.total, \.weight, \.views]), .indexed(\.region, \.day, sums: []),
      .indexed(.each(\.tags), sums: [\.total]),
    ]
  }

  private static func sale(_ number: Int, _ random: inout SeededGenerator) -> Sale {
    func int(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
    let wide = Decimal(string: "-17014118346046923173168730.727")
    return Sale(
      number: number, day: int(0...9) == 0 ? nil : int(-20...60),
      region: ["n", "s", "w"][int(0...2)],
      total: int(0...50) == 0 ? wide ?? 0 : Decimal(int(-5000...5000)) / 100,
      weight: [Double.nan, .infinity, 0.1, -0.1, 1e300, -0.0, Double(int(-9...9)) / 8][
        int(0...40) < 38 ? 6 : int(0...5)],
      views: int(0...9) == 0 ? .max - UInt64(int(0...9)) : UInt64(int(0...9)),
      tags: ["a", "b", "c"].filter { _ in int(0...2) == 0 })
  }

  private enum Step {
    case delete(Int)
    case set(Sale)
    /// In a nested transaction, which reads afterwards.
    case nested(Sale, isKept: Bool)

    func run(_ transaction: inout ModelTransaction) throws {
      switch self {
      case .delete(let number): try transaction.deleteIfPresent("Sale:\(number)")
      case .set(let sale): try transaction.set(sale)
      case .nested(let sale, let isKept):
        try? transaction.nested { transaction in
          try transaction.set(sale)
          _ = try transaction.snapshot.answer(.count, to: Query<Sale>(filter: \.day > 3))
          if !isKept { throw CancellationError() }
        }
      }
    }
  }

  private static func requireEqual(
    _ store: ModelStore, _ sales: [Int: Sale], _ random: inout SeededGenerator
  ) throws {
    let low = Int.random(in: -25...60, using: &random)
    let high = Int.random(in: low...65, using: &random)
    let range: Filter<Sale> = \.day >= low && \.day < high
    let within = sales.values.filter { ($0.day ?? .max) >= low && ($0.day ?? .max) < high }
    let all = Array(sales.values)
    try requireEqual(store, Query(filter: range), within)
    try requireEqual(store, .all, all)
    try requireEqual(store, Query(filter: \.day == low), all.filter { $0.day == low })
    try requireEqual(store, Query(filter: \.day == nil), all.filter { $0.day == nil })
    let south = Query(filter: \Sale.region == "s" && range)
    #expect(try store.answer(.count, to: south) == within.count { $0.region == "s" })
    var page = Query(filter: range, order: [.ascending(\.day)])
    if Bool.random(using: &random) { page.order = [.descending(\.day)] }
    // By their numbers: a sale whose weight is not a number does not equal itself.
    let sorted = try store.find(page).entities.map(\.number)
    page.offset = .random(in: 0...max(within.count, 1), using: &random)
    page.limit = 5
    let found = try store.find(page).entities.map(\.number)
    #expect(found == Array(sorted.dropFirst(page.offset).prefix(5)))
    let tagged = Query<Sale>(filter: .contains(\.tags, "b"))
    let tags = try Question<Sale, Decimal>.sum(\.total).answer(all.filter { $0.tags.contains("b") })
    #expect(try store.answer(.sum(\.total), to: tagged) == tags)
    let plan = try store.read { try $0.explain(.sum(\.total), to: Query(filter: range)) }
    #expect(plan.reading == .indexRows || plan.access == .nothing)
    let combined = try store.explain(
      .combined(.count, .sum(\.total), .average(\.weight)), to: Query(filter: range))
    #expect(combined.reading == .indexRows || combined.access == .nothing)
  }

  private static func requireEqual(
    _ store: ModelStore, _ query: Query<Sale>, _ expected: [Sale]
  ) throws {
    #expect(try store.answer(.count, to: query) == expected.count)
    let total = try Question<Sale, Decimal>.sum(\.total).answer(expected)
    #expect(try store.answer(.sum(\.total), to: query) == total)
    let weight = try store.answer(.sum(\.weight), to: query)
    let loop = try Question<Sale, Double>.sum(\.weight).answer(expected)
    #expect(weight == loop || weight.isNaN && loop.isNaN)
    let average = try store.answer(.average(\.weight), to: query)
    let mean = try Question<Sale, Double?>.average(\.weight).answer(expected)
    #expect(average.map(\.description) == mean.map(\.description))
    // Each part by itself, and the last combination by the records.
    let (count, sum) = try store.answer(.count, .sum(\.total), to: query)
    #expect(count == expected.count && sum == total)
    let (first, last, exists) = try store.answer(.min(\.day), .max(\.day), .exists, to: query)
    #expect(first == expected.compactMap(\.day).min() && last == expected.compactMap(\.day).max())
    #expect(exists == !expected.isEmpty)
    let (number, most) = try store.answer(.count, .max(\.number), to: query)
    #expect(number == expected.count && most == expected.map(\.number).max())
  }

  @Test(.overBothBackings, arguments: seeds(1))
  func `after random writes each range has the totals of its records`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try ModelStore.forTest()
    try store.addIndexes(of: [Sale.self])
    var sales: [Int: Sale] = [:]
    for round in 0..<steps(20) {
      let count = [1, 3, 60, 400][.random(in: 0...3, using: &random)]
      let isAborted = Int.random(in: 0...6, using: &random) == 0
      let before = sales
      var steps: [Step] = []
      for _ in 0..<count {
        let number = Int.random(in: 0...900, using: &random)
        switch Int.random(in: 0...(round % 3 == 2 ? 2 : 9), using: &random) {
        case 0, 1:
          steps.append(.delete(number))
          sales[number] = nil
        case 2:
          let isKept = Bool.random(using: &random)
          let sale = Self.sale(number, &random)
          if isKept { sales[number] = sale }
          steps.append(.nested(sale, isKept: isKept))
        default:
          let sale = Self.sale(number, &random)
          sales[number] = sale
          steps.append(.set(sale))
        }
      }
      let day = Int.random(in: -20...60, using: &random)
      let early = sales.values.filter { $0.day.map { $0 <= day } ?? false }
      let views = try Question<Sale, Double?>.average(\.views).answer(early)
      let chosen = steps
      func write() throws {
        try store.write { transaction in
          for step in chosen { try step.run(&transaction) }
          #expect(
            try transaction.snapshot.answer(.average(\Sale.views), to: Query(filter: \.day <= day))
              == views)
          if isAborted { throw CancellationError() }
        }
      }
      if isAborted {
        #expect(throws: CancellationError.self) { try write() }
        sales = before
      } else {
        try write()
      }
      try Self.requireEqual(store, sales, &random)
      if round % 4 == 0 { #expect(try store.read { try $0.indexProblems() } == []) }
    }
    try store.write { try $0.removeAll() }
    try Self.requireEqual(store, [:], &random)
    let last = Self.sale(1, &random)
    try store.write { try $0.set(last) }
    #expect(try store.verify().problems == [])
  }

  @Test func `totals have several levels, and shrink again`() throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    try store.addIndexes(of: [Sale.self])
    @Sendable func sale(_ number: Int) -> Sale {
      Sale(number: number, day: number, region: "n", total: 1, weight: 0, views: 1)
    }
    for start in stride(from: 0, to: 9_000, by: 3_000) {
      try store.write { transaction in
        for number in start..<start + 3_000 { try transaction.set(sale(number)) }
      }
    }
    try store.read { snapshot in
      let index = try #require(
        snapshot.reader.indexes().values.joined().first { $0.name == "day" })
      #expect(try snapshot.reader.totalLevelCount(of: index) == 3)
      for (low, high) in [(0, 9_000), (17, 18), (4_000, 4_001), (15, 8_999), (8_999, 9_001)] {
        #expect(
          try snapshot.answer(.count, to: Query<Sale>(filter: \.day >= low && \.day < high))
            == min(high, 9_000) - low)
      }
      #expect(try snapshot.indexProblems() == [])
    }
    // The oldest go first, as in a queue.
    for start in stride(from: 0, to: 8_990, by: 1_000) {
      try store.write { transaction in
        for number in start..<min(start + 1_000, 8_990) {
          try transaction.deleteIfPresent("Sale:\(number)")
        }
      }
      #expect(try store.read { try $0.indexProblems() } == [])
    }
    #expect(try store.answer(.count, to: Query<Sale>(filter: \.day > 8_995)) == 4)
    try store.write { transaction in
      for number in 0..<2_000 { try transaction.set(sale(number)) }
    }
    #expect(try store.answer(.count, to: Query<Sale>(filter: \.day <= 8_995)) == 2_006)
    #expect(try store.verify().problems == [])
  }

  @Test(.overBothBackings)
  func `an index gets totals later, keeps them, and loses them with itself`()
    throws
  {
    let store = try ModelStore.forTest()
    var random = SeededGenerator(seed: 1)
    let sales = (0..<300).map { Self.sale($0, &random) }
    try store.write { transaction in
      try transaction.addIndex(on: ["day"], ofType: "Sale")
      for sale in sales { try transaction.set(sale) }
      #expect(try transaction.addIndex(on: ["day"], ofType: "Sale", sums: ["views"]))
      #expect(try !transaction.addIndex(on: ["day"], ofType: "Sale", sums: ["views"]))
      // A program that knows nothing of totals changes nothing.
      #expect(try !transaction.addIndex(on: ["day"], ofType: "Sale"))
      #expect(try transaction.addIndex(on: ["day"], ofType: "Sale", sums: ["total"]))
    }
    #expect(try store.read { try $0.indexes() }.map(\.sums) == [["total", "views"]])
    try Self.requireEqualSum(store, sales)
    var lines: [DumpLine] = []
    try store.read { snapshot in
      try StoreDump(path: "dump").run(snapshot.reader) { lines.append($0) }
    }
    let declared = lines.compactMap { line -> [ModelIndex]? in
      if case .type(_, _, let indexes, _) = line { indexes } else { nil }
    }
    #expect(declared.joined().map(\.sums) == [["total", "views"]])
    try store.write { try $0.dropIndex(on: "day", ofType: "Sale") }
    #expect(try store.verify().problems == [])
    for names in [["tags[]"], ["address.size"], [""]] {
      expectFailure(.invalidIndex, "sums up fields of the record itself") {
        _ = try store.write { try $0.addIndex(on: ["day"], ofType: "Sale", sums: names) }
      }
    }
  }

  private struct PlainSale: Model, Codable, Equatable, Queryable {
    static let modelTypeName = "Sale"
    var number: Int
    var day: Int?
    var region: String
    var modelIdentifier: String? { "Sale:\(number)" }
    static let fields: [Field<PlainSale>] = [.indexed(\.day), .field(\.number), .field(\.region)]
    static let indexes: [FieldIndex<PlainSale>] = [.indexed(\.region)]
  }

  // They were dropped, and not made again: what they served counted as present.
  @Test(.overBothBackings) func `an index that does more than is declared is replaced, not lost`()
    throws
  {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.addIndex(on: ["day"], ofType: "Sale", sums: ["number"])
      try transaction.addIndex(on: ["region"], ofType: "Sale", unique: true)
    }
    try store.addIndexes(of: [PlainSale.self])
    #expect(try store.read { try $0.indexes() }.map(\.isUndeclared) == [true, true])
    try store.addIndexes(of: [PlainSale.self], droppingUndeclared: true)
    let indexes = try store.read { try $0.indexes() }
    #expect(indexes.map(\.field) == ["day", "region"])
    #expect(indexes.map(\.sums) == [nil, nil] && !indexes.contains(where: \.isUnique))
  }

  private struct WordSale: Model, Codable, Equatable, Queryable {
    var number: Int
    var region: String
    var modelIdentifier: String? { "WordSale:\(number)" }
    static let fields: [Field<WordSale>] = [.field(\.number), .field(\.region)]
    static let indexes: [FieldIndex<WordSale>] = [.indexed(\.number, sums: [\.region])]
  }

  @Test func `a declared sum of what is no number is refused`() throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    let error = #expect(throws: QueryError.self) {
      try store.addIndexes(of: [WordSale.self])
    }
    #expect(
      error?.description.contains("an index of WordSale sums up what is no number") == true)
  }

  private static func requireEqualSum(_ store: ModelStore, _ sales: [Sale]) throws {
    let query = Query<Sale>(filter: \.day > 3)
    #expect(
      try store.answer(.sum(\.total), to: query)
        == Question.sum(\.total).answer(sales.filter { ($0.day ?? 0) > 3 }))
    #expect(try store.verify().problems == [])
  }
}
