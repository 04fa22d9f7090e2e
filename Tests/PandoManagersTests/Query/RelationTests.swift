import PandoFixtures
import PandoManagers
import PandoStore
import PandoSystem
import Testing

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
    try store.write { try $0.update(Worker.self, "Worker:ada") { $0.name = "Countess" } }
    #expect(try Self.ids(byName, store) == [])
    #expect(try Self.ids(Query(filter: \.author.name == "Countess"), store).count == 10)
    // Two steps away, made and changed in one write.
    try store.write { transaction in
      try transaction.update(Worker.self, "Worker:ada") {
        $0.team = Team(id: .remote("red"), name: "Red")
      }
      try transaction.update(Team.self, "Team:red") { $0.name = "Crimson" }
    }
    let byTeam = Query<Chore>(filter: \.author.team?.name == "Crimson")
    #expect(try store.explain(byTeam).access == Self.index("author.team.name"))
    #expect(try Self.ids(byTeam, store).count == 10)
    // A child that is taken away leaves null behind, and what required it goes.
    try store.write { try $0.delete("Team:red") }
    #expect(try Self.ids(byTeam, store) == [])
    #expect(try Self.ids(Query(filter: \.author.team?.name == nil), store).count == 20)
    try store.write { try $0.delete("Worker:ada") }
    #expect(try Self.ids(.all, store).count == 10)
    #expect(try store.verify().problems == [])
  }

  @Test func `who holds a node is asked of the dependency index`() throws {
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
    #expect(try store.read { try $0.answer(.count, to: byAuthor).count } == 10)
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
      let chores = try transaction.snapshot.entities(matching: Query<Chore>.all).entities
      for chore in chores { try transaction.set(Errand(id: .remote(chore.id.text), chore: chore)) }
    }
    #expect(try store.read { try $0.entities(matching: declared).count } == 1)
    try store.addIndexes(of: [Errand.self])
    #expect(try store.read { try $0.entities(matching: declared).count } == 1)
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

  @Test func `what a child's light record lacks is found in its whole one`() throws {
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
    #expect(try store.read { try $0.model("Chore:1", as: Chore.self)?.author.team?.name } == "Rome")
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
        try transaction.update(Worker.self, "Worker:ada") { $0.name = name }
        let found = try transaction.snapshot.entities(
          matching: Query<Chore>(filter: \.author.name == name)
        ).count
        #expect(found == 5)
      }
      try transaction.update(Worker.self, "Worker:ada") { $0.name = "E" }
      try? transaction.nested { inner in
        try inner.update(Worker.self, "Worker:ada") { $0.name = "F" }
        throw CancellationError()
      }
    }
    #expect(try Self.ids(Query(filter: \.author.name == "E"), store).count == 5)
    #expect(try store.verify().problems == [])
  }

  @Test func `what a child's type gives a default or another name is asked of the entity`() throws {
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
      try store.read { try $0.entities(matching: Query(filter: filter)).count }
    }
    for _ in 0..<2 {
      #expect(try count(\.kid.name == "Kim") == 4)
      #expect(try count(\.kid.rank == 7) == 4)
      #expect(try count(.contains(\.kids, \.?.name, "Kim")) == 4)
      #expect(try count(\.kid.name == nil) == 0)
      let named = Query<Parent>(order: [.descending(\.kid.name), .ascending(\.kid.rank)], limit: 2)
      #expect(try store.read { try $0.entities(matching: named).count } == 2)
      // Once more with indexes.
      try store.addIndexes(of: [Parent.self])
    }
    try store.write { try $0.update(Kid.self, "kid:1") { $0.rank = 8 } }
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
    #expect(count.isToldByIndex)
    #expect(try store.read { try $0.answer(.count, to: bugs).count } == 20)
    // Of two conditions each may hold for another element.
    let both = Query<Chore>(
      filter: .contains(\.labels, \.name, "bug") && .contains(\.labels, \.name, "idea"))
    #expect(try Self.ids(both, store).count == 20)
    try store.write { try $0.update(Label.self, "label:bug") { $0.name = "flaw" } }
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
      try store.write { try $0.update(Worker.self, "Worker:bob") { $0.name = "ada" } }
    }
    #expect(error?.code == .valueTaken)
    // Two may change values in one write.
    try store.write { transaction in
      try transaction.update(Worker.self, "Worker:bob") { $0.name = "ada" }
      try transaction.update(Worker.self, "Worker:ada") { $0.name = "bob" }
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

  @Test(arguments: seeds(30))
  func `random writes and questions give what an array gives`(seed: UInt64) throws {
    var world = ChoreWorld(seed: seed)
    let store = try ModelStore.temporary()
    defer { store.close() }
    for round in 0..<25 {
      if round % 4 == 0 { try world.changeIndexes(of: store) }
      try world.change(store)
      let place: Comment = "seed \(seed), round \(round)"
      try #require(try store.read { try $0.indexProblems() } == [], place)
      let all = try store.read { try $0.entities(matching: Query<Chore>.all).entities }
      for _ in 0..<12 {
        let query = world.query()
        let expected = try query.apply(to: all).entities.map(\.id)
        let (found, plan) = try store.read { snapshot in
          (try snapshot.entities(matching: query).entities.map(\.id), try snapshot.explain(query))
        }
        try #require(found == expected, "\(place): \(query), \(plan)")
        let whole = Query(filter: query.filter)
        let count = try store.read { try $0.answer(.count, to: whole).count }
        try #require(try count == whole.apply(to: all).entities.count, "\(place): \(whole)")
      }
    }
    #expect(try store.verify().problems == [])
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
      try $0.entities(matching: query).entities.map { String("\($0.id)".dropFirst(6)) }
    }
  }
}

