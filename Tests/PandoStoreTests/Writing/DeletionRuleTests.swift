import PandoFixtures
import PandoModels
import PandoStore
import Testing

/// Deletes under the deletion rules of a type.
@Suite struct DeletionRuleTests {
  struct Project: Model, Codable, Equatable {
    var id: Int
    var modelIdentifier: String? { "project:\(id)" }
  }

  struct Remark: Model, Codable, Equatable, DeletionRuled {
    var id: Int
    var image: Image?
    var modelIdentifier: String? { "remark:\(id)" }
    static let deletionRules: [DeletionRule] = [.owned("image")]
  }

  struct Ticket: Model, Codable, Equatable, DeletionRuled {
    struct Details: Codable, Equatable, Sendable { var reviewer: Person? }

    var id: Int
    var project: Project
    var author: Person?
    var remarks: [Remark] = []
    var details = Details()
    var modelIdentifier: String? { "ticket:\(id)" }
    static let deletionRules: [DeletionRule] = [
      .restrict("project"), .owned("remarks"), .restrict("details.reviewer"),
    ]
  }

  private let project = Project(id: 1)

  private func identifiers(_ store: ModelStore) throws -> Set<String> {
    let all = [
      "project:1", "ticket:1", "ticket:2", "remark:1", "remark:2", "Image:1", "Image:2", "Person:1",
    ]
    return try store.read { snapshot in try Set(all.filter { try snapshot.contains($0) }) }
  }

  @Test(.overBothBackings)
  func `a delete that a parent restricts is refused, and the error names the parent`() throws {
    let store = try ModelStore.forTest()
    let ada = Person(id: 1, name: "Ada")
    try store.write { transaction in
      for id in 1...3 { try transaction.set(Ticket(id: id, project: project, author: ada)) }
    }
    expectFailure(.restricted, "project:1: can't be deleted: ticket:1 holds it as project") {
      try store.write { _ = try $0.deleteIfPresent("project:1") }
    }
    expectFailure(.restricted, "and 2 more do; delete or change them first") {
      try store.write { _ = try $0.deleteIfPresent("project:1") }
    }
    // Another slot of the same type has no rule.
    try store.write { _ = try $0.deleteIfPresent("Person:1") }
    #expect(try store.read { try $0.get("ticket:1", as: Ticket.self) }?.author == nil)
    try store.write { transaction in
      for id in 1...3 { _ = try transaction.deleteIfPresent("ticket:\(id)") }
      _ = try transaction.deleteIfPresent("project:1")
    }
    #expect(try identifiers(store) == [])
    try store.write {
      try $0.set(Ticket(id: 1, project: project, details: .init(reviewer: ada)))
    }
    expectFailure(.restricted, "ticket:1 holds it as details.reviewer;") {
      try store.write { _ = try $0.deleteIfPresent("Person:1") }
    }
    #expect(try store.verify().problems == [])
  }

  @Test(.overBothBackings) func `a parent that is deleted too restricts nothing`() throws {
    struct Board: Model, Codable, DeletionRuled {
      static let modelTypeName = "Board"
      var project: Project
      var ticket: Ticket
      var modelIdentifier: String? { "board" }
      static let deletionRules: [DeletionRule] = [.restrict("project")]
    }
    let store = try ModelStore.forTest()
    try store.write { try $0.set(Board(project: project, ticket: Ticket(id: 1, project: project))) }
    try store.write { try $0.setDeletionRules([], ofType: "Ticket") }
    // The ticket requires the project, without a rule by now, and the board requires the ticket.
    let deletion = try store.write { try $0.deleteIfPresent("project:1") }
    #expect(Set(deletion?.deleted ?? []) == ["project:1", "ticket:1", "board"])
    #expect(try store.verify().problems == [])
  }

  @Test(.overBothBackings) func `an owned node is deleted with its owner unless others hold it`()
    throws
  {
    let store = try ModelStore.forTest()
    let shared = Remark(id: 2, image: Image(id: 2, url: "b"))
    try store.write { transaction in
      try transaction.set(
        Ticket(
          id: 1, project: project,
          remarks: [Remark(id: 1, image: Image(id: 1, url: "a")), shared]))
      try transaction.set(Ticket(id: 2, project: project, remarks: [shared]))
    }
    let deletion = try store.write { try $0.deleteIfPresent("ticket:1") }
    #expect(deletion?.deleted == ["ticket:1", "remark:1", "Image:1"])
    #expect(try identifiers(store) == ["project:1", "ticket:2", "remark:2", "Image:2"])
    // A list under a cache key holds it, too.
    try store.write { try $0.setCollection("all", to: [shared]) }
    try store.write { _ = try $0.deleteIfPresent("ticket:2") }
    #expect(try identifiers(store) == ["project:1", "remark:2", "Image:2"])
    #expect(try store.verify().problems == [])
  }

