import Foundation
import PandoFixtures
import PandoLMDB
import PandoModels
import Testing

@testable import PandoStore

private struct Item: Model, Codable, Equatable, Queryable {
  enum Status: String, Codable, QueryRepresentable { case open, closed }

  var number: Int
  var price: Decimal
  var discount: Decimal?
  var parts: [Decimal] = []
  var timeout: Duration
  var created = Date(timeIntervalSinceReferenceDate: 0)
  var key = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var link = URL(filePath: "/")
  var status = Status.open

  var modelIdentifier: String? { "Item:\(number)" }

  static let fields: [Field<Item>] = [
    .indexed(\.price), .indexed(\.discount), .indexed(.each(\.parts)), .indexed(\.timeout),
    .indexed(\.created), .indexed(\.key), .indexed(\.link), .indexed(\.status),
  ]
  static let indexes: [FieldIndex<Item>] = [.indexed(\.price, \.timeout)]
}

/// Decimals, durations and other types of Foundation in declared fields.
@Suite struct DecimalQueryTests {
  private static func item(_ number: Int, _ random: inout SeededGenerator) -> Item {
    func decimal() -> Decimal {
      let digits = Decimal(Int.random(in: -300...300, using: &random))
      var value = Decimal(sign: .plus, exponent: -2, significand: digits)
      // Digits that no double tells apart.
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1:
        value += Decimal(
          sign: .plus, exponent: -30,
          significand: Decimal(Int.random(in: -2...2, using: &random)))
      case 2: value += Decimal(sign: .plus, exponent: 17, significand: 1)
      default: break
      }
      return value
    }
    let bytes = UInt8.random(in: 0..<9, using: &random)
    return Item(
      number: number, price: decimal(), discount: Bool.random(using: &random) ? decimal() : nil,
      parts: (0..<Int.random(in: 0..<3, using: &random)).map { _ in decimal() },
      timeout: .milliseconds(Int.random(in: -20...20, using: &random) * 250),
      created: Date(
        timeIntervalSinceReferenceDate: Double.random(in: 0..<9, using: &random).rounded()),
      key: UUID(uuid: (bytes, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, bytes)),
      link: URL(filePath: "/\(bytes)"), status: Bool.random(using: &random) ? .open : .closed)
  }

  /// Filters, and the same as Swift compares the values.
  private static func filters(
    _ item: Item
  ) -> [(filter: Filter<Item>, holds: (Item) -> Bool)] {
    let (price, timeout) = (item.price, item.timeout)
    return [
      (\.price == price, { $0.price == price }), (\.price != price, { $0.price != price }),
      (\.price < price, { $0.price < price }), (\.price <= price, { $0.price <= price }),
      (\.price > price, { $0.price > price }), (\.price >= price, { $0.price >= price }),
      (\.price >> [price, 1, 2.5], { [price, 1, 2.5].contains($0.price) }),
      (\.price >= -1 && \.price < price, { $0.price >= -1 && $0.price < price }),
      (\.discount == price, { $0.discount == price }), (\.discount == nil, { $0.discount == nil }),
      (\.discount < price, { $0.discount.map { $0 < price } ?? false }),
      (.contains(\.parts, price), { $0.parts.contains(price) }),
      (.compare(.each(\.parts), .greater, price), { $0.parts.contains { $0 > price } }),
      (\.timeout == timeout, { $0.timeout == timeout }),
      (\.timeout < timeout, { $0.timeout < timeout }),
      (\.timeout >= timeout, { $0.timeout >= timeout }),
      (\.price == price && \.timeout > timeout, { $0.price == price && $0.timeout > timeout }),
      (\.created > item.created, { $0.created > item.created }),
      (\.key == item.key, { $0.key == item.key }), (\.link == item.link, { $0.link == item.link }),
      (\.status == item.status, { $0.status == item.status }),
    ]
  }

  private static func withItems(
    hasIndexes: Bool, seed: UInt64,
    _ body: (ModelStore, [Item], inout SeededGenerator) throws -> Void
  ) throws {
    var random = SeededGenerator(seed: seed)
    let store = try ModelStore.temporary()
    defer { store.close() }
    if hasIndexes { try store.addIndexes(of: [Item.self]) }
    let items = (0..<150).map { item($0, &random) }
    try store.write { transaction in for item in items { try transaction.set(item) } }
    try body(store, items, &random)
    #expect(try store.verify().problems == [])
  }

  @Test(arguments: [false, true], seeds(1))
  func `filters and orders give what Swift gives`(hasIndexes: Bool, seed: UInt64) throws {
    try Self.withItems(hasIndexes: hasIndexes, seed: seed) { store, items, random in
      for _ in 0..<steps(12) {
        let item = try #require(items.randomElement(using: &random))
        for (place, (filter, holds)) in Self.filters(item).enumerated() {
          let expected = items.filter(holds)
          let found = try store.read { try $0.find(Query(filter: filter)).entities }
          #expect(found == expected, "\(place): \(item)")
          #expect(try items.filter(filter.matches) == expected, "\(place): \(item)")
          let count = try store.read { try $0.answer(.count, to: Query(filter: filter)) }
          #expect(count == expected.count, "\(place): \(item)")
          let ordered = expected.sorted { ($0.price, $0.number) < ($1.price, $1.number) }
          for limit in [nil, 5] {
            let query = Query(filter: filter, order: [.ascending(\.price)], limit: limit)
            let found = try store.read { try $0.find(query).entities }
            #expect(found == Array(ordered.prefix(limit ?? .max)), "\(place): \(item)")
          }
          let first = try store.read {
            try $0.first(Query(filter: filter, order: [.descending(\.price)]))
          }
          #expect(first?.price == ordered.last?.price, "\(place): \(item)")
        }
        let page = Query<Item>(order: [.ascending(\.price), .ascending(\.timeout)], limit: 10)
        let rest = try store.read { try $0.find(page, after: item).entities }
        let after = items.sorted {
          ($0.price, $0.timeout, $0.number) < ($1.price, $1.timeout, $1.number)
        }.drop { $0 != item }.dropFirst()
        #expect(rest == Array(after.prefix(10)))
      }
    }
  }

  @Test(arguments: [false, true])
  func `sums, extremes and counts are exact`(hasIndexes: Bool) throws {
    try Self.withItems(hasIndexes: hasIndexes, seed: 7) { store, items, _ in
      func answer<Answer>(_ question: Question<Item, Answer>) throws -> Answer {
        try store.answer(question, to: .all)
      }
      let prices = items.map(\.price)
      let near = Query(filter: \Item.price < 1000)
      let sum = try store.answer(.sum(\.price), to: near)
      #expect(sum == prices.filter { $0 < 1000 }.reduce(0, +))
      #expect(try answer(.min(\.price)) == prices.min())
      #expect(try answer(.max(\.price)) == prices.max())
      let counts = Dictionary(grouping: prices, by: \.self).mapValues(\.count)
      #expect(try answer(.count.grouped(by: \.price)) == counts)
      #expect(try answer(.distinct(\.price)) == counts.keys.sorted())
      let seconds = items.reduce(Duration.zero) { $0 + $1.timeout }
      #expect(try answer(.sum(\.timeout)) == seconds)
    }
  }

  @Test func `a sum that no Decimal holds is an error that names the field`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.write { transaction in
      for (number, price) in ["1e30", "1e-30"].enumerated() {
        let price = try #require(Decimal(string: price))
        try transaction.set(Item(number: number, price: price, timeout: .zero))
      }
    }
    let error = #expect(throws: QueryError.self) {
      try store.read { try $0.answer(.sum(\Item.price), to: .all) }
    }
    #expect(error?.code == .overflow)
    #expect(error?.subject == "price")
  }

  @Test func `a unique index refuses equal numbers of different forms`() throws {
    let store = try ModelStore.forTest()
    func set(_ number: Int, _ value: TreeValue) throws {
      try store.write { transaction in
        try transaction.set(TreeNode("City:\(number)", type: "City", fields: ["n": value]))
      }
    }
    try store.write { try $0.addIndex(on: ["n"], ofType: "City", unique: true) }
    try set(1, .tagged(4, .array([-1, .integer(5)])))
    try set(2, .tagged(4, .array([-1, .integer(1)])))
    try set(3, .tagged(4, .array([2, .integer(3)])))
    try set(4, .double(0.1))
    let same: [TreeValue] = [
      .double(0.5), .integer(300), .double(300), .tagged(4, .array([-3, .integer(100)])),
    ]
    for value in same {
      let error = #expect(throws: StoreError.self, "\(value)") { try set(9, value) }
      #expect(error?.code == .valueTaken)
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `a number that JSON gave as a float is compared as the decimal that is decoded`()
    throws
  {
    let store = try ModelStore.temporary()
    defer { store.close() }
    let price = try #require(Decimal(string: "19.99"))
    try store.write { try $0.set(Item(number: 1, price: price, timeout: .zero)) }
    try store.write { transaction in
      let tree = try #require(try transaction.snapshot.tree("Item:1", as: "Item"))
      var fields = try #require(tree.fields.objectValue)
      #expect(fields["price"]?.json() == "19.99")
      fields["price"] = try TreeValue(json: "19.99")
      try transaction.set(TreeNode("Item:1", type: "Item", fields: .object(fields)))
    }
    for hasIndex in [false, true] {
      if hasIndex { try store.addIndexes(of: [Item.self]) }
      let found = try store.read { try $0.find(Query(filter: \Item.price == price)).entities }
      #expect(found.map(\.price) == [price])
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `an index of earlier versions is not used for decimals, and made anew`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.write { try $0.addIndex(on: ["price"], ofType: "Item") }
    let price = try #require(Decimal(string: "9.99"))
    try store.write { try $0.set(Item(number: 1, price: price, timeout: .zero)) }
    try store.editRows { transaction, tables in
      let index = StoredIndex.bytes(1)
      var (former, present) = (index + [QueryValue.Kind.composite.rawValue], index)
      present += IndexValue(.decimal(price)).bytes
      former.append(bigEndian: 0, width: StoredIndex.nodeByteCount)
      present.append(bigEndian: 0, width: StoredIndex.nodeByteCount)
      try transaction.remove(present, in: tables.indexRows)
      try transaction.put([], former, in: tables.indexRows)
    }
    let query = Query(filter: \Item.price == price)
    #expect(try store.read { try $0.find(query).entities }.count == 1)
    #expect(try store.explain(query).access == .scan)
    #expect(
      try store.explain(query).reason
        == "the index on price was made for another type of price than that of Item; "
        + "addIndexes(of:) makes it anew")
    try store.addIndexes(of: [Item.self])
    #expect(try store.explain(query).access != .scan)
    #expect(try store.read { try $0.find(query).entities }.count == 1)
    #expect(try store.verify().problems == [])
    #expect(try store.addIndexes(of: [Item.self]) == 0)
  }
}