/// Makes random writes and queries.
private struct ChoreWorld {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private mutating func int(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &generator)
  }
  private mutating func chance(_ percent: Int) -> Bool { int(0...99) < percent }
  private mutating func name() -> String { ["", "a", "b", "ab", "c\u{0}"][int(0...4)] }

  private mutating func team() -> Team { Team(id: .remote("\(int(0...2))"), name: name()) }

  private mutating func worker() -> Worker {
    Worker(id: .remote("\(int(0...4))"), name: name(), team: chance(50) ? team() : nil)
  }

  private mutating func label() -> Label { Label(id: "\(int(0...3))", name: name()) }

  private mutating func chore() -> Chore {
    Chore(
      id: .remote("\(int(0...25))"), title: name(), number: int(0...5), author: worker(),
      assignee: chance(50) ? worker() : nil, labels: (0..<int(0...3)).map { _ in label() },
      tags: (0..<int(0...3)).map { _ in name() },
      parts: chance(30) ? ["x": label(), "y": label()] : [:])
  }

  mutating func change(_ store: ModelStore) throws {
    let changes = (0..<int(1...6)).map { _ in change() }
    try store.write { transaction in
      for change in changes { try change(&transaction) }
    }
  }

  private typealias Change = @Sendable (inout ModelTransaction) throws -> Void

  private mutating func change() -> Change {
    switch int(0...11) {
    case 0...4:
      let chore = chore()
      return { try $0.set(chore) }
    case 5:
      let worker = worker()
      return { try $0.set(worker) }
    case 6:
      let team = team()
      return { try $0.set(team) }
    case 7:
      let label = label()
      return { try $0.set(label) }
    case 8:
      let name = name()
      let id = "Worker:\(int(0...4))"
      return { transaction in
        guard try transaction.snapshot.contains(id) else { return }
        try transaction.update(Worker.self, id) { $0.name = name }
      }
    case 9:
      let victims = ["Worker:\(int(0...4))", "Team:\(int(0...2))", "label:\(int(0...3))"]
      let victim = victims[int(0...2)]
      return { _ = try $0.delete(victim) }
    case 10:
      let victim = "Chore:\(int(0...25))"
      return { _ = try $0.delete(victim) }
    default:
      let isAll = chance(20)
      return { if isAll { try $0.removeAll() } else { _ = try $0.prune() } }
    }
  }

  mutating func changeIndexes(of store: ModelStore) throws {
    let all = [
      ["author.name"], ["author"], ["assignee"], ["assignee.team.name"], ["labels[].name"],
      ["labels[]"], ["tags[]"], ["parts[].name"], ["labels[].name", "number"],
      ["author.name", "number"], ["tags[]", "title"], ["number"], ["author", "number"],
      ["number", "tags[]"], ["author.team.name", "labels[]"],
    ]
    for fields in all {
      let isWanted = chance(40)
      try store.write { transaction in
        if isWanted {
          try transaction.addIndex(on: fields, ofType: "Chore")
        } else {
          try transaction.dropIndex(on: fields, ofType: "Chore")
        }
      }
    }
  }

  private mutating func comparison() -> FilterComparison {
    FilterComparison.allCases[int(0...(FilterComparison.allCases.count - 1))]
  }

  private mutating func leaf() -> Filter<Chore> {
    switch int(0...12) {
    case 0: .compare(QueryField(\.author.name), comparison(), name())
    case 1: .holds(\.author, "Worker:\(int(0...4))")
    case 2: .holds(\.assignee, "Worker:\(int(0...4))")
    case 3: \.assignee?.team?.name == (chance(40) ? nil : name())
    case 4: .compare(.each(\.labels, \.name), comparison(), name())
    case 5: .holds(\.labels, "label:\(int(0...3))")
    case 6: .compare(.each(\.tags), comparison(), name())
    case 7: .compare(.each(\.parts, \.name), comparison(), name())
    case 8: .holds("label:\(int(0...3))")
    case 9: .contains(\.tags, name())
    case 10: \.author.team?.name == (chance(40) ? nil : name())
    case 11: .compare(.each(\.parts), .equal, "label:\(int(0...3))")
    default: .compare(QueryField(\.number), comparison(), int(0...5))
    }
  }

  private mutating func filter(_ depth: Int) -> Filter<Chore> {
    if depth == 0 || chance(40) { return leaf() }
    switch int(0...2) {
    case 0: return filter(depth - 1) && filter(depth - 1)
    case 1: return filter(depth - 1) || filter(depth - 1)
    default: return !filter(depth - 1)
    }
  }

  mutating func query() -> Query<Chore> {
    var query = Query(filter: filter(2))
    if chance(60) {
      let orders: [Order<Chore>] = [
        .ascending(\.number), .descending(\.number), .ascending(\.author.name),
        .descending(\.assignee?.team?.name), .ascending(\.title),
      ]
      query.order = (0..<int(1...2)).map { _ in orders[int(0...4)] }
    }
    if chance(50) { query.limit = int(0...6) }
    if chance(20) { query.offset = int(0...3) }
    return query
  }
}