  @Test func `rules hold for who does not know the type, and until others are declared`() throws {
    try withTemporaryDirectory { path in
      do {
        let store = try ModelStore(path: path, configuration: .forTests)
        defer { store.close() }
        try store.write { try $0.set(Ticket(id: 1, project: project, remarks: [Remark(id: 1)])) }
      }
      let store = try ModelStore(path: path, configuration: .forTests)
      defer { store.close() }
      #expect(try store.read { try $0.deletionRules(ofType: "Ticket") } == Ticket.deletionRules)
      #expect(try store.read { try $0.deletionRules(ofType: "Project") } == [])
      expectFailure(.restricted, "ticket:1 holds it as project") {
        try store.write { _ = try $0.deleteIfPresent("project:1") }
      }
      try store.write { try $0.setDeletionRules([.owned("remarks")], ofType: "Ticket") }
      let deletion = try store.write { try $0.deleteIfPresent("project:1") }
      #expect(deletion?.deleted == ["project:1", "ticket:1", "remark:1"])
      expectFailure(.invalidModel, "two deletion rules for one field") {
        try store.write {
          try $0.setDeletionRules([.owned("a"), .restrict("a")], ofType: "Ticket")
        }
      }
      // The type says it again by itself.
      try store.write { try $0.set(Ticket(id: 1, project: project)) }
      #expect(try store.read { try $0.deletionRules(ofType: "Ticket") } == Ticket.deletionRules)
      #expect(try store.verify().problems == [])
    }
  }

  struct Piece: Model, Codable, Equatable {
    var id: Int
    var others: [Piece] = []
    var modelIdentifier: String? { "piece:\(id)" }
  }

  struct Whole: Model, Codable, Equatable, DeletionRuled {
    var pieces: [Piece]
    var modelIdentifier: String? { "whole" }
    static let deletionRules: [DeletionRule] = [.owned("pieces")]
  }

  @Test(.overBothBackings, arguments: [[1, 2], [2, 1]])
  func `an owned node held only by nodes that are deleted is deleted too`(order: [Int]) throws {
    let store = try ModelStore.forTest()
    let pieces = [1: Piece(id: 1, others: [Piece(id: 2)]), 2: Piece(id: 2)]
    try store.write { try $0.set(Whole(pieces: order.compactMap { pieces[$0] })) }
    let deletion = try store.write { try $0.deleteIfPresent("whole") }
    #expect(deletion?.deleted == ["whole", "piece:1", "piece:2"])
    #expect(try store.verify().problems == [])
  }

  @Test(.overBothBackings) func `a dump has the rules`() throws {
    let store = try ModelStore.forTest()
    try store.write { try $0.set(Ticket(id: 1, project: project)) }
    var lines: [String] = []
    try store.dump { lines.append($0) }
    #expect(
      lines.contains(
        #"{"rules":"Ticket","value":"restrict project\nowned remarks\nrestrict details.reviewer"}"#)
    )
    let copy = try ModelStore.forTest()
    let source = LineSource(lines)
    try copy.load { source.next() }
    #expect(try copy.read { try $0.deletionRules(ofType: "Ticket") } == Ticket.deletionRules)
  }

  @Test(.overBothBackings, arguments: seeds(6))
  func `random deletes do what a naive reference does`(seed: UInt64)
    throws
  {
    let store = try ModelStore.forTest()
    var random = SeededGenerator(seed: seed)
    var tickets: [Int: Ticket] = [:]
    var projects: Set<Int> = []
    var remarks: [Int: Remark] = [:]
    for _ in 0..<120 {
      let id = Int.random(in: 0..<6, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0, 1:
        let held = (0..<Int.random(in: 0..<3, using: &random)).map { _ in
          Remark(id: Int.random(in: 0..<5, using: &random))
        }
        var seen: Set<Int> = []
        let ticket = Ticket(
          id: id, project: Project(id: Int.random(in: 0..<3, using: &random)),
          remarks: held.filter { seen.insert($0.id).inserted })
        try store.write { try $0.set(ticket) }
        tickets[id] = ticket
        projects.insert(ticket.project.id)
        for remark in ticket.remarks { remarks[remark.id] = remark }
      case 2:
        try store.write { _ = try $0.deleteIfPresent("ticket:\(id)") }
        guard let gone = tickets.removeValue(forKey: id) else { continue }
        for remark in gone.remarks
        where !tickets.values.contains(where: { $0.remarks.contains(remark) }) {
          remarks[remark.id] = nil
        }
      default:
        let isHeld = tickets.values.contains { $0.project.id == id % 3 }
        do {
          try store.write { _ = try $0.deleteIfPresent("project:\(id % 3)") }
          #expect(!isHeld)
          projects.remove(id % 3)
        } catch let error as StoreError {
          #expect(isHeld && error.code == .restricted)
        }
      }
      let stored = try store.read { snapshot in
        (
          try Dictionary(
            uniqueKeysWithValues: (0..<6).compactMap { id in
              try snapshot.get("ticket:\(id)", as: Ticket.self).map { (id, $0) }
            }),
          try Set((0..<3).filter { try snapshot.contains("project:\($0)") }),
          try Set((0..<5).filter { try snapshot.contains("remark:\($0)") })
        )
      }
      try #require(stored.0 == tickets)
      try #require(stored.1 == projects)
      try #require(stored.2 == Set(remarks.keys))
    }
    #expect(try store.verify().problems == [])
  }
}
