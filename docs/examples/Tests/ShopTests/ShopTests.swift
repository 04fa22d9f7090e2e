import Foundation
import Pando
import Testing

@testable import shop

@Suite struct ShopTests {
  private let store: ModelStore
  private let north: Shop
  private let today = Date(timeIntervalSince1970: 1_800_000_000)
  private let saws = Category(tenant: "north", id: 2, name: "Saws", path: "/tools/saws/")
  private let ada: Customer
  private let saw: Product

  init() async throws {
    store = try ModelStore.inMemory()
    north = try Shop("north", in: store)
    ada = Self.customer("Ada")
    saw = Product(
      tenant: "north", sku: "S-1", name: "Saw", nameKey: "saw", price: Money(rawValue: 1_990),
      category: saws.key, categoryPath: saws.path, tags: ["wood"], createdAt: today)
    try await store.write { [saws, ada] transaction in
      try transaction.insert(saws)
      try transaction.insert(ada)
    }
    try await north.add(saw, available: 10, by: "admin", at: today)
  }

  private static func customer(_ name: String, of tenant: String = "north") -> Customer {
    Customer(
      tenant: tenant, email: "\(name.lowercased())@example.org", name: name,
      address: Address(street: "Elm Street", city: "Ulm", zip: "89073", country: "DE"))
  }

  private func order(_ quantity: Int, _ key: String = UUID().uuidString) -> OrderRequest {
    OrderRequest(customer: ada.key, items: [(saw.key, quantity)], idempotencyKey: key)
  }

  private func available() async throws -> Int? {
    try await store.get(Stock.key(saw.key))?.available
  }

  private func code(_ body: () async throws -> Void) async -> ShopError.Code? {
    await #expect(throws: ShopError.self) { try await body() }?.code
  }

  @Test func `an order takes its items from the stock in one commit`() async throws {
    let before = try await store.read { try $0.commitNumber }
    let placed = try await north.place(order(3), at: today)
    #expect(placed.number == 1 && placed.total == Money(rawValue: 5_970))
    #expect(try await store.get(placed.key) == placed)
    #expect(try await available() == 7)
    #expect(try await store.read { try $0.changes(since: before).count } == 1)
    #expect(try await north.history(of: placed.key).map(\.what) == ["placed"])
  }

  @Test func `an order that can't be served changes nothing`() async throws {
    let before = try await store.read { try $0.commitNumber }
    var both = order(3)
    both.items.append((saw.key, 8))
    let requests: [(OrderRequest, ShopError.Code)] = [
      (both, .outOfStock),
      (OrderRequest(customer: ada.key, items: [], idempotencyKey: "a"), .emptyOrder),
      (
        OrderRequest(
          customer: Customer.key("north", UUID()), items: [(saw.key, 1)], idempotencyKey: "b"),
        .notThere
      ),
    ]
    for (request, expected) in requests {
      #expect(await code { _ = try await north.place(request, at: today) } == expected)
    }
    #expect(try await available() == 10)
    #expect(try await store.read { try $0.commitNumber } == before)
    try await north.retire(saw.key, by: "admin", at: today)
    #expect(await code { _ = try await north.place(order(1), at: today) } == .notForSale)
  }

