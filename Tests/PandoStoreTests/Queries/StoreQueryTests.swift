import PandoStore
import Testing

private struct Owner: Model, Codable, Equatable {
  var key: String
  var name: String

  var modelIdentifier: String? { key }
}

private struct Ticket: Model, Codable, Equatable, Queryable {
  enum Status: String, Codable, QueryRepresentable { case open, closed }

  var number: Int
  var title: String
  var status = Status.open
  var hours = 0.0
  var author: Owner?
  var tags: [String] = []

  var modelIdentifier: String? { "Ticket:\(number)" }

  static let fields: [Field<Ticket>] = [
    .field(\.number), .indexed(\.title), .indexed(\.status), .field(\.hours),
    .indexed(\.author?.name), .indexed(.each(\.tags)),
  ]
  static let indexes: [FieldIndex<Ticket>] = [.indexed(\.status, \.number)]
}

private struct Misnamed: Model, Codable, Equatable, Queryable {
  var name: String

  var modelIdentifier: String? { "misnamed" }

  static let fields: [Field<Misnamed>] = [.field(\.name, "title")]
}

/// Queries of a program that imports the store alone.
@Suite struct StoreQueryTests {
  private static let tickets = (0..<60).map { number in
    let author = number % 4
    return Ticket(
      number: number, title: "title \(number * 7 % 20)", status: number % 3 == 0 ? .closed : .open,
      hours: Double(number % 5) / 2,
      author: author == 0 ? nil : Owner(key: "Owner:\(author)", name: "name \(author)"),
      tags: ["a", "b", "c"].filter { _ in number % 5 != 0 }.suffix(number % 4))
  }

