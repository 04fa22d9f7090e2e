import Foundation
import PandoFixtures
import PandoManagers
import Testing

@testable import PandoManagersFixtures
@testable import PandoStore

/// Questions over so many records that rows fill pages, and common values come before rare ones.
@Suite struct ManyAnswersTests {
  private struct Ticket: PersistentEntity, Equatable {
    var id: EntityIdentifier<Ticket>
    var state: Int?
    var owner: String
    var created: Int

    static let fields: [Field<Ticket>] = [
      .indexed(\.state, "state"), .indexed(\.owner, "owner"), .field(\.created, "created"),
    ]
    static let indexes: [FieldIndex<Ticket>] = [
      .indexed(\.owner, \.state, \.created), .indexed(\.created),
    ]
  }

  private static func filter(_ random: inout BookMaker) -> Filter<Ticket> {
    var filter: Filter<Ticket> = .all
    for _ in 0..<random.int(0...2) {
      switch random.int(0...5) {
      case 0: filter = filter && \.state == random.int(0...2)
      case 1: filter = filter && \.owner == "o\(random.int(0...30))"
      case 2: filter = filter && \.created > random.int(0...1500)
      case 3: filter = filter && \.state >> [0, nil]
      case 4: filter = filter && \.owner == "common"
      default: filter = filter && (\.state == 1 || \.owner == "o3")
      }
    }
    return filter
  }

  private static func query(_ random: inout BookMaker) -> Query<Ticket> {
    let orders: [QueryOrder<Ticket>] = [
      .ascending(\.created), .descending(\.created), .descending(\.state), .ascending(\.owner),
    ]
    var query = Query<Ticket>(filter: filter(&random))
    query.order = (0..<random.int(0...2)).map { _ in random.pick(orders) }
    if random.chance(60) { query.limit = random.int(0...40) }
    if random.chance(20) { query.offset = random.int(0...200) }
    return query
  }

  @Test(arguments: seeds(1))
  func `answers about thousands of records equal those over an array`(seed: UInt64) throws {
    var random = BookMaker(seed: seed)
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.addIndexes(of: [Ticket.self])
    let tickets = (0..<4000).map { number in
      Ticket(
        id: .remote("\(number)"), state: random.chance(10) ? nil : random.int(0...2),
        owner: random.chance(60) ? "common" : "o\(random.int(0...30))",
        created: random.int(0...1500))
    }
    try store.write { transaction in
      for ticket in tickets { try transaction.set(ticket) }
    }
    for round in 0..<steps(80) {
      if round == 40 {
        try store.write { try $0.dropIndex(on: ["owner", "state", "created"], ofType: "Ticket") }
      }
      let query = Self.query(&random)
      let kind = random.int(0...8)
      let last = random.pick(tickets)
      try store.read { snapshot in
        let expected = try query.apply(to: tickets).entities
        let found = try snapshot.find(query).entities
        let plan = try snapshot.explain(query)
        try #require(found == expected, "\(seed), \(round): \(query), \(plan)")
        func check<Answer: Equatable>(
          _ question: Question<Ticket, Answer>, _ answer: ([Ticket]) -> Answer
        ) throws {
          let how = try snapshot.explain(question, to: query)
          try #require(
            try snapshot.answer(question, to: query) == answer(expected),
            "\(seed), \(round): \(query), \(how)")
        }
        func counts<Key>(_ key: @escaping (Ticket) -> Key) -> ([Ticket]) -> [Key: Int] {
          { Dictionary(grouping: $0, by: key).mapValues(\.count) }
        }
        switch kind {
        case 0: try check(.count, \.count)
        case 1: try check(.exists) { !$0.isEmpty }
        case 2: try check(.sum(\.created)) { $0.map(\.created).reduce(0, +) }
        case 3: try check(.min(\.created)) { $0.map(\.created).min() }
        case 4: try check(.max(\.state)) { $0.compactMap(\.state).max() }
        case 5: try check(.max(\.owner)) { $0.map(\.owner).max() }
        case 6: try check(.count.grouped(by: \.owner), counts(\.owner))
        case 7: try check(.count.grouped(by: \.state), counts(\.state))
        default: try check(.count.grouped(by: \.created), counts(\.created))
        }
        let next = try snapshot.find(query, after: last).entities
        try #require(
          next == (try Self.rest(query, after: last, tickets)),
          "\(seed), \(round): \(query), \(plan)")
      }
    }
  }

  private static func rest(
    _ query: Query<Ticket>, after last: Ticket, _ tickets: [Ticket]
  ) throws -> [Ticket] {
    var all = query
    (all.offset, all.limit, all.filter) = (0, nil, .all)
    let order = try all.apply(to: tickets).entities
    let end = try #require(order.firstIndex(of: last))
    let rest = order[(end + 1)...].filter(query.filter.accepts).dropFirst(query.offset)
    return Array(query.limit.map { rest.prefix($0) } ?? rest)
  }
}
