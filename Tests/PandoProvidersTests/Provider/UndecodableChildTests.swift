import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Providers of a tree of which a node can't be decoded any more.
@Suite struct UndecodableChildTests {
  private static let team = Team(
    id: 1, lead: Contact(1, "Ada"), helper: Contact(2, "Bob"), members: [Contact(3)])

  /// The record of the team, with another helper.
  private static func team(helper: TreeValue) -> TreeNode {
    TreeNode(
      "Team:1", type: "Team",
      fields: [
        "id": 1, "lead": .reference(identifier: "Contact:1", typeName: "Contact"),
        "helper": helper, "members": [],
      ])
  }

  private static func broken(_ id: Int64) -> TreeNode {
    TreeNode("Contact:\(id)", type: "Contact", fields: ["id": .integer(id)])
  }

  private func withTeam(
    _ body: (DataProvider<Team>, DataModelManager, ModelStore, EventLog) async throws -> Void
  ) async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let events = EventLog()
      manager.delegate = events
      let provider = DataProvider<Team>(dataModelManager: manager)
      try await provider.setData(Self.team).committed()
      try await body(provider, manager, store, events)
      await manager.close()
    }
  }

  @Test func `a provider keeps an undecodable child, and reports it once`() async throws {
    try await withTeam { provider, manager, store, events in
      try await store.write { try $0.set(Self.broken(1)) }
      await manager.drain()
      #expect(provider.data == Self.team)
      #expect(events.failedReads == ["Contact:1"])
      try await store.write { try $0.set(Contact(2, "Bobby")) }
      await manager.drain()
      #expect(provider.data?.helper?.name == "Bobby")
      #expect(provider.data?.lead.name == "Ada")
      try await store.write { try $0.set(Contact(1, "Grace")) }
      await manager.drain()
      #expect(provider.data?.lead.name == "Grace")
      #expect(events.failedReads == ["Contact:1"])
    }
  }

  @Test func `changes made meanwhile are shown when the child can be decoded again`() async throws {
    try await withTeam { provider, manager, store, events in
      try await store.write { try $0.set(Self.broken(1)) }
      try await store.write { try $0.set(Self.team(helper: .null)) }
      await manager.drain()
      #expect(provider.data == Self.team)
      #expect(events.failedReads == ["Contact:1", "Team:1"])
      try await store.write { try $0.set(Contact(7, "nobody's")) }
      await manager.drain()
      #expect(provider.data == Self.team)
      try await store.write { try $0.set(Contact(1, "Grace")) }
      await manager.drain()
      #expect(provider.data == Team(id: 1, lead: Contact(1, "Grace")))
      #expect(try await store.read { try $0.get("Team:1", as: Team.self) } == provider.data)
      #expect(events.failedReads == ["Contact:1", "Team:1"])
    }
  }

  @Test func `a new child that can't be decoded comes with its repair`() async throws {
    try await withTeam { provider, manager, store, events in
      try await store.write { transaction in
        try transaction.set(Self.broken(9))
        try transaction.set(
          Self.team(helper: .reference(identifier: "Contact:9", typeName: "Contact")))
      }
      await manager.drain()
      #expect(provider.data == Self.team)
      #expect(events.failedReads == ["Team:1"])
      try await store.write { try $0.set(Contact(9, "new")) }
      await manager.drain()
      #expect(provider.data == Team(id: 1, lead: Contact(1, "Ada"), helper: Contact(9, "new")))
    }
  }

  @Test(arguments: seeds(16))
  func `random mistakes and repairs leave what can be read`(seed: UInt64) async throws {
    try await withStore { store in
      var random = SeededGenerator(seed: seed)
      let manager = try DataModelManager(store: store)
      let list = ListReplica(manager)
      let teams = ListFollower<Team>(manager)
      try await teams.provider.setData(
        (0..<4).map { Team(id: $0, lead: Contact($0), helper: Contact($0 + 1)) }, cacheKey: "teams"
      ).committed()
      try await list.provider.setData((0..<6).map { Contact($0) }, cacheKey: "contacts").committed()
      let providers = (0..<4).map { _ in DataProvider<Team>(dataModelManager: manager) }
      for (id, provider) in providers.enumerated() {
        try await provider.fetchDataFromCache(withCacheKey: "Team:\(id)")
      }
      for step in 0..<60 {
        for _ in 0..<Int.random(in: 1..<3, using: &random) {
          try Self.disturb(store, step, &random)
        }
        await manager.drain()
        for (id, provider) in providers.enumerated() {
          let stored = try? await store.read { try $0.get("Team:\(id)", as: Team.self) }
          if let stored { #expect(provider.data == stored, "seed \(seed), step \(step)") }
        }
        let listed = try await store.read { try $0.collection("teams", as: Team.self) { _ in } }
        #expect(teams.provider.data == listed, "seed \(seed), step \(step)")
        let contacts = try await store.read {
          try $0.collection("contacts", as: Contact.self) { _ in }
        }
        #expect(list.provider.data == contacts, "seed \(seed), step \(step)")
        list.check("seed \(seed), step \(step)")
      }
      await manager.close()
    }
  }

  /// Queues a write of somebody who knows no manager.
  private static func disturb(
    _ store: ModelStore, _ step: Int, _ random: inout SeededGenerator
  ) throws {
    let id = Int.random(in: 0..<8, using: &random)
    let other = Int.random(in: 0..<8, using: &random)
    let kind = Int.random(in: 0..<6, using: &random)
    @Sendable func reference(_ id: Int) -> TreeValue {
      .reference(identifier: "Contact:\(id)", typeName: "Contact")
    }
    try store.submit(ticket: "elsewhere", context: nil) { transaction in
      switch kind {
      case 0...1: try transaction.set(Self.broken(Int64(id)))
      case 2: try transaction.set(Contact(id, "step \(step)"))
      case 3:
        try transaction.set(Team(id: id % 4, lead: Contact(other, "typed \(step)")))
      case 4:
        for contact in [id, other] where try !transaction.snapshot.contains("Contact:\(contact)") {
          try transaction.set(Self.broken(Int64(contact)))
        }
        try transaction.set(
          TreeNode(
            "Team:\(id % 4)", type: "Team",
            fields: [
              "id": .integer(Int64(id % 4)), "lead": reference(id), "helper": reference(other),
              "members": [],
            ]))
      default:
        try transaction.set(TreeNode("Team:\(id % 4)", type: "Team", fields: ["id": "none"]))
      }
    }
  }
}