  private func withTickets(
    hasIndexes: Bool = true, _ body: (ModelStore) throws -> Void
  ) throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    if hasIndexes { try store.addIndexes(of: [Ticket.self]) }
    try store.write { transaction in
      for ticket in Self.tickets { try transaction.set(ticket) }
    }
    try body(store)
  }

  private static let filters: [Filter<Ticket>] = [
    .all, \.status == .open, \.number >= 30, \.status == .closed && \.number < 40,
    \.title ~= "^title 1", .hasPrefix(\.title, "title 1"), \.author?.name == "name 2",
    \.author?.name == nil, .holds(\.author, "Owner:3"), .holds("Owner:1"),
    .contains(\.tags, "c"), !(\.hours > 1), \.hours == 0.5 || \.title >> ["title 3", "title 4"],
    .identifiers(["Ticket:4", "Ticket:99", "Owner:1"]),
  ]
  private static let orders: [[QueryOrder<Ticket>]] = [
    [], [.descending(\.number)], [.ascending(\.status), .descending(\.hours)],
    [.ascending(\.author?.name), .ascending(\.title)], [.identifiers(["Ticket:9", "Ticket:4"])],
  ]
  private static let queries: [Query<Ticket>] = filters.flatMap { filter in
    orders.flatMap { order in
      [
        Query(filter: filter, order: order), Query(filter: filter, order: order, limit: 3),
        Query(filter: filter, order: order, offset: 2, limit: 5),
        Query(filter: filter, order: order, groupedBy: .field(\.status)),
        Query(filter: filter, order: order, uniqueBy: [.field(\.title)]),
      ]
    }
  }

  @Test(arguments: [false, true])
  func `a query finds what it finds in an array`(hasIndexes: Bool) throws {
    try withTickets(hasIndexes: hasIndexes) { store in
      for query in Self.queries {
        let expected = try query.apply(to: Self.tickets)
        try store.read { snapshot in
          try #require(try snapshot.find(query) == expected, "\(query)")
          try #require(try snapshot.first(query) == expected.first, "\(query)")
          try #require(
            try snapshot.modelIdentifiers(matching: query)
              == expected.entities.compactMap(\.modelIdentifier), "\(query)")
        }
      }
    }
  }

  @Test(arguments: [false, true])
  func `an answer is that of the found models`(hasIndexes: Bool) throws {
    try withTickets(hasIndexes: hasIndexes) { store in
      for query in Self.queries {
        let expected = try query.apply(to: Self.tickets).entities
        try store.read { snapshot in
          func answer<Answer>(_ question: Question<Ticket, Answer>) throws -> Answer {
            try snapshot.answer(question, to: query)
          }
          try #require(try answer(.count) == expected.count, "\(query)")
          try #require(try answer(.exists) == !expected.isEmpty, "\(query)")
          let sum = expected.reduce(0) { $0 + $1.number }
          try #require(try answer(.sum(\.number)) == sum, "\(query)")
          let highest = expected.map(\.number).max()
          try #require(try answer(.max(\.number)) == highest, "\(query)")
          let lowest = expected.map(\.title).min()
          try #require(try answer(.min(\.title)) == lowest, "\(query)")
          let counts = Dictionary(grouping: expected, by: \.hours).mapValues(\.count)
          try #require(try answer(.count.grouped(by: \.hours)) == counts, "\(query)")
          try #require(try answer(.distinct(\.hours)) == counts.keys.sorted(), "\(query)")
        }
      }
    }
  }

  @Test func `pages continue after the last model of the previous page`() throws {
    try withTickets { store in
      let newest = Query<Ticket>(
        filter: \.status == .open, order: [.descending(\.hours)], limit: 7)
      var numbers: [Int] = []
      var page = try store.read { try $0.find(newest) }
      while let last = page.entities.last {
        numbers += page.entities.map(\.number)
        page = try store.read { try $0.find(newest, after: last) }
      }
      var whole = newest
      whole.limit = nil
      #expect(try numbers == whole.apply(to: Self.tickets).entities.map(\.number))
    }
  }

  @Test func `the plan names the index, or a scan`() throws {
    let newest = Query<Ticket>(
      filter: \.status == .open, order: [.descending(\.number)], limit: 3)
    try withTickets(hasIndexes: false) { store in
      #expect(try store.explain(newest).access == .scan)
      #expect(
        try store.explain(newest).reason
          == "the store lacks the index on status that Ticket declares; addIndexes(of:) makes it")
      #expect(try store.addIndexes(of: [Ticket.self]) == 5)
      let plan = try store.explain(newest)
      #expect(plan.description == "Ticket: index on status, number, in order (60 in all)")
      let open = Query(filter: \Ticket.status == .open)
      let count = try store.read { try $0.explain(.count, to: open) }
      #expect(count.reading == .indexRows)
      #expect(try store.explain(Query(filter: \Ticket.hours == 1)).access == .scan)
    }
  }

  @Test func `a write transaction finds its own changes`() throws {
    try withTickets { store in
      let open = Query(filter: \Ticket.status == .open)
      try store.write { transaction in
        let before = try transaction.snapshot.answer(.count, to: open)
        try transaction.updateIfPresent(Ticket.self, "Ticket:1") { $0.status = .closed }
        try transaction.set(Ticket(number: 99, title: "new"))
        try transaction.set(Ticket(number: 100, title: "newer"))
        #expect(try transaction.snapshot.answer(.count, to: open) == before + 1)
        let last = Query(filter: \Ticket.status == .open, order: [.descending(\.number)])
        #expect(try transaction.snapshot.first(last)?.number == 100)
      }
    }
  }

  @Test func `the first model of a query keeps its offset and its limit`() throws {
    try withTickets { store in
      try store.read { (snapshot) throws in
        let order: [QueryOrder<Ticket>] = [.ascending(\.number)]
        #expect(try snapshot.first(Query(order: order, offset: 5, limit: 9))?.number == 5)
        #expect(try snapshot.first(Query(order: order, limit: 0)) == nil)
        #expect(try snapshot.first(Query(filter: \Ticket.title == "none")) == nil)
        #expect(throws: QueryError.self) { try snapshot.first(Query<Ticket>(limit: -1)) }
      }
    }
  }

  @Test func `a mistake in a query is refused`() throws {
    try withTickets { store in
      func code(_ body: (ModelSnapshot) throws -> Void) -> QueryError.Code? {
        #expect(throws: QueryError.self) { try store.read(body) }?.code
      }
      #expect(code { _ = try $0.find(Query<Ticket>(limit: -1)) } == .negativeLimit)
      #expect(code { _ = try $0.find(Query<Ticket>(offset: -1)) } == .negativeOffset)
      #expect(
        code { _ = try $0.find(Query(filter: \Ticket.title ~= "(")) } == .invalidRegularExpression)
      #expect(
        code { _ in _ = try Filter<Ticket>(field: "owner", .equal, .null) } == .unknownField)
    }
  }

  @Test func `a wrong name of a field is refused`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    let error = #expect(throws: ModelError.self) {
      try store.write { try $0.set(Misnamed(name: "x")) }
    }
    #expect(error?.code == .misdeclaredField)
  }

  @Test func `a model of another type under the identifier is not found`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.write { try $0.set(Owner(key: "Ticket:1", name: "Ada")) }
    try store.read { (snapshot) throws in
      #expect(try snapshot.find(Query<Ticket>.all).isEmpty)
      #expect(try snapshot.find(Query<Ticket>(filter: .identifiers(["Ticket:1"]))).isEmpty)
    }
  }

  // The names of such nodes have no namespace; the query looked for a colon at their beginning.
  @Test func `models that no server has are found by their state`() throws {
    try withTickets { (store) throws in
      func count(_ state: SynchronizationState) throws -> Int {
        let query = Query<Ticket>(filter: .synchronizationState(state))
        return try store.read { try $0.answer(.count, to: query) }
      }
      #expect(try count(.unsynced) == Self.tickets.count)
      #expect(try count(.synced) == 0)
      #expect(try count(.pending) == 0)
    }
  }

  @Test func `models that a node holds are found`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    let one = Ticket(number: 1, title: "one")
    try store.write { try $0.set(Sprint(tickets: [one])) }
    try store.write { try $0.set(Ticket(number: 2, title: "two")) }
    let held = Query<Ticket>(filter: .held(by: "sprint"))
    #expect(try store.read { try $0.find(held).entities } == [one])
    #expect(throws: QueryError.self) { try held.apply(to: [one]) }
  }

  private struct Sprint: Model, Codable, Equatable {
    var tickets: [Ticket]
    var modelIdentifier: String? { "sprint" }
  }
}
