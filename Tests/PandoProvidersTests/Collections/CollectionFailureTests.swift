import PandoConsistency
import PandoLMDB
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Writes that fail, and stored elements that can't be read.
@Suite struct CollectionFailureTests {
  @Test func `a failed write is replayed without, and the others are not affected`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let first = ListFollower<Brittle>(manager)
      let second = ListFollower<Brittle>(manager)
      try await first.provider.setData([Brittle(1), Brittle(2)], cacheKey: "list").committed()
      try await second.provider.fetchDataFromCache(withCacheKey: "list")
      await manager.drain()
      let gate = WriterGate(store)
      let failing = first.provider.insert([Brittle(3, "fails")], at: 0)
      let added = first.provider.append([Brittle(4)])
      let failingUpdate = first.provider.update(Brittle(2, "fails"), at: 2)
      let updated = first.provider.update(Brittle(1, "new"), at: 1)
      #expect(first.provider.data.map(\.id) == [3, 1, 2, 4])
      #expect(second.provider.data == first.provider.data)
      gate.open()
      await #expect(throws: (any Error).self) { try await failing.committed() }
      await #expect(throws: (any Error).self) { try await failingUpdate.committed() }
      #expect(failing.error != nil)
      try await added.committed()
      try await updated.committed()
      await manager.drain()
      let expected = [Brittle(1, "new"), Brittle(2), Brittle(4)]
      #expect(first.provider.data == expected)
      #expect(second.provider.data == expected)
      let stored = try await store.read { try $0.collection("list", as: Brittle.self) }
      #expect(stored == expected)
      // The second failure takes back an update: the element is again what it was.
      #expect(
        first.takeChanges() == [.changes([.delete(index: 0)]), .changes([.update(index: 1)])])
      #expect(
        second.takeChanges() == [.changes([.insert(index: 2)]), .changes([.update(index: 0)])])
      await manager.close()
    }
  }

  @Test func `elements that can't be read leave the list as it was, until they are gone`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let list = ListFollower<Contact>(manager)
      try await list.provider.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
      try await store.write { transaction in
        try transaction.append([Jotting(text: "no contact")], toCollection: "contacts")
      }
      await manager.drain()
      #expect(list.ids == [1, 2])
      try await store.write { transaction in
        try transaction.insert([Contact(3)], at: 0, inCollection: "contacts")
        try transaction.removeElements(in: 3..<4, fromCollection: "contacts")
      }
      await manager.drain()
      #expect(list.ids == [3, 1, 2])
      #expect(list.takeChanges() == [.changes([.insert(index: 0)])])
      try await list.provider.append([Contact(4)]).committed()
      let stored = try await store.read { try $0.collection("contacts", as: Contact.self) }
      #expect(stored == Contact.list(3, 1, 2, 4))
      await manager.close()
    }
  }

  @Test(arguments: [Backing.memory, .store])
  func `an element removed and inserted elsewhere is reported as moved`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let first = ListFollower<Contact>(manager)
      let second = ListFollower<Contact>(manager)
      try await first.provider.setData(Contact.list(1, 2, 3, 4), cacheKey: "contacts").committed()
      try await second.provider.fetchDataFromCache(withCacheKey: "contacts")
      first.provider.move(from: 3, to: 1)
      await manager.drain()
      #expect(second.ids == [1, 4, 2, 3])
      #expect(second.takeChanges() == [.changes([.move(from: 3, to: 1)])])
      second.provider.isPaused = true
      first.provider.remove(at: 0)
      first.provider.append([Contact(1, "Ada")])
      await manager.drain()
      second.provider.isPaused = false
      await manager.drain()
      #expect(second.takeChanges() == [.changes([.move(from: 0, to: 3), .update(index: 3)])])
      #expect(second.provider[3] == Contact(1, "Ada"))
    }
  }

  @Test func `a list whose elements can't be stored is refused, and shown without a store`()
    async throws
  {
    struct Plain: SimpleModel, Equatable {
      var id: Int
      var modelIdentifier: String? { "Plain:\(id)" }
    }
    try await Backing.store.withManager { manager in
      let provider = CollectionDataProvider<Plain>(dataModelManager: manager)
      let write = provider.setData([Plain(id: 1)], cacheKey: "plain")
      #expect((write.error as? DataProviderError)?.code == .notCodable)
      #expect(provider.data.isEmpty)
      provider.setData([Plain(id: 1)], cacheKey: nil)
      #expect(provider.data == [Plain(id: 1)])
    }
    let provider = CollectionDataProvider<Plain>(dataModelManager: DataModelManager())
    provider.setData([Plain(id: 1)], cacheKey: "plain")
    #expect(provider.data == [Plain(id: 1)])
  }

  @Test func `after the manager is closed changes are refused`() async throws {
    try await Backing.store.withManager { manager in
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      provider.setData(Contact.list(1), cacheKey: "contacts")
      await manager.close()
      let write = provider.append([Contact(2)])
      #expect((write.error as? DataProviderError)?.code == .closed)
      #expect(provider.data == Contact.list(1))
    }
  }
}
