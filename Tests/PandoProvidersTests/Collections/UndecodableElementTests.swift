import PandoConsistency
import PandoFixtures
import PandoModels
import PandoStore
import Testing

@testable import PandoProviders

/// Lists over a store of which elements can't be decoded: they are left out and reported, and they come
/// back.
@Suite struct UndecodableElementTests {
  /// Holds a team.
  private struct Division: Model, Codable, Equatable {
    var id: Int
    var team: Team
    var modelIdentifier: String? { "Division:\(id)" }
  }

  /// The record of a contact without its name.
  static func broken(_ id: Int) -> TreeNode {
    TreeNode("Contact:\(id)", type: "Contact", fields: ["id": .integer(Int64(id))])
  }

  /// The elements of a stored list that can be decoded.
  static func decodable(_ store: ModelStore, _ key: String = "contacts") throws -> [Contact]? {
    try store.read { try $0.collection(key, as: Contact.self) { _ in } }
  }

  private func identifiers(_ store: ModelStore) throws -> [String] {
    try store.read { try $0.collectionTrees("contacts", depth: 0) ?? [] }.map { element in
      guard case .reference(let identifier, _) = element else { return "a value" }
      return identifier
    }
  }

  private func withManager(
    _ body: (DataModelManager, ModelStore, EventLog) async throws -> Void
  ) async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let events = EventLog()
      manager.delegate = events
      try await body(manager, store, events)
      await manager.close()
    }
  }

  @Test func `a fetch leaves one out, and live updates and edits find the right places`()
    async throws
  {
    try await withManager { manager, store, events in
      try await store.write { transaction in
        try transaction.setCollection("contacts", to: Contact.list(1, 2, 3, 4, 5))
        try transaction.set(Self.broken(3))
      }
      let list = ListFollower<Contact>(manager)
      let fetched = try await list.provider.fetchDataFromCache(withCacheKey: "contacts")
      #expect(fetched == Contact.list(1, 2, 4, 5))
      #expect(list.ids == [1, 2, 4, 5])
      await manager.drain()
      #expect(events.failedReads == ["Contact:3"])
      guard case .failedRead(let error, _) = try #require(events.events.first) else { return }
      #expect((error as? UndecodableRecord)?.error.field == "name")

      try await store.write { try $0.set(Contact(4, "Dan")) }
      try await store.write { transaction in
        try transaction.append([Contact(6)], toCollection: "contacts")
        try transaction.moveElement(from: 4, to: 0, inCollection: "contacts")
      }
      await manager.drain()
      #expect(list.ids == [5, 1, 2, 4, 6])
      #expect(
        list.takeChanges() == [
          .changes([.update(index: 2)]),
          .changes([.move(from: 3, to: 0), .insert(index: 4)]),
        ])

      try await list.provider.update(Contact(4, "Dora"), at: 3).committed()
      try await list.provider.insert([Contact(7)], at: 3).committed()
      try await list.provider.remove(at: 0).committed()
      try await list.provider.move(from: 4, to: 1).committed()
      await manager.drain()
      #expect(
        list.provider.data == [Contact(1), Contact(6), Contact(2), Contact(7), Contact(4, "Dora")])
      #expect(try Self.decodable(store) == list.provider.data)
      #expect(try identifiers(store).contains("Contact:3"))
      #expect(list.takeChanges().isEmpty)

      try await store.write { try $0.set(Contact(3, "Cleo")) }
      await manager.drain()
      #expect(try await store.read { try $0.collection("contacts") } == list.provider.data)
      let place = try #require(list.ids.firstIndex(of: 3))
      #expect(list.takeChanges() == [.changes([.insert(index: place)])])
      #expect(events.failedReads == ["Contact:3"])
      // From now on commits are shown without reading the list.
      try await store.write { try $0.append([Contact(8)], toCollection: "contacts") }
      await manager.drain()
      #expect(list.takeChanges() == [.changes([.insert(index: 6)])])
    }
  }

  @Test func `a live list loses what becomes undecodable, once, and gets it back`() async throws {
    try await withManager { manager, store, events in
      let list = ListFollower<Contact>(manager)
      try await list.provider.setData(Contact.list(1, 2, 3, 4, 5), cacheKey: "contacts").committed()
      var values = list.provider.values.makeAsyncIterator()
      try await expectNext(&values, Contact.list(1, 2, 3, 4, 5))
      try await store.write { transaction in
        try transaction.set(Self.broken(3))
        try transaction.insert([Contact(6)], at: 1, inCollection: "contacts")
      }
      await manager.drain()
      try await expectNext(&values, Contact.list(1, 6, 2, 4, 5))
      #expect(
        list.takeChanges() == [.changes([.delete(index: 2), .insert(index: 1)])])
      try await store.write { try $0.set(Contact(4, "Dan")) }
      try await store.write {
        try $0.set(TreeNode("Contact:3", type: "Contact", fields: ["id": 3]))
      }
      try await store.write { try $0.append([Contact(7)], toCollection: "contacts") }
      await manager.drain()
      #expect(list.ids == [1, 6, 2, 4, 5, 7])
      #expect(events.failedReads == ["Contact:3"])
      #expect(
        list.takeChanges() == [.changes([.update(index: 3)]), .changes([.insert(index: 5)])])
      manager.updateModel(Contact(3, "Cleo"))
      await manager.drain()
      #expect(list.ids == [1, 6, 2, 3, 4, 5, 7])
      #expect(list.takeChanges() == [.changes([.insert(index: 3)])])
      try await expectNext(&values, list.provider.data)
      // It is news again.
      try await store.write { try $0.set(Self.broken(3)) }
      try await store.write { _ = try $0.deleteIfPresent("Contact:3") }
      await manager.drain()
      #expect(list.ids == [1, 6, 2, 4, 5, 7])
      #expect(events.failedReads == ["Contact:3", "Contact:3"])
      try await store.write { try $0.append([Contact(8)], toCollection: "contacts") }
      await manager.drain()
      #expect(try await store.read { try $0.collection("contacts") } == list.provider.data)
    }
  }

  @Test func `an element goes and comes with a child, however deep it is`() async throws {
    try await withManager { manager, store, events in
      let lead = Contact(1, "Ada")
      let list = ListFollower<Division>(manager)
      let divisions = [
        Division(id: 1, team: Team(id: 1, lead: lead)),
        Division(id: 2, team: Team(id: 2, lead: Contact(2))),
      ]
      try await list.provider.setData(divisions, cacheKey: "divisions").committed()
      try await store.write { try $0.set(Self.broken(1)) }
      await manager.drain()
      #expect(list.provider.data == [divisions[1]])
      #expect(events.failedReads == ["Division:1"])
      // Neither the element nor the bad record is written.
      try await store.write { try $0.set(Team(id: 1, lead: Contact(3))) }
      await manager.drain()
      #expect(list.provider.data.map(\.team.lead.id) == [3, 2])
      try await store.write { transaction in
        try transaction.set(Team(id: 1, lead: lead))
        try transaction.set(Self.broken(1))
      }
      await manager.drain()
      #expect(list.provider.data == [divisions[1]])
      try await store.write { try $0.set(lead) }
      await manager.drain()
      #expect(list.provider.data == divisions)
    }
  }

  @Test func `a list that is set as a whole is complete again`() async throws {
    try await withManager { manager, store, events in
      try await store.write { transaction in
        try transaction.setCollection("contacts", to: Contact.list(1, 2))
        try transaction.set(Self.broken(2))
      }
      let list = ListFollower<Contact>(manager)
      let other = ListFollower<Contact>(manager)
      try await list.provider.fetchDataFromCache(withCacheKey: "contacts")
      try await other.provider.fetchDataFromCache(withCacheKey: "contacts")
      try await list.provider.setData(Contact.list(3, 4), cacheKey: "contacts").committed()
      try await store.write { try $0.set(Contact(2, "Bob")) }
      try await store.write { try $0.append([Contact(2)], toCollection: "contacts") }
      await manager.drain()
      #expect(list.ids == [3, 4, 2])
      #expect(other.ids == [3, 4, 2])
      #expect(events.failedReads == ["Contact:2"])
    }
  }

  @Test func `values without identifier keep their places beside one that is none`() async throws {
    try await withManager { manager, store, events in
      try await store.write { transaction in
        try transaction.setCollection(
          "notes", to: [["text": "a"], ["number": 1], ["text": "b"], ["text": "c"]])
      }
      let list = ListFollower<Jotting>(manager)
      try await list.provider.fetchDataFromCache(withCacheKey: "notes")
      #expect(list.provider.data.map(\.text) == ["a", "b", "c"])
      try await list.provider.update(Jotting(text: "B"), at: 1).committed()
      try await list.provider.remove(at: 2).committed()
      try await list.provider.insert([Jotting(text: "d")], at: 0).committed()
      await manager.drain()
      #expect(list.provider.data.map(\.text) == ["d", "a", "B"])
      let stored = try await store.read { try $0.collectionTrees("notes") }
      #expect(stored == [["text": "d"], ["text": "a"], ["number": 1], ["text": "B"]])
      #expect(events.failedReads == ["notes"])
      try await store.write {
        try $0.update(["text": "1"], at: 2, inCollection: "notes")
      }
      await manager.drain()
      #expect(list.provider.data.map(\.text) == ["d", "a", "1", "B"])
    }
  }

  @Test func `an element that is only shown stays where others leave and return`() async throws {
    try await withManager { manager, store, events in
      let list = ListFollower<Contact>(manager)
      try await list.provider.setData(Contact.list(1, 2, 3), cacheKey: "contacts").committed()
      list.provider.append([Contact(9)], updateCache: false)
      await manager.drain()
      try await store.write { try $0.set(Self.broken(2)) }
      await manager.drain()
      #expect(list.ids == [1, 3, 9])
      try await store.write { try $0.set(Contact(3, "Cleo")) }
      try await store.write { try $0.append([Contact(4)], toCollection: "contacts") }
      await manager.drain()
      #expect(list.provider.data == [Contact(1), Contact(3, "Cleo"), Contact(9), Contact(4)])
      try await store.write { try $0.set(Contact(2, "Bob")) }
      await manager.drain()
      #expect(list.ids == [1, 2, 3, 9, 4])
      #expect(list.provider[1] == Contact(2, "Bob"))
      #expect(events.failedReads == ["Contact:2"])
    }
  }

  @Test func `a closure finds a position in the stored list if no provider shows it`()
    async throws
  {
    try await withManager { manager, store, _ in
      try await store.write { transaction in
        try transaction.setCollection("contacts", to: Contact.list(1, 2, 3))
        try transaction.set(Self.broken(1))
      }
      typealias Contacts = CollectionDataProvider<Contact>
      try await Contacts.update(
        Contact(3, "new"), at: { $0.firstIndex { $0.id == 3 } }, cacheKey: "contacts",
        dataModelManager: manager
      ).committed()
      try await Contacts.insert(
        [Contact(4)], at: { $0.count }, cacheKey: "contacts", dataModelManager: manager
      ).committed()
      #expect(
        try identifiers(store) == ["Contact:1", "Contact:2", "Contact:3", "Contact:4"])
      #expect(try Self.decodable(store)?.last == Contact(4))
    }
  }

  @Test(arguments: seeds(16))
  func `random edits among random mistakes lead to what can be read`(seed: UInt64) async throws {
    try await withManager { manager, store, _ in
      var random = SeededGenerator(seed: seed)
      let second = try DataModelManager(store: store)
      let actors = (0..<2).map { _ in ListReplica(manager) }
      let watchers = [ListReplica(manager), ListReplica(second)]
      actors[0].provider.setData(Contact.list(0, 1, 2, 3, 4, 5), cacheKey: "contacts")
      await manager.drain()
      for replica in actors + watchers {
        try await replica.provider.fetchDataFromCache(withCacheKey: "contacts")
      }
      await manager.drain()
      await second.drain()
      for replica in actors + watchers { replica.check("at the beginning") }
      for step in 0..<40 {
        let gate = WriterGate(store)
        for _ in 0..<Int.random(in: 0..<3, using: &random) { try Self.disturb(store, &random) }
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
          actors[step % 2].change(&random, resets: step % 9 == 8)
        }
        gate.open()
        if step % 2 == 0 { try Self.disturb(store, &random) }
        if step % 5 == 0 { watchers[0].provider.isPaused.toggle() }
        await manager.drain()
        await second.drain()
        let stored = try Self.decodable(store)
        for (number, replica) in (actors + watchers).enumerated() {
          if replica.provider.isPaused { continue }
          #expect(replica.provider.data == stored, "seed \(seed), step \(step)")
          replica.check("seed \(seed), step \(step), provider \(number)")
        }
      }
      await second.close()
    }
  }

  /// Queues a write of somebody who knows no manager, which may break an element or repair it.
  private static func disturb(_ store: ModelStore, _ random: inout SeededGenerator) throws {
    let id = Int.random(in: 0..<12, using: &random)
    let kind = Int.random(in: 0..<7, using: &random)
    let number = Int.random(in: 0..<100, using: &random)
    try store.submit(ticket: "elsewhere", context: nil) { transaction in
      let count = try transaction.snapshot.collectionCount("contacts") ?? 0
      switch kind {
      case 0...1: try transaction.set(Self.broken(id))
      case 2: try transaction.set(Contact(id, "repaired \(number)"))
      case 3:
        try transaction.append([.node(Self.broken(id))], toCollection: "contacts")
      case 4 where count > 1:
        try transaction.moveElement(
          from: number % count, to: id % count, inCollection: "contacts")
      case 5 where count > 0:
        try transaction.removeElements(
          in: (number % count)..<(number % count + 1), fromCollection: "contacts")
      case 6: _ = try transaction.deleteIfPresent("Contact:\(id)")
      default: break
      }
    }
  }
}
