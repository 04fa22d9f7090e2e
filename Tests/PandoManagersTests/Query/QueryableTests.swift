import Dispatch
import Observation
import PandoConsistency
import PandoFixtures
import PandoManagers
import PandoProviders
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

private struct City: Model, Codable, Equatable, Queryable {
  var key: String
  var name: String

  var modelIdentifier: String? { key }
}

private struct Person: Model, Codable, Equatable, Queryable {
  var key: String
  var name: String
  var age: Int
  var city: City?
  var tags: [String] = []

  var modelIdentifier: String? { key }

  static let fields: [Field<Person>] = [
    .indexed(\.name), .field(\.age), .indexed(\.city?.name), .indexed(.each(\.tags)),
  ]
  static let indexes: [FieldIndex<Person>] = [.indexed(\.name, \.age)]
}

/// Queries over models that are no entities: their identifiers may be anything.
@Suite struct QueryableTests {
  private static func person(_ number: Int, _ random: inout SeededGenerator) -> Person {
    let cities = (0..<3).map { City(key: "c\($0)", name: ["Aix", "Bonn", "Cork"][$0]) }
    return Person(
      key: "person \(number)", name: ["Ada", "Bo", "Cy", "Di"].randomElement(using: &random) ?? "",
      age: Int.random(in: 0..<5, using: &random), city: cities.randomElement(using: &random),
      tags: ["x", "y", "z"].filter { _ in Bool.random(using: &random) })
  }

  private static func query(_ random: inout SeededGenerator) -> Query<Person> {
    let leaves: [Filter<Person>] = [
      \.name == "Ada", \.name >> ["Bo", "Di"], \.age > 2, \.city?.name == "Bonn",
      \.city?.name == nil, .holds(\.city, "c1"), .holds("c2"), .contains(\.tags, "x"),
      .identifiers(["person 1", "person 7", "c1", "nobody"]), .hasPrefix(\.name, "C"),
    ]
    var filter = leaves.randomElement(using: &random) ?? .all
    let other = leaves.randomElement(using: &random) ?? .all
    switch Int.random(in: 0..<5, using: &random) {
    case 0: filter = filter && other
    case 1: filter = filter || other
    case 2: filter = !filter
    default: break
    }
    let orders: [[QueryOrder<Person>]] = [
      [], [.ascending(\.name), .descending(\.age)], [.descending(\.city?.name)],
      [.identifiers(["person 9", "person 3"])],
    ]
    return Query(
      filter: filter, order: orders.randomElement(using: &random) ?? [],
      offset: [0, 0, 1].randomElement(using: &random) ?? 0,
      limit: [nil, nil, 2, 5].randomElement(using: &random) ?? nil)
  }

  /// Some writes, in the store and in an array in natural order.
  private static func change(
    _ all: inout [Person], in store: ModelStore, _ random: inout SeededGenerator
  ) async throws {
    if Int.random(in: 0..<4, using: &random) == 0 {
      let city = City(
        key: "c\(Int.random(in: 0..<3, using: &random))",
        name: ["Aix", "Bonn", "Dax"].randomElement(using: &random) ?? "")
      guard all.contains(where: { $0.city?.key == city.key }) else { return }
      for index in all.indices where all[index].city?.key == city.key { all[index].city = city }
      return try await store.write { try $0.set(city) }
    }
    let number = Int.random(in: 0..<12, using: &random)
    if let index = all.firstIndex(where: { $0.key == "person \(number)" }) {
      if Int.random(in: 0..<3, using: &random) == 0 {
        all.remove(at: index)
        return try await store.write { try $0.deleteIfPresent("person \(number)") }
      }
      var person = person(number, &random)
      // A city that is there keeps its name.
      person.city = all.lazy.compactMap(\.city).first { $0.key == person.city?.key } ?? person.city
      all[index] = person
      let new = person
      try await store.write { try $0.set(new) }
      return set(person.city, in: &all)
    }
    var person = person(number, &random)
    person.city = all.lazy.compactMap(\.city).first { $0.key == person.city?.key } ?? person.city
    all.append(person)
    let new = person
    try await store.write { try $0.set(new) }
    set(person.city, in: &all)
  }

  private static func set(_ city: City?, in all: inout [Person]) {
    guard let city else { return }
    for index in all.indices where all[index].city?.key == city.key { all[index].city = city }
  }

