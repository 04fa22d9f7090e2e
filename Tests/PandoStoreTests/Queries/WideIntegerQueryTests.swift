import PandoFixtures
import PandoStore
import Testing

private struct Account: Model, Codable, Equatable, Queryable {
  var id: Int
  var balance: Int128
  var serial: UInt128

  var modelIdentifier: String? { "Account:\(id)" }

  static let fields: [Field<Account>] = [.indexed(\.balance), .field(\.serial)]
}

/// Queries over fields of 128 bits.
@Suite struct WideIntegerQueryTests {
  private static let accounts = [
    Account(id: 1, balance: .max, serial: .max), Account(id: 2, balance: .min, serial: 0),
    Account(id: 3, balance: .max - 1, serial: UInt128(UInt64.max) + 1),
    Account(id: 4, balance: -5, serial: UInt128(UInt64.max)),
    Account(id: 5, balance: Int128(Int64.min) - 1, serial: .max - 1),
  ]

  @Test(arguments: [false, true])
  func `fields of 128 bits are compared and ordered exactly`(withIndexes: Bool) throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    if withIndexes { try store.addIndexes(of: [Account.self]) }
    try store.write { transaction in
      for account in Self.accounts { try transaction.set(account) }
    }
    func found(_ query: Query<Account>) throws -> [Int] {
      let expected = try query.apply(to: Self.accounts).entities.map(\.id)
      let found = try store.read { try $0.find(query).entities.map(\.id) }
      #expect(found == expected, "\(query)")
      return found
    }
    let balance = \Account.balance
    #expect(try found(Query(filter: balance == .max)) == [1])
    #expect(try found(Query(filter: balance > Int128(Int64.max))) == [1, 3])
    #expect(try found(Query(filter: balance < Int128(Int64.min))) == [2, 5])
    #expect(try found(Query(filter: \Account.serial >= .max - 1)) == [1, 5])
    #expect(try found(Query(filter: \Account.serial == UInt128(UInt64.max) + 1)) == [3])
    #expect(try found(Query(order: [.ascending(\.balance)])) == [2, 5, 4, 3, 1])
    #expect(try found(Query(order: [.descending(\.serial)])) == [1, 5, 3, 4, 2])
    #expect(try store.verify().problems == [])
  }
}