  @Test func `a repeated request places one order`() async throws {
    let request = order(2, "cart-7")
    let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<8 { group.addTask { try await north.place(request, at: today).number } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(numbers == [1])
    #expect(try await available() == 8)
  }

  @Test func `the idempotency key of another customer is another one`() async throws {
    let grace = Self.customer("Grace")
    try await store.write { try $0.insert(grace) }
    let placed = try await north.place(order(1, "cart-7"), at: today)
    let request = OrderRequest(
      customer: grace.key, items: [(saw.key, 1)], idempotencyKey: "cart-7")
    let other = try await north.place(request, at: today)
    #expect(other.number == 2 && other.customer == grace && placed.customer == ada)
  }

  @Test func `many buyers at once get no more than there is, and numbers without gaps`()
    async throws
  {
    let orders = await withTaskGroup(of: Optional<Order>.self) { group in
      for _ in 0..<25 { group.addTask { try? await north.place(order(1), at: today) } }
      return await group.compactMap(\.self).reduce(into: [Order]()) { $0.append($1) }
    }
    #expect(orders.map(\.number).sorted() == Array(1...10))
    #expect(try await available() == 0)
  }

  @Test func `sku, e-mail and number are unique for each tenant`() async throws {
    let placed = try await north.place(order(1), at: today)
    var other = saw
    other.id = UUID()
    var twin = placed
    twin.id = UUID()
    let taken: [@Sendable (inout ModelTransaction) throws -> Void] = [
      { [other] in try $0.insert(other) }, { try $0.insert(Self.customer("Ada")) },
      { [twin] in try $0.insert(twin) },
    ]
    for insert in taken {
      let error = await #expect(throws: StoreError.self) { try await store.write(insert) }
      #expect(error?.code == .valueTaken)
    }
    let south = try Shop("south", in: store)
    let grace = Self.customer("Ada", of: "south")
    other.tenant = "south"
    try await store.write { try $0.insert(grace) }
    try await south.add(other, available: 1, by: "admin", at: today)
    let request = OrderRequest(
      customer: grace.key, items: [(other.key, 1)], idempotencyKey: "cart-7")
    #expect(try await south.place(request, at: today).number == 1)
    #expect(try await store.read { try $0.find(north.openOrders()).entities } == [placed])
  }

  @Test func `open orders are followed`() async throws {
    var shown = store.follow(north.openOrders()).makeAsyncIterator()
    #expect(try await shown.next()?.entities == [])
    let placed = try await north.place(order(1), at: today)
    #expect(try await shown.next()?.entities == [placed])
    try await store.update(ada.key) { $0.name = "Ada King" }
    #expect(try await shown.next()?.entities.map(\.customer.name) == ["Ada King"])
    try await north.ship(placed.key, by: "admin", at: today)
    #expect(try await shown.next()?.entities == [])
  }

  @Test func `a page of open orders and their number are live`() async throws {
    var page = store.follow(north.openOrders(limit: 2)).makeAsyncIterator()
    var badge = store.follow(.count, of: north.openOrders()).makeAsyncIterator()
    #expect(try await page.next()?.entities == [])
    #expect(try await badge.next() == 0)
    var placed: [Order] = []
    for minute in 0..<3 {
      placed.append(try await north.place(order(1), at: today + Double(minute) * 60))
    }
    while try await badge.next() != 3 {}
    try await north.ship(placed[0].key, by: "admin", at: today)
    #expect(try await badge.next() == 2)
    while let shown = try await page.next(), shown.entities != Array(placed[1...]) {}
  }

  @Test func `a product is found by the beginning of its name, by an index`() async throws {
    var jigsaw = saw
    (jigsaw.id, jigsaw.sku, jigsaw.name, jigsaw.nameKey) = (UUID(), "J-1", "Jigsaw", "jigsaw")
    try await north.add(jigsaw, available: 1, by: "admin", at: today)
    #expect(try await store.find(north.products(named: "SA")).entities == [saw])
    #expect(try await store.find(north.products(named: "gsaw")).entities.isEmpty)
    let plan = try await store.read { try $0.explain(north.products(named: "sa")) }
    #expect("\(plan)".contains("tenant, nameKey"), "\(plan)")
  }

  @Test func `a backup is the shop at one commit`() async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/shop-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let placed = try await north.place(order(3), at: today)
    try await north.backUp(to: folder)
    try await north.cancel(placed.key, reason: "late", by: "ada", at: today)

    let restored = try Shop("north", in: ModelStore(path: folder))
    #expect(try await restored.store.get(placed.key) == placed)
    #expect(try await restored.place(order(1), at: today).number == 2)
    #expect(try await restored.store.get(Stock.key(saw.key))?.available == 6)
    await restored.store.close()
  }

  @Test func `a cancelled order gives its items and the money back, once`() async throws {
    let placed = try await north.place(order(4), at: today)
    try await north.pay(placed.key, reference: "R-17", by: "bank", at: today)
    #expect(try await north.order(paidAs: "R-17")?.key == placed.key)
    try await north.cancel(placed.key, reason: "late", by: "ada", at: today)
    #expect(try await available() == 10)
    let payment = try await store.get(placed.key)?.payment
    #expect(payment == .refunded(amount: placed.total, reason: "late"))
    let again = await code {
      try await north.cancel(placed.key, reason: "late", by: "ada", at: today)
    }
    #expect(again == .wrongStatus)
    #expect(try await available() == 10)
    #expect(try await north.history(of: placed.key).count == 3)
  }

  @Test func `a customer with orders is kept`() async throws {
    let placed = try await north.place(order(1), at: today)
    let error = await #expect(throws: StoreError.self) {
      try await store.write { try $0.delete(ada.key) }
    }
    #expect(error?.code == .restricted)
    #expect(try await north.orders(of: ada.key) == [placed])
    try await store.write { try $0.delete(placed.key) }
    try await store.write { try $0.delete(ada.key) }
    #expect(try await store.get(ada.key) == nil)
  }

  @Test func `products are found by branch and price, and orders by day`() async throws {
    var cheap = saw
    (cheap.id, cheap.sku, cheap.price) = (UUID(), "S-2", Money(rawValue: 500))
    try await north.add(cheap, available: 1, by: "admin", at: today)
    #expect(try await north.products(below: "/tools/").map(\.sku) == ["S-2", "S-1"])
    #expect(try await north.products(below: "/garden/").isEmpty)
    try await north.retire(cheap.key, by: "admin", at: today)
    #expect(try await north.products(below: "/tools/saws/") == [saw])
    let first = try await north.place(order(2), at: today)
    _ = try await north.place(order(1), at: today)
    try await north.cancel(first.key, reason: "", by: "ada", at: today)
    #expect(try await north.turnover(on: first.day) == saw.price)
    #expect(try await north.turnover(on: "2020-01-01") == Money(rawValue: 0))
  }
}
