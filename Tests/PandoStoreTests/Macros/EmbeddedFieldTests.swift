import PandoFixtures
import PandoModels
import PandoRecords
import PandoStore
import Testing

@Embedded private enum Kind { case bug, wish, `default` }

@Embedded private struct Place {
  var city: String
  var kind: Kind
}

@Model private struct Issue {
  @Key var id: Int
  @Indexed var kind: Kind
  var former: Kind?
  var kinds: [Kind] = []
  @Indexed var place: Place
  @Indexed var other: Place?
  @Indexed var places: [Place] = []
}

@Model private struct Report {
  @Key var kind: Kind
  var text: String
}

@Model(key: "main") private struct Settings {
  var limit = 10
}

/// Fields of embedded values and enums, and the one model of a type.
@Suite struct EmbeddedFieldTests {
  private static let issues: [Issue] = (0..<30).map { number in
    let kinds: [Kind] = [.bug, .wish, .default]
    let kind = kinds[number % 3]
    let place = Place(city: "c\(number % 5)", kind: kinds[number % 2])
    return Issue(
      id: number, kind: kind, former: number % 4 == 0 ? nil : kinds[number % 2],
      kinds: Array(kinds.prefix(number % 4)), place: place, other: number % 7 == 0 ? place : nil,
      places: number % 6 == 0 ? [place, Place(city: "x", kind: .bug)] : [])
  }

  private func withIssues(hasIndexes: Bool, _ body: (ModelStore) throws -> Void) throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    if hasIndexes { try store.addIndexes(of: [Issue.self]) }
    try store.write { transaction in
      for issue in Self.issues { try transaction.set(issue) }
    }
    try body(store)
    #expect(try store.verify().problems == [])
  }

  @Test(arguments: [false, true])
  func `an enum without values is a field with the names of its cases`(hasIndexes: Bool) throws {
    try withIssues(hasIndexes: hasIndexes) { (store) throws in
      func check(_ filter: Filter<Issue>, _ holds: (Issue) -> Bool) throws {
        let found = try store.read { try $0.find(Query(filter: filter)).entities }
        #expect(found == Self.issues.filter(holds), "\(filter)")
        #expect(try Self.issues.filter(filter.matches) == found, "\(filter)")
      }
      try check(\.kind == .bug) { $0.kind == .bug }
      try check(\.kind == .default) { $0.kind == .default }
      try check(\.former == nil) { $0.former == nil }
      try check(\.former == .wish) { $0.former == .wish }
      try check(.contains(\.kinds, .wish)) { $0.kinds.contains(.wish) }
      try check(\.place.kind == .wish) { $0.place.kind == .wish }
      try check(\.other?.kind == .bug) { $0.other?.kind == .bug }
      let counts = Dictionary(grouping: Self.issues, by: \.kind).mapValues(\.count)
      #expect(try store.answer(.count.grouped(by: \.kind), to: Query<Issue>.all) == counts)
      #expect(try store.answer(.distinct(\.former), to: Query<Issue>.all) == [nil, .bug, .wish])
      let plan = try store.explain(Query(filter: \Issue.kind == .bug))
      #expect(
        plan.access
          == (hasIndexes ? .index(field: "kind", rangeCount: 1, isOrdered: false) : .scan))
    }
  }

  @Test func `records of an enum without values have the bytes of Codable`() throws {
    let issue = Self.issues[6]
    let plain = try RecordEncoder.encodeValue(issue, usingFields: false).body
    #expect(try RecordEncoder.encodeValue(issue).body == plain)
    let report = Report(kind: .default, text: "")
    #expect(report.key.rawValue == "Report:default")
  }

  @Test func `an index of an embedded value is one of each of its fields`() throws {
    #expect(
      Issue.fields.filter(\.isIndexed).map(\.name) == [
        "kind", "place.city", "place.kind", "other.city", "other.kind", "places[].city",
        "places[].kind",
      ])
    try withIssues(hasIndexes: true) { (store) throws in
      let filters: [Filter<Issue>] = [
        \.place.city == "c1", \.other?.city == "c0", .contains(\.places, \.city, "x"),
      ]
      for filter in filters {
        let query = Query(filter: filter)
        #expect(try store.explain(query).access != .scan, "\(filter)")
        #expect(
          try store.read { try $0.find(query).entities } == Self.issues.filter(filter.matches))
      }
    }
  }

  @Test func `the one model of a type has a key without parts`() throws {
    let store = try ModelStore.inMemory()
    #expect(try store.get(Settings.key) == nil)
    try store.write { try $0.insert(Settings()) }
    try store.update(Settings.key) { $0.limit = 20 }
    #expect(try store.get(Settings.key)?.limit == 20)
    #expect(Settings().key == Settings.key)
    #expect(Settings.key.rawValue == "Settings:main")
  }

  @Test func `calls that take an identifier take a key`() throws {
    let store = try ModelStore.inMemory()
    let key = Settings.key
    try store.write(expecting: [key: nil]) { try $0.set(Settings()) }
    let error = #expect(throws: StoreError.self) {
      try store.write(expecting: [key: nil]) { try $0.set(Settings(limit: 1)) }
    }
    #expect(error?.code == .changedMeanwhile)
    let commit = try store.read { try $0.lastCommit(of: key) }
    try store.write(expecting: [key: commit]) { try $0.set(Settings(limit: 2)) }
    #expect(try store.get(key)?.limit == 2)
    #expect(try store.read { try $0.typeNames(of: key) } == ["Settings"])
  }

  @Test func `a write that expects commits of keys does not block`() async throws {
    let store = try ModelStore.inMemory()
    try await store.write(expecting: [Settings.key: nil]) { try $0.set(Settings()) }
    await #expect(throws: StoreError.self) {
      try await store.write(expecting: [Settings.key: nil]) { try $0.set(Settings()) }
    }
  }
}
