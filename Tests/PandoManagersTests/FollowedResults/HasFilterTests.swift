import PandoFixtures
import PandoModels
import PandoStore
import Testing

@testable import PandoManagers

@Model private struct Customer {
  @Key var id: Int
  @Indexed var city: String
  var name: String
}

@Model(indexed: [\.isPaid, \.customer]) private struct Order {
  @Key var id: Int
  @Indexed var customer: Key<Customer>?
  var isPaid: Bool
  var total: Int
}

@Model private struct Delivery {
  @Key var id: Int
  var order: Order
  var others: [Key<Order>]
}

/// Filters by the models that name an entity.
@Suite struct HasFilterTests {
  private typealias Condition = @Sendable (Customer, [Order], [Delivery]) -> Bool

  private static func orders(of customer: Customer, _ orders: [Order]) -> [Order] {
    orders.filter { $0.customer == customer.key }
  }

  private static let unpaid = Query(filter: \Order.isPaid == false)
  private static let delivered = Query<Order>(filter: .has(by: .child(\Delivery.order)))

  /// Filters, and what they say in plain Swift.
  private static let filters: [(name: String, filter: Filter<Customer>, holds: Condition)] = [
    (
      "unpaid", .has(unpaid, by: \.customer),
      { customer, all, _ in
        orders(of: customer, all).contains { !$0.isPaid }
      }
    ),
    (
      "none", !.has(by: \Order.customer),
      { customer, all, _ in
        orders(of: customer, all).isEmpty
      }
    ),
    (
      "two", .has(by: \Order.customer, atLeast: 2),
      { customer, all, _ in
        orders(of: customer, all).count >= 2
      }
    ),
    ("at least none", .has(unpaid, by: \.customer, atLeast: 0), { _, _, _ in true }),
    (
      "with a city", .has(unpaid, by: \.customer) && \.city == "Rome",
      { customer, all, _ in
        customer.city == "Rome" && orders(of: customer, all).contains { !$0.isPaid }
      }
    ),
    (
      "named", .keys([Customer.key(2), Customer.key(90)]) && !.has(unpaid, by: \.customer),
      {
        customer, all, _ in
        customer.id == 2 && !orders(of: customer, all).contains { !$0.isPaid }
      }
    ),
    (
      "either", .has(unpaid, by: \.customer) || \.name == "b",
      { customer, all, _ in
        customer.name == "b" || orders(of: customer, all).contains { !$0.isPaid }
      }
    ),
    (
      "both", .has(unpaid, by: \.customer) && .has(Query(filter: \Order.total > 4), by: \.customer),
      {
        customer, all, _ in
        let own = orders(of: customer, all)
        return own.contains { !$0.isPaid } && own.contains { $0.total > 4 }
      }
    ),
    (
      "deep", .has(delivered, by: \.customer),
      { customer, all, deliveries in
        orders(of: customer, all).contains { order in
          deliveries.contains { $0.order.id == order.id }
        }
      }
    ),
    (
      "listed", .has(Query(filter: .has(by: .each(\Delivery.others))), by: \Order.customer),
      {
        customer, all, deliveries in
        orders(of: customer, all).contains { order in
          deliveries.contains { $0.others.contains(order.key) }
        }
      }
    ),
    (
      "highest",
      .has(Query(order: [.descending(\Order.total), .ascending(\.id)], limit: 3), by: \.customer),
      {
        customer, all, _ in
        all.sorted { ($1.total, $0.id) < ($0.total, $1.id) }.prefix(3).contains {
          $0.customer == customer.key
        }
      }
    ),
  ]

