import Foundation
import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

/// Groups in order, by several fields, of list elements and calendar units, and percentiles: asked and followed.
@Suite struct SaleQuestionTests {
  private static let indexes = [
    ["region"], ["day"], ["day", "total"], ["region", "day", "total"], ["total"], ["weight"],
    ["created"], ["tags[]"], ["lines[].product"], ["day", "tags[]"], ["buyer.city"], ["due"],
  ]

  @Test(arguments: seeds(4))
  func `an answer is that of plain Swift, whatever indexes there are`(seed: UInt64) async throws {
    var maker = SaleMaker(seed: seed)
    let store = try ModelStore.temporary(models: [Sale.self, Buyer.self])
    var sales: [Int: Sale] = [:]
    for round in 0..<steps(8) {
      let chosen = Self.indexes.map { ($0, maker.int(0...1) == 0) }
      let made = (0..<maker.int(0...15)).map { _ in maker.sale(maker.int(0...40)) }
      let gone = maker.int(0...40)
      try await store.write { transaction in
        for sale in made { try transaction.set(sale) }
        try transaction.deleteIfPresent(Sale.key(gone))
        for (fields, isWanted) in chosen {
          if isWanted {
            try transaction.addIndex(on: fields, ofType: "Sale")
          } else {
            try transaction.dropIndex(on: fields, ofType: "Sale")
          }
        }
      }
      sales = [:]
      // A buyer of one sale has changed in those of the others.
      for sale in try await store.find(Query<Sale>.all).entities { sales[sale.id] = sale }
      for question in SaleQuestion.all {
        let query = maker.query()
        let wrong = try await store.read { snapshot in
          try question.compare(snapshot, query, try snapshot.find(query).entities)
        }
        try #require(wrong == nil, "seed \(seed), round \(round), \(query)")
      }
    }
    #expect(try store.verify().problems == [])
    await store.close()
  }

  @Test(arguments: seeds(2))
  func `a followed answer is the asked one after every commit`(seed: UInt64) async throws {
    var maker = SaleMaker(seed: seed)
    let store = try ModelStore.inMemory(
      models: seed.isMultiple(of: 2) ? [Sale.self, Buyer.self] : [])
    let followed = SaleQuestion.all.map { $0.follow(store, maker.query()) }
    for step in 0..<steps(40) {
      let made = (0..<maker.pick([1, 1, 2, 9])).map { _ in maker.sale(maker.int(0...25)) }
      let buyer = maker.buyer()
      let gone = Set((0..<3).map { _ in maker.int(0...25) })
      let kind = maker.int(0...4)
      try await store.write { transaction in
        switch kind {
        case 0: for id in gone { try transaction.deleteIfPresent(Sale.key(id)) }
        case 1: try transaction.set(buyer)
        default: for sale in made { try transaction.set(sale) }
        }
      }
      for question in followed {
        let wrong = try await question.check()
        try #require(wrong == nil, "seed \(seed), step \(step)")
      }
    }
    await store.close()
  }

  private static func store(_ sales: [Sale]) async throws -> ModelStore {
    let store = try ModelStore.inMemory(models: [Sale.self, Buyer.self])
    try await store.write { transaction in
      for sale in sales { try transaction.set(sale) }
    }
    return store
  }

  private static func sale(
    _ id: Int, day: String = "mo", region: String? = nil, total: Decimal = 1, weight: Double = 1,
    created: Date = Date(timeIntervalSinceReferenceDate: 0), tags: [String] = []
  ) -> Sale {
    Sale(
      id: id, day: day, region: region, total: total, weight: weight, created: created, due: nil,
      tags: tags, lines: [], buyer: nil)
  }

  @Test func `an answer about nothing is empty`() async throws {
    let store = try await Self.store([])
    let all = Query<Sale>.all
    #expect(try await store.answer(.sum(\.total).grouped(by: \.day).top(3), to: all) == [])
    #expect(try await store.answer(.count.grouped(by: \.day, \.region), to: all) == [:])
    #expect(try await store.answer(.sum(.each(\.lines, \.quantity)), to: all) == 0)
    #expect(try await store.answer(.median(\.total), to: all) == nil)
    #expect(try await store.answer(.percentile(100, of: \.due), to: all) == nil)
    let (count, sum, median) = try await store.answer(
      .count, .sum(\.total), .median(\.weight), to: all)
    #expect(count == 0 && sum == 0 && median == nil)
    await store.close()
  }

  @Test func `a limit of zero gives no group`() async throws {
    let store = try await Self.store([Self.sale(1)])
    #expect(try await store.answer(.count.grouped(by: \.day).top(0), to: Query<Sale>.all) == [])
    await store.close()
  }

  @Test func `not-a-number and null are the lowest answers of groups`() async throws {
    let weights: [Double] = [1, .infinity, .nan]
    let sales = weights.enumerated().map { Self.sale($0, day: "d\($0)", weight: $1) }
    let opposite = Self.sale(9, day: "d1", weight: -.infinity)
    let store = try await Self.store(sales + [opposite])
    let sums = try await store.answer(
      .sum(\.weight).grouped(by: \.day).top(), to: Query<Sale>.all)
    #expect(sums.map(\.key) == ["d0", "d2", "d1"])
    #expect(sums.last?.value.isNaN == true)
    let averages = try await store.answer(
      .average(\.weight).grouped(by: \.day).bottom(), to: Query<Sale>.all)
    #expect(averages.map(\.key) == ["d2", "d1", "d0"])
    await store.close()
  }

