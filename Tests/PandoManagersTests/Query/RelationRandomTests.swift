import PandoFixtures
import PandoManagers
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

/// Random writes and queries of chores, each answer beside the one over an array.
@Suite struct RelationRandomTests {
  @Test(arguments: seeds(6))
  func `random writes and questions give what an array gives`(seed: UInt64) throws {
    var world = ChoreWorld(seed: seed)
    let store = try ModelStore.temporary()
    defer { store.close() }
    for round in 0..<steps(25) {
      if round % 4 == 0 { try world.changeIndexes(of: store) }
      try world.change(store)
      let place: Comment = "seed \(seed), round \(round)"
      try #require(try store.read { try $0.indexProblems() } == [], place)
      let all = try store.read { try $0.find(Query<Chore>.all).entities }
      for _ in 0..<12 {
        let query = world.query()
        let expected = try query.apply(to: all).entities.map(\.id)
        let (found, plan) = try store.read { snapshot in
          (try snapshot.find(query).entities.map(\.id), try snapshot.explain(query))
        }
        try #require(found == expected, "\(place): \(query), \(plan)")
        let whole = Query(filter: query.filter)
        let count = try store.read { try $0.answer(.count, to: whole) }
        try #require(try count == whole.apply(to: all).entities.count, "\(place): \(whole)")
      }
    }
    #expect(try store.verify().problems == [])
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
        try transaction.updateIfPresent(Worker.self, id) { $0.name = name }
      }
    case 9:
      let victims = ["Worker:\(int(0...4))", "Team:\(int(0...2))", "label:\(int(0...3))"]
      let victim = victims[int(0...2)]
      return { _ = try $0.deleteIfPresent(victim) }
    case 10:
      let victim = "Chore:\(int(0...25))"
      return { _ = try $0.deleteIfPresent(victim) }
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
      let orders: [QueryOrder<Chore>] = [
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

struct Team: PersistentEntity {
  var id: EntityIdentifier<Team>
  var name: String
}

struct Worker: PersistentEntity {
  var id: EntityIdentifier<Worker>
  var name: String
  var team: Team?
}

struct Label: Model, Codable, Equatable {
  var id: String
  var name: String
  var modelIdentifier: String? { "label:" + id }
}

struct Chore: PersistentEntity {
  var id: EntityIdentifier<Chore>
  var title = ""
  var number = 0
  var author: Worker
  var assignee: Worker?
  var labels: [Label] = []
  var tags: [String] = []
  var parts: [String: Label] = [:]

  static let fields: [Field<Chore>] = [
    .field(\.title), .indexed(\.number), .indexed(\.author.name),
    .indexed(\.author.team?.name), .field(\.assignee?.team?.name), .field(.child(\.author)),
    .field(.child(\.assignee)), .indexed(.each(\.labels, \.name)), .field(.each(\.labels)),
    .indexed(.each(\.tags)), .field(.each(\.parts, \.name)), .field(.each(\.parts)),
  ]
  static let indexes: [FieldIndex<Chore>] = [
    .indexed(.each(\.labels, \.name), .field(\.number)), .indexed(\.author.name, \.number),
  ]
}
