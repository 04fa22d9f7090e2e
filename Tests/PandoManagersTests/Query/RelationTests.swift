import PandoFixtures
import PandoManagers
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

/// Filters, orders and indexes that lead through children, and over the elements of lists.
@Suite struct RelationTests {
  @Test func `an index over a child's field follows when the child changes`() throws {
    let store = try Self.makeStore()
    defer { store.close() }
    let ada = Worker(id: .remote("ada"), name: "Ada")
    try store.write { transaction in
      for number in 0..<20 {
        try transaction.set(
          Chore(
            id: .remote("\(number)"), title: "t\(number)",
            author: number % 2 == 0 ? ada : Worker(id: .remote("bob"), name: "Bob")))
      }
    }
    let byName = Query<Chore>(filter: \.author.name == "Ada")
    #expect(try Self.ids(byName, store).count == 10)
    #expect(try store.explain(byName).access == Self.index("author.name"))
    try store.write { try $0.updateIfPresent(Worker.self, "Worker:ada") { $0.name = "Countess" } }
    #expect(try Self.ids(byName, store) == [])
    #expect(try Self.ids(Query(filter: \.author.name == "Countess"), store).count == 10)
    // Two steps away, made and changed in one write.
    try store.write { transaction in
      try transaction.updateIfPresent(Worker.self, "Worker:ada") {
        $0.team = Team(id: .remote("red"), name: "Red")
      }
      try transaction.updateIfPresent(Team.self, "Team:red") { $0.name = "Crimson" }
    }
    let byTeam = Query<Chore>(filter: \.author.team?.name == "Crimson")
    #expect(try store.explain(byTeam).access == Self.index("author.team.name"))
    #expect(try Self.ids(byTeam, store).count == 10)
    // A child that is taken away leaves null behind, and what required it goes.
    try store.write { try $0.deleteIfPresent("Team:red") }
    #expect(try Self.ids(byTeam, store) == [])
    #expect(try Self.ids(Query(filter: \.author.team?.name == nil), store).count == 20)
    try store.write { try $0.deleteIfPresent("Worker:ada") }
    #expect(try Self.ids(.all, store).count == 10)
    #expect(try store.verify().problems == [])
  }

  @Test func `all of many parents follow a changed child, whatever else they hold`() throws {
    let store = try Self.makeStore()
    defer { store.close() }
    func count(_ filter: Filter<Chore>) throws -> Int {
      try store.read { try $0.answer(.count, to: Query(filter: filter)) }
    }
    let ada = Worker(id: .remote("ada"), name: "Ada", team: Team(id: .remote("red"), name: "Red"))
    let bob = Worker(id: .remote("bob"), name: "Bob")
    try store.write { transaction in
      for number in 0..<1_600 {
        try transaction.set(
          Chore(id: .remote("\(number)"), author: number % 10 < 7 ? ada : bob, assignee: bob))
      }
    }
    try store.write { try $0.updateIfPresent(Worker.self, "Worker:ada") { $0.name = "Countess" } }
    #expect(try count(\.author.name == "Ada") == 0)
    #expect(try count(\.author.name == "Countess") == 1_120)
    // Two of their children in one write, and one of a child's.
    try store.write { transaction in
      try transaction.updateIfPresent(Worker.self, "Worker:ada") { $0.name = "B" }
      try transaction.updateIfPresent(Worker.self, "Worker:bob") { $0.name = "B" }
      try transaction.updateIfPresent(Team.self, "Team:red") { $0.name = "Crimson" }
    }
    #expect(try count(\.author.name == "B") == 1_600)
    #expect(try count(\.author.team?.name == "Crimson") == 1_120)
    #expect(try count(\.author.team?.name == nil) == 480)
    #expect(try store.verify().problems == [])
  }

