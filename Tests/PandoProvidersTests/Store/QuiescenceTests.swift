import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Several tasks change nodes and a list at random and wait for nothing; where all is quiet everybody
/// shows the same, was told so, and that is stored.
@Suite struct QuiescenceTests {
  private typealias Contacts = CollectionDataProvider<Contact>

  private static let idCount = 8
  private static let roundCount = 3
  private static let stepCount = 20

  /// The objects that the tasks use, and those that are compared.
  private struct Rig: Sendable {
    let manager: DataModelManager
    let lists: [Contacts]
    /// Is told of what the others do.
    let watcher: ListReplica
    let trees: [DataProvider<Contact>]
    let setters: [DataProvider<Contact>]

    init(_ manager: DataModelManager) async throws {
      self.manager = manager
      lists = (0..<3).map { _ in Contacts(dataModelManager: manager) }
      watcher = ListReplica(manager)
      trees = (0..<QuiescenceTests.idCount).map { _ in DataProvider(dataModelManager: manager) }
      setters = lists.map { _ in DataProvider(dataModelManager: manager) }
      try await lists[0].setData(Contact.list(0, 1, 2, 3), cacheKey: "c").committed()
      for list in lists { try await list.fetchDataFromCache(withCacheKey: "c") }
      try await watcher.provider.fetchDataFromCache(withCacheKey: "c")
      for (id, tree) in trees.enumerated() { tree.listen(to: "Contact:\(id)") }
      await manager.drain()
      watcher.check("at the beginning")
    }

    /// Makes one random call.
    func change(_ task: Int, _ name: String, _ random: inout SeededGenerator) {
      let list = lists[task]
      let contact = Contact(Int.random(in: 0..<QuiescenceTests.idCount, using: &random), name)
      let data = list.data
      let place = Int.random(in: 0...data.count, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<2: manager.updateModel(contact)
      case 2..<4: manager.deleteModel(contact)
      case 4: setters[task].setData(contact)
      case 5: list.append([contact])
      case 6: Contacts.append([contact], cacheKey: "c", dataModelManager: manager)
      // Another task may have made it shorter: then the call is refused.
      case 7: list.insert([contact], at: place)
      case 8: list.remove(at: place)
      default: list.move(from: place, to: Int.random(in: 0...data.count, using: &random))
      }
    }

    /// Compares everything in memory.
    func check(_ comment: Comment) {
      let data = watcher.provider.data
      for list in lists { #expect(list.data == data, comment) }
      watcher.check(comment)
      let live = data.map { trees[$0.id].data }
      #expect(live == data, comment)
    }
  }

  private func run(
    _ manager: DataModelManager, _ seed: UInt64,
    compareStored: (_ shown: [Contact], _ nodes: [Contact?]) async throws -> Void
  ) async throws {
    let rig = try await Rig(manager)
    for round in 0..<Self.roundCount {
      await withTaskGroup { group in
        for task in 0..<rig.lists.count {
          group.addTask {
            var random = SeededGenerator(seed: seed << 16 + UInt64(round << 8 + task))
            for step in 0..<Self.stepCount { rig.change(task, "\(round).\(task).\(step)", &random) }
          }
        }
      }
      await manager.drain()
      await manager.drain()
      rig.check("seed \(seed), round \(round)")
      try await compareStored(rig.watcher.provider.data, rig.trees.map(\.data))
    }
  }

  @Test(arguments: seeds(5))
  func `in memory all show the same values, and were notified`(seed: UInt64) async throws {
    try await run(DataModelManager(), seed) { _, _ in }
  }

  @Test(arguments: seeds(5))
  func `over a store all show the stored values, and were notified`(seed: UInt64) async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      try await run(manager, seed) { shown, nodes in
        let (list, stored) = try store.read { snapshot in
          (
            try snapshot.collection("c", as: Contact.self),
            try nodes.indices.map { try snapshot.get("Contact:\($0)", as: Contact.self) }
          )
        }
        #expect(list == shown, "seed \(seed)")
        #expect(stored == nodes, "seed \(seed)")
      }
      await manager.close()
    }
  }

  @Test(arguments: seeds(5))
  func `over a cache all show the stored values, and were notified`(seed: UInt64) async throws {
    let cache = DictionaryCache()
    try await run(DataModelManager(cacheDelegate: cache), seed) { shown, _ in
      let stored = try await cache.collection(forKey: "c", as: Contact.self, context: nil)
      #expect(stored?.map(\.id) == shown.map(\.id), "seed \(seed)")
    }
  }
}