  private static func change(
    _ transaction: inout ModelTransaction, _ random: inout SeededGenerator
  ) throws {
    func order() -> Order {
      let customer = Int.random(in: 0..<9, using: &random)
      return Order(
        id: Int.random(in: 0..<25, using: &random),
        // Some name a customer that does not exist.
        customer: customer == 8 ? nil : Customer.key(customer),
        isPaid: Bool.random(using: &random), total: Int.random(in: 0..<8, using: &random))
    }
    for _ in 0..<([1, 1, 1, 6].randomElement(using: &random) ?? 1) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        try transaction.deleteIfPresent(Customer.key(Int.random(in: 0..<8, using: &random)))
      case 1...2:
        try transaction.set(
          Customer(
            id: Int.random(in: 0..<7, using: &random),
            city: ["Rome", "Oslo"].randomElement(using: &random) ?? "",
            name: ["a", "b", "c"].randomElement(using: &random) ?? ""))
      case 3: try transaction.deleteIfPresent(Order.key(Int.random(in: 0..<25, using: &random)))
      case 4:
        try transaction.set(
          Delivery(
            id: Int.random(in: 0..<6, using: &random), order: order(),
            others: [order().key, order().key]))
      case 5:
        try transaction.deleteIfPresent(Delivery.key(Int.random(in: 0..<6, using: &random)))
      default: try transaction.set(order())
      }
    }
  }

  @Test(.timeLimit(.minutes(5)), arguments: seeds(2))
  func `asked, followed and plain results are equal after every commit`(seed: UInt64) async throws {
    let models: [any SimpleModel.Type] =
      seed.isMultiple(of: 2) ? [Customer.self, Order.self, Delivery.self] : []
    let store = try ModelStore.inMemory(models: models)
    var random = SeededGenerator(seed: seed)
    for (name, filter, holds) in Self.filters {
      let query = Query(filter: filter, order: [.ascending(\.name), .descending(\.id)])
      var page = query
      (page.offset, page.limit) = (1, 2)
      var lists = store.follow(query).makeAsyncIterator()
      var counts = store.follow(.count, of: query).makeAsyncIterator()
      var pages = store.follow(page).makeAsyncIterator()
      var list = try #require(try await lists.next())
      var count = try #require(try await counts.next())
      var shown = try #require(try await pages.next())
      for step in 0..<30 {
        let changes = random.next()
        try await store.write { transaction in
          var random = SeededGenerator(seed: changes)
          try Self.change(&transaction, &random)
        }
        let expected = try await store.read { snapshot in
          let orders = try snapshot.find(Query<Order>.all).entities
          let deliveries = try snapshot.find(Query<Delivery>.all).entities
          return try snapshot.find(Query<Customer>.all).entities
            .filter { holds($0, orders, deliveries) }
            .sorted { ($0.name, $1.id) < ($1.name, $0.id) }
        }
        let comment: Comment = "seed \(seed), \(name), step \(step)"
        try #require(try await store.find(query).entities == expected, comment)
        try #require(try await store.answer(.count, to: query) == expected.count, comment)
        try #require(
          try await store.find(Query(filter: filter)).entities.count == expected.count, comment)
        try #require(
          Set(try await store.read { try $0.modelIdentifiers(matching: query) })
            == Set(expected.map { $0.key.rawValue }), comment)
        // A wrong last element has no successor, so this would end with the time limit.
        while list.entities != expected { list = try #require(try await lists.next()) }
        while count != expected.count { count = try #require(try await counts.next()) }
        let part = Array(expected.dropFirst().prefix(2))
        while shown.entities != part { shown = try #require(try await pages.next()) }
      }
    }
    await store.close()
  }

  @Test(.timeLimit(.minutes(5)), arguments: seeds(2))
  func `followed results equal the asked ones beside writers that await nothing`(
    seed: UInt64
  ) async throws {
    let store = try ModelStore.inMemory(models: [Customer.self, Order.self, Delivery.self])
    var random = SeededGenerator(seed: seed)
    for (name, filter, _) in Self.filters {
      let query = Query(filter: filter, order: [.ascending(\.name), .descending(\.id)])
      let changes = (0..<40).map { _ in random.next() }
      var lists = store.follow(query).makeAsyncIterator()
      var groups = store.follow(.count.grouped(by: \.city), of: query).makeAsyncIterator()
      var (list, group) = (try await lists.next(), try await groups.next())
      try await withThrowingTaskGroup { tasks in
        for changes in changes {
          tasks.addTask {
            try await store.write { transaction in
              var random = SeededGenerator(seed: changes)
              try Self.change(&transaction, &random)
            }
          }
        }
        try await tasks.waitForAll()
      }
      let expected = try await store.find(query).entities
      let comment: Comment = "seed \(seed), \(name)"
      while try #require(list, comment).entities != expected { list = try await lists.next() }
      let cities = Dictionary(grouping: expected, by: \.city).mapValues(\.count)
      while try #require(group, comment) != cities { group = try await groups.next() }
    }
    await store.close()
  }

  @Test func `the plan says how the models are found, and the other conditions narrow them`() throws
  {
    let store = try ModelStore.inMemory(models: [Customer.self, Order.self])
    try store.write { transaction in
      for id in 0..<3000 {
        try transaction.set(
          Customer(id: id, city: id % 500 == 0 ? "Rome" : "Oslo", name: "\(id)"))
        try transaction.set(
          Order(id: id, customer: Customer.key(id), isPaid: id % 3 == 0, total: id))
      }
    }
    let debtors = Query<Customer>(filter: .has(Self.unpaid, by: \.customer))
    let plan = try store.explain(debtors)
    #expect(plan.access == .identifiers(count: 2000))
    #expect(plan.related.map(\.typeName) == ["Order"])
    #expect(plan.related.first?.reading == .indexRows)
    #expect("\(plan)".contains("; after Order: "))
    let romans = Query<Customer>(filter: .has(Self.unpaid, by: \.customer) && \.city == "Rome")
    #expect(try store.explain(romans).access == .identifiers(count: 4))
    #expect(try store.find(romans).entities.map(\.id) == [500, 1000, 2000, 2500])
    #expect(try store.explain(.count, to: romans).related.count == 1)
  }

  @Test func `only changes of the named types find a followed one`() async throws {
    let store = try ModelStore.inMemory(models: [Customer.self, Order.self, Delivery.self])
    let followed = store.follow(Query<Customer>(filter: .has(Self.unpaid, by: \.customer)))
    #expect(followed.plan.finding == .nodes(of: ["Customer", "Order"]))
    var iterator = followed.makeAsyncIterator()
    #expect(try await iterator.next()?.entities.isEmpty == true)
    let hub = try StoreHub.hub(of: store)
    try await store.write { try $0.set(RelatedStranger(id: 1)) }
    #expect(hub.tally.evaluations == 0)
    try await store.write { transaction in
      try transaction.set(Customer(id: 1, city: "Rome", name: "a"))
      try transaction.set(Order(id: 1, customer: Customer.key(1), isPaid: false, total: 1))
    }
    #expect(try await iterator.next()?.entities.map(\.id) == [1])
    try await store.write { try $0.set(Order(id: 2, customer: nil, isPaid: false, total: 1)) }
    // Another order of the same customer, so the result stays as it is.
    try await store.write {
      try $0.set(Order(id: 3, customer: Customer.key(1), isPaid: false, total: 1))
    }
    await hub.shown()
    #expect(hub.tally.evaluations == 1)
    #expect(hub.tally.refills == 0 && !followed.plan.readsAgain)
    await store.close()
  }

  @Test func `a commit is compared with the entities that it concerns only`() async throws {
    let store = try ModelStore.inMemory(models: [Customer.self, Order.self])
    try await store.write { transaction in
      for id in 0..<1000 {
        try transaction.set(Customer(id: id, city: "Oslo", name: "a"))
        try transaction.set(Order(id: id, customer: Customer.key(id), isPaid: true, total: 1))
      }
    }
    let query = Query<Customer>(filter: .has(Self.unpaid, by: \.customer))
    var lists = store.follow(query).makeAsyncIterator()
    var counts = store.follow(.count, of: query).makeAsyncIterator()
    #expect(try await lists.next()?.entities.isEmpty == true)
    #expect(try await counts.next() == 0)
    let hub = try StoreHub.hub(of: store)
    try await store.write {
      try $0.set(Order(id: 7, customer: Customer.key(9), isPaid: false, total: 1))
    }
    #expect(try await lists.next()?.entities.map(\.id) == [9])
    #expect(try await counts.next() == 1)
    try await store.write { try $0.delete(Order.key(7)) }
    #expect(try await lists.next()?.entities.isEmpty == true)
    #expect(try await counts.next() == 0)
    // Customer 9 entered and left, in the list and in the number.
    #expect(hub.tally.evaluations == 4 && hub.tally.refills == 0)
    await store.close()
  }

  @Test func `an invalid query inside is refused, and no other source answers it`() throws {
    let store = try ModelStore.inMemory()
    let wrong = Query<Order>(offset: -1)
    let query = Query<Customer>(filter: .has(wrong, by: \.customer))
    #expect(throws: QueryError.self) { try store.find(query) }
    #expect(throws: QueryError.self) { try query.validate() }
    let right = Query<Customer>(filter: .has(Self.unpaid, by: \.customer))
    let customer = Customer(id: 1, city: "", name: "")
    for filter in [right.filter, !right.filter] {
      let errors = [
        #expect(throws: QueryError.self) { try filter.matches(customer) },
        #expect(throws: QueryError.self) { try Query(filter: filter).apply(to: []) },
      ]
      #expect(errors.allSatisfy { $0?.code == .needsStore })
    }
    #expect(
      Filter<Customer>.has(Self.unpaid, by: \.customer)
        == .has(Query(filter: \Order.isPaid == false), by: \.customer))
    #expect(
      Filter<Customer>.has(Self.unpaid, by: \.customer)
        != .has(Self.unpaid, by: \.customer, atLeast: 2))
  }
}

@Model private struct RelatedStranger {
  @Key var id: Int
}