  @Test func `holders of a node are read from the dependency index`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    let bug = Label(id: "bug", name: "Bug")
    try store.write { transaction in
      for number in 0..<100 {
        try transaction.set(
          Chore(
            id: .remote("\(number)"), author: Worker(id: .remote("\(number % 10)"), name: "x"),
            labels: number == 7 ? [bug] : []))
      }
    }
    let byAuthor = Query(filter: Filter<Chore>.holds(\.author, "Worker:3"))
    #expect(try Self.ids(byAuthor, store).count == 10)
    #expect(try store.explain(byAuthor).access == .parents(count: 1))
    let byLabel = Query(filter: Filter<Chore>.holds(\.labels, "label:bug"))
    #expect(try Self.ids(byLabel, store) == ["7"])
    let anywhere = Query(filter: Filter<Chore>.holds("label:bug"))
    #expect(try Self.ids(anywhere, store) == ["7"])
    #expect(try store.explain(anywhere).access == .parents(count: 1))
    #expect(try store.read { try $0.answer(.count, to: byAuthor) } == 10)
    // A node that is held, but not there.
    #expect(try Self.ids(Query(filter: .holds(\.assignee, "Worker:3")), store) == [])
    #expect(try Self.ids(Query(filter: .holds(\.author, "Worker:nobody")), store) == [])
  }

  @Test func `a child behind a child is no child of the entity`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    let red = Team(id: .remote("red"), name: "Red")
    try store.write { transaction in
      for number in 0..<10 {
        let worker = Worker(
          id: .remote("\(number)"), name: "x", team: number % 2 == 0 ? red : nil)
        try transaction.set(Chore(id: .remote("\(number)"), author: worker))
      }
    }
    let byTeam = Query(filter: Filter<Chore>.holds(\.author.team, red.id))
    #expect(try Self.ids(byTeam, store) == ["0", "2", "4", "6", "8"])
    #expect(try Self.ids(Query(filter: .holds(\.assignee?.team, red.id)), store) == [])
    #expect(try Self.ids(Query(filter: .holds("Team:red")), store) == [])
    // Declared, with an index of it and without.
    let declared = Query(filter: Filter<Errand>.holds(\.chore.author, "Worker:4"))
    try store.write { transaction in
      let chores = try transaction.snapshot.find(Query<Chore>.all).entities
      for chore in chores { try transaction.set(Errand(id: .remote(chore.id.text), chore: chore)) }
    }
    #expect(try store.read { try $0.find(declared).count } == 1)
    try store.addIndexes(of: [Errand.self])
    #expect(try store.read { try $0.find(declared).count } == 1)
    #expect(try store.explain(declared).access == Self.index("chore.author"))
  }

  @Test func `a child that is shown by a record of another type is followed, too`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.write { transaction in
      try transaction.addIndex(on: ["assignee.name"], ofType: "Task")
      try transaction.set(TreeNode("ada", type: "Card", fields: ["name": "A"]))
      try transaction.set(
        TreeNode(
          "task", type: "Task",
          fields: ["assignee": .reference(identifier: "ada", typeName: "Worker")]))
    }
    func named(_ name: String) throws -> [String] {
      var query = RecordQuery(typeName: "Task")
      query.filter = .compare(.named(FieldPath("assignee.name")), .equal, .string(name))
      return try store.read { try $0.identifiers(matching: query) }
    }
    #expect(try named("A") == ["task"])
    // The newest record is one of a third type now, and then there is one of the type that is meant.
    try store.write { try $0.set(TreeNode("ada", type: "Badge", fields: ["name": "B"])) }
    #expect(try named("B") == ["task"])
    try store.write { try $0.set(TreeNode("ada", type: "Worker", fields: ["name": "C"])) }
    #expect(try named("C") == ["task"])
    #expect(try named("B") == [])
    #expect(try store.verify().problems == [])
  }

  @Test func `a field that a child's light record lacks is read from its full record`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.write { transaction in
      try transaction.addIndex(on: ["author.team.name"], ofType: "Chore")
      try transaction.set(Chore(id: .remote("1"), author: Worker(id: .remote("bob"), name: "B")))
      // The same chore with a light author: the reference flows into the whole chore.
      try transaction.set(
        TreeNode(
          "Chore:1", type: "ChoreCard",
          fields: [
            "author": .required(
              .node(TreeNode("Worker:cy", type: "WorkerCard", fields: ["id": "cy", "name": "C"])))
          ]))
    }
    let rome = Query<Chore>(filter: \.author.team?.name == "Rome")
    #expect(try Self.ids(rome, store) == [])
    let cy = Worker(id: .remote("cy"), name: "C", team: Team(id: .remote("r"), name: "Rome"))
    try store.write { try $0.set(cy) }
    #expect(try store.read { try $0.get("Chore:1", as: Chore.self)?.author.team?.name } == "Rome")
    #expect(try Self.ids(rome, store) == ["1"])
    try store.write { try $0.dropIndex(on: ["author.team.name"], ofType: "Chore") }
    #expect(try Self.ids(rome, store) == ["1"])
    #expect(try store.verify().problems == [])
  }

  @Test func `a field that is a child, and then a text, and a child again, has one row`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    @Sendable func task(_ extra: TreeValue) -> TreeNode {
      TreeNode("task", type: "Task", fields: ["extra": extra])
    }
    let child = TreeValue.node(TreeNode("kid", type: "Kid", fields: ["name": "K"]))
    try store.write { transaction in
      try transaction.addIndex(on: ["extra"], ofType: "Task")
      try transaction.set(task(child))
    }
    try store.write { transaction in
      for extra: TreeValue in ["t", "t2", child, "t3", child, .null, child] {
        try transaction.set(TreeNode("task", type: "Task", fields: ["extra": extra]))
      }
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `a transaction that reads finds what it has changed`() throws {
    let store = try Self.makeStore()
    defer { store.close() }
    let ada = Worker(id: .remote("ada"), name: "Ada")
    try store.write { transaction in
      for number in 0..<5 {
        try transaction.set(Chore(id: .remote("\(number)"), author: ada))
      }
      for name in ["B", "C", "D"] {
        try transaction.updateIfPresent(Worker.self, "Worker:ada") { $0.name = name }
        let found = try transaction.snapshot.find(
          Query<Chore>(filter: \.author.name == name)
        ).count
        #expect(found == 5)
      }
      try transaction.updateIfPresent(Worker.self, "Worker:ada") { $0.name = "E" }
      try? transaction.nested { inner in
        try inner.updateIfPresent(Worker.self, "Worker:ada") { $0.name = "F" }
        throw CancellationError()
      }
    }
    #expect(try Self.ids(Query(filter: \.author.name == "E"), store).count == 5)
    #expect(try store.verify().problems == [])
  }

  @Test func `a child's field with a default or another name is read from the entity`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    // As the types were before: no rank, and another name.
    try store.write { transaction in
      for number in 0..<4 {
        let kid = TreeNode(
          "kid:\(number)", type: "Kid", fields: ["id": .string("\(number)"), "full": "Kim"])
        try transaction.set(
          TreeNode(
            "Parent:\(number)", type: "Parent",
            fields: [
              "id": .string("\(number)"), "kid": .required(.node(kid)),
              "kids": .array([.node(kid)]),
            ]))
      }
    }
    func count(_ filter: Filter<Parent>) throws -> Int {
      try store.read { try $0.find(Query(filter: filter)).count }
    }
    for _ in 0..<2 {
      #expect(try count(\.kid.name == "Kim") == 4)
      #expect(try count(\.kid.rank == 7) == 4)
      #expect(try count(.contains(\.kids, \.?.name, "Kim")) == 4)
      #expect(try count(\.kid.name == nil) == 0)
      let named = Query<Parent>(order: [.descending(\.kid.name), .ascending(\.kid.rank)], limit: 2)
      #expect(try store.read { try $0.find(named).count } == 2)
      // Once more with indexes.
      try store.addIndexes(of: [Parent.self])
    }
    try store.write { try $0.updateIfPresent(Kid.self, "kid:1") { $0.rank = 8 } }
    #expect(try count(\.kid.rank == 7) == 3)
    #expect(try count(\.kid.rank == 8) == 1)
  }

  @Test func `the newest with a label are read in the order of an index`() throws {
    let store = try Self.makeStore()
    defer { store.close() }
    let labels = ["bug", "idea", "bug2"].map { Label(id: $0, name: $0) }
    try store.write { transaction in
      for number in 0..<60 {
        try transaction.set(
          Chore(
            id: .remote("\(number)"), number: number,
            author: Worker(id: .remote("ada"), name: "Ada"),
            labels: number % 3 == 0 ? [labels[0], labels[1]] : [labels[2]]))
      }
    }
    let newest = Query<Chore>(
      filter: .contains(\.labels, \.name, "bug"), order: [.descending(\.number)], limit: 3)
    #expect(try Self.ids(newest, store) == ["57", "54", "51"])
    let plan = try store.explain(newest)
    #expect(
      plan.access
        == .index(field: "labels[].name, number", rangeCount: 1, isOrdered: true))
    #expect(!plan.isSorted)
    let bugs = Query<Chore>(filter: .contains(\.labels, \.name, "bug"))
    let count = try store.read { try $0.explain(.count, to: bugs) }
    #expect(count.reading == .indexRows)
    #expect(try store.read { try $0.answer(.count, to: bugs) } == 20)
    // Of two conditions each may hold for another element.
    let both = Query<Chore>(
      filter: .contains(\.labels, \.name, "bug") && .contains(\.labels, \.name, "idea"))
    #expect(try Self.ids(both, store).count == 20)
    try store.write { try $0.updateIfPresent(Label.self, "label:bug") { $0.name = "flaw" } }
    #expect(try Self.ids(newest, store) == [])
    #expect(try store.verify().problems == [])
  }

  @Test func `an index that could not be kept is refused`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    let several = #expect(throws: StoreError.self) {
      try store.write { try $0.addIndex(on: ["tags[]", "labels[].name"], ofType: "Chore") }
    }
    #expect(several.map { "\($0)" }?.contains("of one list, not of several") == true)
    let unique = #expect(throws: StoreError.self) {
      try store.write { try $0.addIndex(on: ["tags[]"], ofType: "Chore", unique: true) }
    }
    #expect(unique.map { "\($0)" }?.contains("can't be one of elements") == true)
    #expect(try store.read { try $0.indexes() } == [])
  }

  @Test func `a value behind a child can be unique`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.write { try $0.addIndex(on: ["assignee.name"], ofType: "Chore", unique: true) }
    @Sendable func chore(_ number: Int, _ assignee: String?) -> Chore {
      Chore(
        id: .remote("\(number)"), author: Worker(id: .remote("z"), name: "Zoe"),
        assignee: assignee.map { Worker(id: .remote($0), name: $0) })
    }
    try store.write { transaction in
      for number in 0..<3 { try transaction.set(chore(number, nil)) }
      try transaction.set(chore(3, "ada"))
      try transaction.set(chore(4, "bob"))
    }
    let error = #expect(throws: StoreError.self) {
      try store.write { try $0.updateIfPresent(Worker.self, "Worker:bob") { $0.name = "ada" } }
    }
    #expect(error?.code == .valueTaken)
    // Two may change values in one write.
    try store.write { transaction in
      try transaction.updateIfPresent(Worker.self, "Worker:bob") { $0.name = "ada" }
      try transaction.updateIfPresent(Worker.self, "Worker:ada") { $0.name = "bob" }
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `a dump brings indexes over children along`() throws {
    let store = try Self.makeStore()
    defer { store.close() }
    try store.write { transaction in
      for number in 0..<10 {
        try transaction.set(
          Chore(id: .remote("\(number)"), author: Worker(id: .remote("ada"), name: "Ada")))
      }
    }
    let lines = Locked<[String]>([])
    try store.dump { line in lines.withLock { $0.append(line) } }
    let copy = try ModelStore.temporary()
    defer { copy.close() }
    lines.withLock { $0.reverse() }
    try copy.load { lines.withLock { $0.popLast() } }
    #expect(try copy.read { try $0.indexes() } == store.read { try $0.indexes() })
    #expect(try Self.ids(Query(filter: \.author.name == "Ada"), copy).count == 10)
    #expect(try copy.verify().problems == [])
    // Without its indexes nothing of them stays.
    try copy.write { transaction in
      for index in try transaction.snapshot.indexes() {
        try transaction.dropIndex(on: index.fields, ofType: index.typeName)
      }
    }
    #expect(try copy.verify().problems == [])
    #expect(try Self.ids(Query(filter: \.author.name == "Ada"), copy).count == 10)
  }

  @Test func `several values are no place in an order`() throws {
    let byTags = Query<Chore>(order: [try QueryOrder(field: "tags[]")])
    let error = #expect(throws: QueryError.self) { try byTags.validate() }
    #expect(
      error?.description
        == "tags[]: this field of Chore has several values, which are no place in an order")
    #expect(throws: QueryError.self) { try byTags.apply(to: []) }
  }

  private static func index(_ field: String) -> QueryPlan.Access {
    .index(field: field, rangeCount: 1, isOrdered: false)
  }

  private static func makeStore() throws -> ModelStore {
    let store = try ModelStore.temporary()
    try store.addIndexes(of: [Chore.self])
    return store
  }

  private static func ids(_ query: Query<Chore>, _ store: ModelStore) throws -> [String] {
    try store.read {
      try $0.find(query).entities.map { String("\($0.id)".dropFirst(6)) }
    }
  }
}

private struct Errand: PersistentEntity {
  var id: EntityIdentifier<Errand>
  var chore: Chore
  static let fields: [Field<Errand>] = [.indexed(.child(\.chore.author))]
}

private struct Kid: Model, Codable, Equatable, SchemaVersioned {
  var id: String
  var name: String?
  var rank: Int
  var modelIdentifier: String? { "kid:" + id }
  static let fieldDefaults: [String: any Encodable & Sendable] = ["rank": 7]
  static let formerFieldNames = ["name": ["full"]]
}

private struct Parent: PersistentEntity {
  var id: EntityIdentifier<Parent>
  var kid: Kid
  var kids: [Kid?]
  static let fields: [Field<Parent>] = [
    .indexed(\.kid.name), .indexed(\.kid.rank), .indexed(.each(\.kids, \.?.name)),
  ]
}