private struct Team: PersistentEntity {
  var id: EntityIdentifier<Team>
  var name: String
}

private struct Worker: PersistentEntity {
  var id: EntityIdentifier<Worker>
  var name: String
  var team: Team?
}

private struct Errand: PersistentEntity {
  var id: EntityIdentifier<Errand>
  var chore: Chore
  static let fields: [EntityField<Errand>] = [.indexed(.child(\.chore.author))]
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
  static let fields: [EntityField<Parent>] = [
    .indexed(\.kid.name), .indexed(\.kid.rank), .indexed(.each(\.kids, \.?.name)),
  ]
}

private struct Label: Model, Codable, Equatable {
  var id: String
  var name: String
  var modelIdentifier: String? { "label:" + id }
}

private struct Chore: PersistentEntity {
  var id: EntityIdentifier<Chore>
  var title = ""
  var number = 0
  var author: Worker
  var assignee: Worker?
  var labels: [Label] = []
  var tags: [String] = []
  var parts: [String: Label] = [:]

  static let fields: [EntityField<Chore>] = [
    .field(\.title), .indexed(\.number), .indexed(\.author.name),
    .indexed(\.author.team?.name), .field(\.assignee?.team?.name), .field(.child(\.author)),
    .field(.child(\.assignee)), .indexed(.each(\.labels, \.name)), .field(.each(\.labels)),
    .indexed(.each(\.tags)), .field(.each(\.parts, \.name)), .field(.each(\.parts)),
  ]
  static let indexes: [EntityIndex<Chore>] = [
    .indexed(.each(\.labels, \.name), .field(\.number)), .indexed(\.author.name, \.number),
  ]
}
