import PandoModels
import PandoStore
import PandoSystem
import Testing

private struct Guest: Model, Codable, Equatable, Queryable {
  var key: String
  var name: String
  var age: Int

  var modelIdentifier: String? { key }

  static let fields: [Field<Guest>] = [.indexed(\.name), .field(\.age)]
  static let indexes: [FieldIndex<Guest>] = [.indexed(\.name, \.age)]
}

/// The reports of queries that no index answers.
@Suite struct QueryScanTests {
  @Test func `the handler gets a scan of many records with its fields, and nothing else`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.addIndexes(of: [Guest.self])
    let scans = Locked<[QueryScan]>([])
    store.setScanHandler { scan in scans.withLock { $0.append(scan) } }
    func add(_ numbers: Range<Int>) throws {
      try store.write { transaction in
        for number in numbers {
          try transaction.set(Guest(key: "\(number)", name: "\(number)", age: number % 7))
        }
      }
    }
    let byAge = Query(filter: \Guest.age == 3, order: [.ascending(\.age), .ascending(\.name)])
    try add(0..<999)
    _ = try store.read { try $0.find(byAge) }
    #expect(scans.withLock { $0 } == [])
    try add(999..<1_000)
    try store.read { snapshot in
      _ = try snapshot.find(byAge)
      _ = try snapshot.answer(.count, to: Query(filter: \Guest.age > 3))
      _ = try snapshot.find(Query<Guest>.all)
      _ = try snapshot.find(Query(filter: \Guest.name == "5"))
      _ = try snapshot.answer(.count, to: Query<Guest>.all)
    }
    #expect(scans.withLock { $0.map(\.fields) } == [["age", "name"], ["age"]])
    #expect(
      scans.withLock { $0.first?.description }
        == "Guest: a query by age, name looked at all 1000 records")
    #expect(scans.withLock { $0.map(\.recordCount) } == [1000, 1000])
  }

  @Test(arguments: [false, true])
  func `a scan that its limit ends reports how many records it has read`(
    hasOthers: Bool
  ) throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    let scans = Locked<[QueryScan]>([])
    store.setScanHandler { scan in scans.withLock { $0.append(scan) } }
    try store.write { transaction in
      for number in 0..<(hasOthers ? 3_000 : 0) { try transaction.set(Leaflet(number: number)) }
      for number in 0..<2_000 {
        try transaction.set(Guest(key: "\(number)", name: "\(number)", age: number % 2))
      }
    }
    let found = try store.read {
      try $0.find(Query(filter: \Guest.age == 1, limit: 5)).entities
    }
    #expect(found.map(\.name) == ["1", "3", "5", "7", "9"])
    _ = try store.read { try $0.answer(.exists, to: Query(filter: \Guest.age == 1)) }
    #expect(scans.withLock { $0.map(\.recordCount) } == [10, 2])
    #expect(scans.withLock { $0.map(\.typeRecordCount) } == [2_000, 2_000])
    #expect(
      scans.withLock { $0.first?.description }
        == "Guest: a query by age looked at 10 of 2000 records")
  }

  private struct Leaflet: Model, Codable, Equatable {
    var number: Int
    var modelIdentifier: String? { "Leaflet:\(number)" }
  }
}