  @Test func `a sum of a group that does not fit is an error, even beyond the limit`() async throws
  {
    @Sendable func counter(_ id: Int, _ day: String, _ count: Int) -> Counter {
      Counter(id: id, day: day, count: count)
    }
    let store = try ModelStore.inMemory(models: [Counter.self])
    try await store.write { transaction in
      try transaction.set(counter(1, "a", .max))
      try transaction.set(counter(2, "b", 5))
    }
    let top = Question<Counter, [AnswerGroup<String, Int>]>
      .sum(\.count).grouped(by: \.day).bottom(1)
    var followed = store.follow(top, of: .all).makeAsyncIterator()
    #expect(try await followed.next() == [AnswerGroup(key: "b", value: 5)])
    try await store.write { try $0.set(counter(3, "a", 1)) }
    do {
      _ = try await followed.next()
      Testing.Issue.record("the sum fits")
    } catch let error as QueryError {
      #expect(error.code == .overflow)
    }
    let error = await #expect(throws: QueryError.self) { try await store.answer(top, to: .all) }
    #expect(error?.code == .overflow)
    // A followed answer is right again when the group is.
    try await store.write { try $0.delete(Counter.key(1)) }
    var again = store.follow(top, of: .all).makeAsyncIterator()
    #expect(try await again.next() == [AnswerGroup(key: "a", value: 1)])
    await store.close()
  }

  @Test func `a day begins at midnight of the time zone, and summer time makes it shorter`()
    async throws
  {
    // 2026-03-29 has 23 hours in Berlin: 2026-03-28T23:00Z to 2026-03-29T22:00Z.
    func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }
    let store = try await Self.store([
      Self.sale(1, created: try date("2026-03-28T22:59:59Z")),
      Self.sale(2, created: try date("2026-03-28T23:00:00Z")),
      Self.sale(3, created: try date("2026-03-29T21:59:59Z")),
      Self.sale(4, created: try date("2026-03-29T22:00:00Z")),
    ])
    let days = try await store.answer(
      .count.grouped(by: .date(\.created, .day, in: SaleQuestion.berlin)), to: Query<Sale>.all)
    #expect(
      days == [
        try date("2026-03-27T23:00:00Z"): 1, try date("2026-03-28T23:00:00Z"): 2,
        try date("2026-03-29T22:00:00Z"): 1,
      ])
    // 2026-03-29 is a Sunday: the week that it ends began on Monday the 23rd.
    let weeks = try await store.answer(
      .count.grouped(by: .date(\.created, .weekOfYear, in: .gmt)), to: Query<Sale>.all)
    #expect(weeks == [try date("2026-03-23T00:00:00Z"): 4])
    await store.close()
  }

  @Test func `a percentile is the value of the nearest rank`() async throws {
    let store = try await Self.store((1...100).map { Self.sale($0, total: Decimal($0)) })
    for percentile in [0, 1, 7, 29, 50, 99, 100] {
      let value = try await store.answer(
        .percentile(Double(percentile), of: \.total), to: Query<Sale>.all)
      #expect(value == Decimal(max(percentile, 1)))
    }
    #expect(try await store.answer(.median(\.total), to: Query(filter: \Sale.total <= 4)) == 2)
    await store.close()
  }

  @Test func `a tag that an entity has twice counts the entity once`() async throws {
    let store = try await Self.store([Self.sale(1, tags: ["a", "a"]), Self.sale(2, tags: ["a"])])
    let all = Query<Sale>.all
    #expect(try await store.answer(.count.grouped(by: .each(\.tags)), to: all) == ["a": 2])
    #expect(try await store.answer(.sum(\.total).grouped(by: .each(\.tags)), to: all) == ["a": 2])
    await store.close()
  }

  @Test func `several questions are answered in one pass, and followed`() async throws {
    let store = try await Self.store([Self.sale(1, day: "mo"), Self.sale(2, day: "tu", total: 5)])
    let all = Query<Sale>.all
    let (count, sum) = try await store.answer(.count, .sum(\.total), to: all)
    #expect(count == 2 && sum == 6)
    let days = try await store.answer(
      .combined(.count, .max(\.total)).grouped(by: \.day), to: all)
    #expect(days["tu"]?.0 == 1 && days["tu"]?.1 == 5 && days.count == 2)
    var followed = store.follow(.count, .count.grouped(by: \.day).top(1), of: all)
      .makeAsyncIterator()
    var (number, best) = try #require(try await followed.next())
    #expect(number == 2 && best == [AnswerGroup(key: "mo", value: 1)])
    // A change of no answer gives no element.
    try await store.write { try $0.set(Self.sale(1, day: "mo", total: 3)) }
    try await store.write { try $0.set(Self.sale(3, day: "tu")) }
    (number, best) = try #require(try await followed.next())
    #expect(number == 3 && best == [AnswerGroup(key: "tu", value: 2)])
    await store.close()
  }

  @Test func `a manager answers and follows several questions`() async throws {
    let store = try ModelStore.inMemory()
    let container = try CoreManagerContainer(
      entities: Track.self, diskStoreConfig: .store(store))
    let tracks = container[Track.self]
    try await tracks.set([Track(1, genre: "jazz"), Track(2, genre: "rock")])
    let (count, genres) = try await tracks.answer(.count, .distinct(\.genre), to: .all)
    #expect(count == 2 && genres == ["jazz", "rock"])
    var followed = tracks.follow(.count, .exists, of: .all).makeAsyncIterator()
    let first = try #require(try await followed.next())
    #expect(first.0 == 2 && first.1)
    await container.close()
  }
}

@Model private struct Counter {
  @Key var id: Int
  var day: String
  var count: Int
}
