import PandoFixtures
import PandoStore
import Testing

/// Pages that continue behind an element that has been deleted.
@Suite struct LostPlaceTests {
  private struct Ticket: Model, Codable, Equatable, Queryable {
    var number: Int
    var desk: String
    var place: Int?
    var rank: Int
    var modelIdentifier: String? { "Ticket:\(number)" }
    static let fields: [Field<Ticket>] = [
      .field(\.number), .field(\.desk), .field(\.place), .field(\.rank),
    ]
    static let indexes: [FieldIndex<Ticket>] = [.unique(\.number), .unique(\.desk, \.place)]
  }

  private let tickets = (1...9).map {
    Ticket(number: $0, desk: $0 % 2 == 0 ? "b" : "a", place: $0 < 8 ? $0 : nil, rank: $0 / 3)
  }

  private func page(
    _ store: ModelStore, _ order: [QueryOrder<Ticket>], after ticket: Ticket,
    skipsUndecodable: Bool = false
  ) throws -> [Int] {
    var query = Query<Ticket>(order: order, limit: 3)
    query.skipsUndecodable = skipsUndecodable
    return try store.read { snapshot in
      let found = try snapshot.find(query, after: ticket).entities
      let identifiers = try snapshot.modelIdentifiers(matching: query, after: ticket)
      #expect(identifiers == found.map { "Ticket:\($0.number)" })
      return found.map(\.number)
    }
  }

  @Test(arguments: [false, true])
  func `a unique last key has a place that needs no element`(skipsUndecodable: Bool) throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    try store.addIndexes(of: [Ticket.self])
    try store.write { try $0.setCollection("all", to: tickets) }
    let gone = tickets[3]
    try store.write { try $0.deleteIfPresent("Ticket:4") }
    let byRank: [QueryOrder<Ticket>] = [.ascending(\.rank), .descending(\.number)]
    #expect(try page(store, byRank, after: gone, skipsUndecodable: skipsUndecodable) == [3, 8, 7])
    // Two fields together are unique, too, in any order of the keys.
    let byPlace: [QueryOrder<Ticket>] = [.descending(\.place), .ascending(\.desk)]
    #expect(try page(store, byPlace, after: gone, skipsUndecodable: skipsUndecodable) == [3, 2, 1])
  }

  @Test func `without a unique key the place is lost, and the error says what to do`() throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    try store.addIndexes(of: [Ticket.self])
    try store.write { try $0.setCollection("all", to: tickets) }
    let (four, nine) = (tickets[3], tickets[8])
    try store.write { transaction in
      for number in [4, 9] { try transaction.deleteIfPresent("Ticket:\(number)") }
    }
    func expectLost(_ order: [QueryOrder<Ticket>], _ ticket: Ticket) {
      let error = #expect(throws: QueryError.self) {
        _ = try page(store, order, after: ticket)
      }
      #expect(error?.code == .lostPlace)
      #expect(error.map { "\($0)".contains("order by a unique key last") } == true)
    }
    expectLost([.ascending(\.rank)], four)
    expectLost([.ascending(\.place)], four)
    // Null is no value of a unique index.
    expectLost([.ascending(\.place), .ascending(\.desk)], nine)
  }
}