  @Test(arguments: seeds(4))
  func `random queries, stored and followed, give what they give over an array`(
    seed: UInt64
  ) async throws {
    var random = SeededGenerator(seed: seed)
    let store = try ModelStore.temporary()
    defer { store.close() }
    if seed.isMultiple(of: 2) { #expect(try store.addIndexes(of: [Person.self]) == 4) }
    var all: [Person] = []
    typealias Follower = (
      query: Query<Person>, values: FollowedSequence<QueryResult<Person>>.AsyncIterator,
      last: QueryResult<Person>?
    )
    var followers: [Follower] = []
    for step in 0..<steps(80) {
      try await Self.change(&all, in: store, &random)
      let query = Self.query(&random)
      let place: Comment = "seed \(seed), step \(step), \(query)"
      let expected = try query.apply(to: all).entities
      try await store.read { snapshot in
        try #require(try snapshot.find(query).entities == expected, place)
        let identifiers = try snapshot.modelIdentifiers(matching: query)
        try #require(identifiers == expected.map(\.key), place)
        try #require(try snapshot.answer(.count, to: query) == expected.count, place)
      }
      if followers.count < 8 {
        let values = store.follow(query).makeAsyncIterator()
        followers.append((query, values, nil))
      }
      for index in followers.indices {
        let expected = try followers[index].query.apply(to: all)
        if expected == followers[index].last { continue }
        let actual = try await followers[index].values.next()
        try #require(actual == expected, "seed \(seed), step \(step), \(followers[index].query)")
        followers[index].last = expected
      }
    }
    #expect(try store.verify().problems == [])
  }

  @Test(arguments: seeds(2))
  func `a query finds and follows the nodes that any holder attaches`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let store = try ModelStore.temporary()
    defer { store.close() }
    try await store.write { transaction in
      for key in ["c0", "c1", "c2"] { try transaction.set(City(key: key, name: key)) }
    }
    let order: [QueryOrder<City>] = [.ascending(\.name)]
    let one = Query<City>(filter: .held(by: "person 1"), order: order)
    let other = Query<City>(
      filter: !(.held(by: "person 2")) && \.name != "c9" || .held(by: "nobody"), order: order)
    var follower = store.follow(one).makeAsyncIterator()
    #expect(try await follower.next()?.entities == [])
    var last: [String] = []
    var people: [String: Person] = [:]
    for step in 0..<40 {
      let key = "person \(Int.random(in: 1...2, using: &random))"
      if people[key] != nil, Int.random(in: 0..<5, using: &random) == 0 {
        people[key] = nil
        try await store.write { try $0.deleteIfPresent(key) }
      } else {
        let city = ["c0", "c1", "c2"].randomElement(using: &random) ?? ""
        var person = Person(key: key, name: "n", age: step)
        if Bool.random(using: &random) { person.city = City(key: city, name: city) }
        people[key] = person
        let new = person
        try await store.write { try $0.set(new) }
      }
      let held = people["person 1"]?.city.map { [$0.key] } ?? []
      let free = ["c0", "c1", "c2"].filter { $0 != people["person 2"]?.city?.key }
      let place: Comment = "seed \(seed), step \(step)"
      try await store.read { snapshot in
        try #require(try snapshot.find(one).entities.map(\.key) == held, place)
        try #require(try snapshot.modelIdentifiers(matching: other) == free, place)
        try #require(try snapshot.answer(.count, to: other) == free.count, place)
        try #require(try snapshot.children(of: "person 1") == held, place)
      }
      if held == last { continue }
      try #require(try await follower.next()?.entities.map(\.key) == held, place)
      last = held
    }
    #expect(throws: QueryError.self) { try one.apply(to: []) }
  }

  @Test func `a container that has opened its store tells of scans as events`() async throws {
    let events = Locked<[ManagerEvent]>([])
    try await withTemporaryDirectory { path in
      let container = try CoreManagerContainer(
        entities: Book.self, diskStoreConfig: .path(path),
        events: { event in events.withLock { $0.append(event) } })
      try await container[Book.self].set((0..<1_000).map { Book(id: .remote("\($0)")) })
      _ = try await container[Book.self].search(withQuery: Query(filter: \.title ~= "x"))
      #expect(events.withLock { $0.map(\.kind) } == [.scannedQuery])
      #expect(events.withLock { $0.first?.error is QueryScan })
      await container.close()
    }
  }
}
