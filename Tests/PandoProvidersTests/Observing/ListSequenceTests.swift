import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

/// The elements of the sequences of a list.
@Suite struct ListSequenceTests {
  /// Has the identifiers of contacts, and no name.
  private struct Badge: Model, Codable, Equatable {
    var id: Int
    var colour: String
    var modelIdentifier: String? { "Contact:\(id)" }
  }

  @Test func `a sequence goes on when an element has left that can't be read any more`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let list = CollectionDataProvider<Contact>(dataModelManager: manager)
      try await list.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
      var values = list.values.makeAsyncIterator()
      try await expectNext(&values, Contact.list(1, 2))
      let gate = Gate(stopping: store)
      manager.deleteModel(Contact(1))
      manager.updateModel(Badge(id: 1, colour: "red"))
      gate.open()
      await manager.drain()
      let stored = try await store.read { try $0.collection("contacts", as: Contact.self) }
      #expect(stored == Contact.list(2))
      try await expectNext(&values, Contact.list(2))
      // What is left of it now is what it ends with.
      await manager.close()
      try await expectEnd(&values)
    }
  }

  /// How often the changes of a sequence did not lead from one list to the next.
  private func omissions(
    _ list: CollectionDataProvider<Contact>, until isLast: @escaping @Sendable ([Contact]) -> Bool
  ) async throws -> Int {
    var count = 0
    var data: [Contact]?
    for try await element in list.changes {
      if case .changes(let steps) = element.change, let old = data {
        let new = old.applying(steps) { element.data[$0] }
        if new != element.data { count += 1 }
      }
      data = element.data
      if isLast(element.data) { break }
    }
    return count
  }

  @Test func `changes omit no update when an element was deleted in memory only`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      var count = 0
      // It shows in some rounds only.
      for round in 0..<100 where count == 0 {
        let list = CollectionDataProvider<Contact>(dataModelManager: manager)
        try await list.setData(Contact.list(1, 2, 3, 4), cacheKey: "\(round)").committed()
        await manager.drain()
        let follower = Task { try await omissions(list) { $0.contains { $0.id == 5 } } }
        let gate = Gate(stopping: store)
        manager.deleteModel(Contact(1), updateCache: false)
        let update = list.update(Contact(4, "\(round)"), at: 3)
        gate.open()
        try await update.committed()
        try await list.append([Contact(5)]).committed()
        count += try await follower.value
        try await manager.deleteModel(Contact(5)).committed()
      }
      #expect(count == 0)
      await manager.close()
    }
  }

  @Test(arguments: seeds(12))
  func `the changes of a sequence lead from one list to the next`(
    seed: UInt64
  ) async throws {
    try await withStore { store in
      var random = SeededGenerator(seed: seed)
      let manager = try DataModelManager(store: store)
      let list = CollectionDataProvider<Contact>(dataModelManager: manager)
      try await list.setData((0..<5).map { Contact($0) }, cacheKey: "contacts").committed()
      let follower = Task { try await omissions(list) { $0.last?.id == 100 } }
      for step in 0..<24 {
        Self.change(list, manager, "\(step)", &random)
        if Bool.random(using: &random) { await manager.drain() }
      }
      try await list.append([Contact(100)]).committed()
      let count = try await follower.value
      #expect(count == 0, "seed \(seed)")
      await manager.close()
    }
  }

  private static func change(
    _ list: CollectionDataProvider<Contact>, _ manager: DataModelManager, _ name: String,
    _ random: inout SeededGenerator
  ) {
    let count = list.count
    let id = Int.random(in: 0..<8, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: manager.deleteModel(Contact(id))
    case 1: manager.updateModel(Contact(id, name))
    case 2: list.insert([Contact(id, name)], at: Int.random(in: 0...count, using: &random))
    case 3 where count > 0:
      list.update(Contact(id, name), at: Int.random(in: 0..<count, using: &random))
    case 4 where count > 0: list.remove(at: Int.random(in: 0..<count, using: &random))
    case 5 where count > 0:
      list.move(
        from: Int.random(in: 0..<count, using: &random),
        to: Int.random(in: 0..<count, using: &random))
    default: break
    }
  }
}
