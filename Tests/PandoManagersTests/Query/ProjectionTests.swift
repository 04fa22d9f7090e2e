import PandoFixtures
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

/// Entity types that show the same nodes as another one.
@Suite struct ProjectionTests {
  @Test func `a card finds what was set as the whole`() async throws {
    try await withManagers { issues, cards, store in
      try await issues.set((0..<100).map { Issue($0, points: $0 % 10) })
      #expect(try await cards.all().count == 100)
      // A query of two parts, ordered, with a window; by one identifier, and by several.
      let query = Query(
        filter: \IssueCard.points > 7 && \IssueCard.title != "Issue 8",
        order: [.descending(\.points), .ascending(\.title)], offset: 1, limit: 3)
      #expect(
        try await cards.search(withQuery: query).entities.map(\.title)
          == ["Issue 29", "Issue 39", "Issue 49"])
      #expect(try await cards.get(byID: .remote(5))?.title == "Issue 5")
      #expect(try await cards.get(byID: .remote(500)) == nil)
      #expect(
        try await cards.get(byIDs: [.remote(7), .remote(3), .remote(7)]).entities.map(\.title)
          == ["Issue 7", "Issue 3"])
      let plan = try store.explain(Query(filter: \IssueCard.points == 3))
      #expect(plan.access == .projection(count: 100))
      #expect(
        plan.description == "IssueCard: scan of 100 records of other types, then sorted (0 in all)")
      let one = Query<IssueCard>(filter: .ids([.remote(5)]))
      #expect(try store.explain(one).access == .identifiers(count: 1))
    }
  }

  @Test func `entities with and without a record of their own are in one order`() async throws {
    try await withManagers { issues, cards, store in
      try await issues.set((0..<20).map { Issue($0, points: $0) })
      for number in [3, 7, 15] {
        try await cards.set(IssueCard(number, points: 100 + number))
      }
      let natural = try await cards.all()
      #expect(natural.entities.map(\.id) == (0..<20).map { .remote($0) })
      let query = Query(filter: \IssueCard.points > 17, order: [.descending(\.points)])
      #expect(
        try await cards.search(withQuery: query).entities.map(\.points) == [115, 107, 103, 19, 18])
      #expect(
        try store.explain(query).access
          == .union([
            .index(field: "points", rangeCount: 1, isOrdered: false), .projection(count: 17),
          ]))
      // A field of a card is one of the issue.
      #expect(try await issues.get(byID: .remote(7))?.points == 107)
      // By identifiers, of either kind.
      let some = try await cards.get(byIDs: [.remote(15), .remote(2)])
      #expect(some.entities.map(\.points) == [115, 2])
      // Once all have records of their own, nothing is scanned.
      try await cards.set((0..<20).map { IssueCard($0, points: $0) })
      #expect(
        try store.explain(Query(filter: \IssueCard.points == 3)).access
          == .index(field: "points", rangeCount: 1, isOrdered: false))
    }
  }

  @Test func `answers and pages count what has no record of its own, too`() async throws {
    try await withManagers { issues, cards, store in
      try await issues.set((0..<20).map { Issue($0, points: $0 % 5) })
      for number in [3, 7] { try await cards.set(IssueCard(number, points: 9)) }
      let query = Query(filter: \IssueCard.points > 2, order: [.descending(\.points)])
      let found = try await cards.search(withQuery: query).entities
      #expect(found.count == 9)
      #expect(try await cards.answer(.count, to: query) == found.count)
      #expect(try await cards.answer(.exists, to: query))
      #expect(try await cards.answer(.max(\.points), to: query) == 9)
      let counts = try await cards.answer(.count.grouped(by: \.points), to: query)
      #expect(counts == [3: 3, 4: 4, 9: 2])
      #expect(try await cards.identifiers(matching: query) == found.map(\.id))
      var paged = query
      paged.limit = 4
      var page = try await cards.search(withQuery: paged).entities
      var all = page
      while let last = page.last {
        page = try await cards.search(withQuery: paged, after: last).entities
        all += page
      }
      #expect(all == found)
      var cursorPage = try await store.page(of: paged)
      all = cursorPage.entities
      while let next = cursorPage.next {
        cursorPage = try await store.page(of: paged, at: next)
        all += cursorPage.entities
      }
      #expect(all == found)
      while let previous = cursorPage.previous {
        cursorPage = try await store.page(of: paged, at: previous)
      }
      #expect(cursorPage.entities == Array(found[..<4]))
      #expect(
        try await store.read { try $0.identifiers(matching: query, after: found[4]) }.count == 4)
      #expect(try await store.read { try $0.explain(.count, to: query) }.reading != .indexRows)
    }
  }

  @Test func `a node that lacks a field of the type is none of its entities`() async throws {
    try await withManagers { issues, cards, store in
      try await cards.set(IssueCard(1, points: 4))
      #expect(try await issues.all().isEmpty)
      #expect(try await issues.get(byID: .remote(1)) == nil)
      #expect(try await cards.all().count == 1)
      try await issues.set(Issue(2, points: 5))
      #expect(try await issues.all().entities.map(\.id) == [.remote(2)])
      #expect(try await cards.all().entities.map(\.id) == [.remote(1), .remote(2)])
      // Nodes of other namespaces, and other nodes of a type called like this one, are none of them.
      try await store.write {
        try $0.set(
          TreeNode("Ticket:9", type: "Issue", fields: ["id": 9, "title": "x", "points": 1]))
      }
      #expect(try await cards.all().count == 2)
    }
  }

  /// It threw the error of the decoder.
  @Test func `an update of a node that is stored as a card only finds no issue`() async throws {
    try await withManagers { issues, cards, store in
      try await cards.set(IssueCard(1, points: 4))
      let updated = try await issues.updateIfPresent(byID: .remote(1)) { $0.points = 5 }
      #expect(updated?.value == nil)
      let missing = await #expect(throws: ManagerError.self) {
        try await issues.set(Issue(1, points: 6), replacing: Issue(1, points: 4))
      }
      #expect(missing?.code == .notFound)
      let inStore = try await store.updateIfPresent(EntityIdentifier<Issue>.remote(1)) {
        $0.points = 7
      }
      #expect(inStore == nil)
      #expect(try await cards.get(byID: .remote(1))?.points == 4)
      #expect(try await issues.get(byID: .remote(1)) == nil)
      // The other way round a card is found, and an error of the closure is thrown.
      try await issues.set(Issue(2, points: 1))
      let card = try await cards.updateIfPresent(byID: .remote(2)) { $0.points = 3 }
      #expect(card?.value.points == 3)
      #expect(try await issues.get(byID: .remote(2))?.points == 3)
      await #expect(throws: ModelError.self) {
        try await issues.updateIfPresent(byID: .remote(2)) { _ in
          _ = try store.read { try $0.get("Issue:1", as: Issue.self) }
        }
      }
    }
  }

  @Test func `integer keys and text keys of one namespace name one node, in records of their own`()
    async throws
  {
    #expect(
      EntityIdentifier<Issue>.remote(7).modelIdentifier
        == EntityIdentifier<IssueLabel>.remote("7").modelIdentifier)
    let store = try ModelStore.temporary()
    let container = try CoreManagerContainer(
      entities: Issue.self, IssueLabel.self, diskStoreConfig: .store(store))
    let (issues, labels) = (container[Issue.self], container[IssueLabel.self])
    try await issues.set(Issue(7, points: 1))
    #expect(try await labels.get(byID: .remote("7")) == nil, "its key is an integer")
    #expect(try await labels.all().isEmpty)
    try await labels.set(IssueLabel(id: .remote("7"), title: "seven"))
    #expect(try await labels.get(byID: .remote("7"))?.title == "seven")
    #expect(try await issues.get(byID: .remote(7))?.title == "seven", "one node, one title")
    #expect(try await store.read { try $0.count() } == 1)
    await container.close()
    await store.close()
  }

  @Test func `followed cards follow the whole`() async throws {
    try await withManagers { issues, cards, _ in
      try await issues.set(Issue(1, points: 1))
      let query = Query(filter: \IssueCard.points > 0, order: [.descending(\.points)], limit: 2)
      var values = cards.follow(query).makeAsyncIterator()
      var one = cards.follow(byID: .remote(2)).makeAsyncIterator()
      #expect(try await values.next()?.entities.map(\.points) == [1])
      #expect(try await one.next() == .some(nil))
      try await issues.set(Issue(2, points: 5))
      #expect(try await values.next()?.entities.map(\.points) == [5, 1])
      #expect(try await one.next() == IssueCard(2, points: 5))
      try await issues.set(Issue(1, points: 9))
      #expect(try await values.next()?.entities.map(\.points) == [9, 5])
      try await issues.set(Issue(1, points: 0))
      #expect(try await values.next()?.entities.map(\.points) == [5])
      try await issues.remove(atID: .remote(2))
      #expect(try await values.next()?.entities.map(\.points) == [])
      #expect(try await one.next() == .some(nil))
    }
  }

  private func withManagers(
    _ body: (CoreManager<Issue>, CoreManager<IssueCard>, ModelStore) async throws -> Void
  ) async throws {
    let store = try ModelStore.temporary()
    let container = try CoreManagerContainer(
      entities: Issue.self, IssueCard.self, diskStoreConfig: .store(store))
    try await body(container[Issue.self], container[IssueCard.self], store)
    await container.close()
    await store.close()
  }
}

private struct Issue: PersistentEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Issue>
  var title: String
  var points: Int
  var text: String
  static let fields: [Field<Issue>] = [.indexed(\.title), .field(\.points)]

  init(_ number: Int, points: Int) {
    id = .remote(number)
    title = "Issue \(number)"
    self.points = points
    text = String(repeating: "long ", count: 100)
  }
}

private struct IssueCard: PersistentEntity {
  static let identifierNamespace = "Issue"
  typealias RemoteID = Int
  var id: EntityIdentifier<IssueCard>
  var title: String
  var points: Int
  static let fields: [Field<IssueCard>] = [.indexed(\.points), .field(\.title)]

  init(_ number: Int, points: Int) {
    id = .remote(number)
    title = "Issue \(number)"
    self.points = points
  }
}

/// Has texts as keys, in the namespace of entities whose keys are numbers.
private struct IssueLabel: PersistentEntity {
  static let identifierNamespace = "Issue"
  var id: EntityIdentifier<IssueLabel>
  var title: String
}
