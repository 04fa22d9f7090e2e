import PandoConsistency
import PandoLMDB
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Collections that live in a store.
@Suite struct CollectionStoreTests {
  private func withManager(
    _ body: (DataModelManager, ModelStore) async throws -> Void
  ) async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      try await body(manager, store)
      await manager.close()
    }
  }

  private func stored(_ store: ModelStore, _ key: String = "contacts") throws -> [Contact]? {
    try store.read { try $0.collection(key, as: Contact.self) }
  }

  @Test func `each change reaches the store under the cache key, in order`() async throws {
    try await withManager { manager, store in
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      provider.setData(Contact.list(1, 2, 3), cacheKey: "contacts")
      provider.insert(Contact.list(4, 5), at: 1)
      provider.update(Contact(4, "Dan"), at: 1)
      provider.move(from: 0, to: 4)
      provider.remove(at: 1..<3)
      let last = provider.append([Contact(6)], context: "last")
      #expect(provider.data == [Contact(4, "Dan"), Contact(3), Contact(1), Contact(6)])
      let changeSet = try #require(try await last.committed())
      #expect(changeSet.context as? String == "last")
      #expect(
        changeSet.collections
          == [CollectionUpdate(cacheKey: "contacts", change: .changes([.insert(index: 3)]))])
      #expect(try stored(store) == provider.data)
      #expect(changeSet.commitNumber.value == 6)
    }
  }

  @Test func `without a cache key nothing is stored`() async throws {
    try await withManager { manager, store in
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      provider.setData(Contact.list(1), cacheKey: nil)
      let changeSet = try await provider.append(Contact.list(2)).committed()
      #expect(changeSet == nil)
      let keys = try await store.read { try $0.collectionKeys() }
      #expect(keys.isEmpty)
      #expect(provider.data == Contact.list(1, 2))
    }
  }

  @Test func `siblings show an edit before its commit, and are called after it`() async throws {
    try await withManager { manager, store in
      let first = ListFollower<Contact>(manager)
      let second = ListFollower<Contact>(manager)
      try await first.provider.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
      try await second.provider.fetchDataFromCache(withCacheKey: "contacts")
      await manager.drain()
      func expect(
        _ change: CollectionChange, showing ids: [Int], _ edit: () -> PendingWrite
      ) async throws {
        let gate = WriterGate(store)
        let write = edit()
        #expect(second.ids == ids)
        manager.settle()
        #expect(second.takeCalls().isEmpty)
        gate.open()
        try await write.committed()
        await manager.drain()
        let calls = second.takeCalls()
        #expect(calls.map(\.change) == [change])
        #expect(calls.map { $0.context as? String } == ["edit"])
      }
      try await expect(.changes([.insert(index: 2)]), showing: [1, 2, 3]) {
        first.provider.append([Contact(3)], context: "edit")
      }
      try await expect(.changes([.insert(index: 3)]), showing: [1, 2, 3, 4]) {
        CollectionDataProvider.append(
          [Contact(4)], cacheKey: "contacts", dataModelManager: manager, context: "edit")
      }
      try await expect(.reset, showing: [5]) {
        first.provider.setData(Contact.list(5), cacheKey: "contacts", context: "edit")
      }
      // Of these edits only the static one is another's.
      #expect(first.takeChanges() == [.changes([.insert(index: 3)])])
      #expect(try stored(store) == Contact.list(5))
    }
  }

  @Test func `a write of the store itself changes providers`() async throws {
    try await withManager { manager, store in
      let list = ListFollower<Contact>(manager)
      try await list.provider.setData(Contact.list(1, 2, 3), cacheKey: "contacts").committed()
      try await store.write { transaction in
        try transaction.insert([Contact(4), Contact(5)], at: 1, inCollection: "contacts")
        try transaction.moveElement(from: 0, to: 4, inCollection: "contacts")
        try transaction.set(Contact(3, "Cyd"))
      }
      await manager.drain()
      #expect(
        list.provider.data
          == [Contact(4), Contact(5), Contact(2), Contact(3, "Cyd"), Contact(1)])
      let change = try #require(list.takeChanges().first)
      guard case .changes(let changes) = change else { return #expect(change == .reset) }
      let replayed = Contact.list(1, 2, 3).applying(changes) { list.provider[$0] }
      #expect(replayed == list.provider.data)
      try await store.write { try $0.setCollection("contacts", to: Contact.list(9, 1)) }
      await manager.drain()
      #expect(list.takeChanges() == [.reset])
      #expect(list.ids == [9, 1])
      try await store.write { _ = try $0.removeCollection("contacts") }
      await manager.drain()
      #expect(list.takeChanges() == [.reset])
      #expect(list.ids == [])
    }
  }

  /// So many that the list is made anew instead of changed step by step.
  @Test func `a foreign write of very many changes leads to what is stored`() async throws {
    try await withManager { manager, store in
      let list = ListFollower<Contact>(manager)
      let before = (0..<100).map { Contact($0) }
      try await list.provider.setData(before, cacheKey: "contacts").committed()
      try await store.write { transaction in
        for place in 0..<25 {
          try transaction.removeElements(in: place..<(place + 2), fromCollection: "contacts")
          try transaction.insert(
            [Contact(200 + place)], at: 2 * place % 7, inCollection: "contacts")
        }
        for number in 60..<75 { try transaction.set(Contact(number, "new")) }
      }
      await manager.drain()
      #expect(list.provider.data == (try stored(store)))
      #expect(list.provider.data.count == 75)
      let change = try #require(list.takeChanges().first)
      guard case .changes(let changes) = change else { return #expect(change == .reset) }
      #expect(before.applying(changes) { list.provider[$0] } == list.provider.data)
    }
  }

  @Test func `a deleted model leaves shown and stored collections, also by cascade`()
    async throws
  {
    try await withManager { manager, store in
      let teams = ListFollower<Team>(manager)
      try await teams.provider.setData(
        [
          Team(id: 1, lead: Contact(1)), Team(id: 2, lead: Contact(2), helper: Contact(1)),
          Team(id: 3, lead: Contact(1)),
        ], cacheKey: "teams"
      ).committed()
      try await store.write { try $0.setCollection("unseen", to: Contact.list(1, 2)) }
      try await manager.deleteModel(Contact(1), context: "gone").committed()
      await manager.drain()
      let calls = teams.takeCalls()
      #expect(
        calls.map(\.change) == [
          .changes([.delete(index: 2), .update(index: 1), .delete(index: 0)])
        ])
      #expect(calls.first?.context as? String == "gone")
      #expect(teams.provider.data == [Team(id: 2, lead: Contact(2))])
      #expect(
        try await store.read { try $0.collection("teams", as: Team.self) } == teams.provider.data)
      #expect(try stored(store, "unseen") == Contact.list(2))
    }
  }

  @Test func `the static calls work without a provider, and the others report a miss`()
    async throws
  {
    try await withManager { manager, store in
      typealias Contacts = CollectionDataProvider<Contact>
      let misses = [
        Contacts.insert(Contact.list(1), at: 0, cacheKey: "contacts", dataModelManager: manager),
        Contacts.update(Contact(1), at: 0, cacheKey: "contacts", dataModelManager: manager),
        Contacts.remove(at: 0, cacheKey: "contacts", dataModelManager: manager),
        Contacts.move(from: 0, to: 0, cacheKey: "contacts", dataModelManager: manager),
      ]
      for miss in misses {
        let error = await #expect(throws: DataProviderError.self) { try await miss.committed() }
        #expect(error?.code == .noSuchCollection)
      }
      Contacts.append(Contact.list(1, 2), cacheKey: "contacts", dataModelManager: manager)
      Contacts.insert(Contact.list(3), at: 0, cacheKey: "contacts", dataModelManager: manager)
      Contacts.update(Contact(2, "Bob"), at: 2, cacheKey: "contacts", dataModelManager: manager)
      Contacts.move(from: 0, to: 1, cacheKey: "contacts", dataModelManager: manager)
      try await Contacts.remove(at: 0, cacheKey: "contacts", dataModelManager: manager).committed()
      #expect(try stored(store) == [Contact(3), Contact(2, "Bob")])
      let outside = Contacts.remove(at: 0..<3, cacheKey: "contacts", dataModelManager: manager)
      let error = await #expect(throws: DataProviderError.self) { try await outside.committed() }
      #expect(error?.code == .indexOutOfRange)
      try await Contacts.setData(Contact.list(7), cacheKey: "new", dataModelManager: manager)
        .committed()
      #expect(try stored(store, "new") == Contact.list(7))
    }
  }

  @Test func `static calls of several threads are not split by one another`() async throws {
    try await withManager { manager, store in
      await withTaskGroup { group in
        for id in 0..<200 {
          group.addTask {
            _ = try? await CollectionDataProvider.append(
              [Contact(id)], cacheKey: "contacts", dataModelManager: manager
            ).committed()
          }
        }
      }
      let ids = try stored(store)?.map(\.id) ?? []
      #expect(ids.sorted() == Array(0..<200))
    }
  }

  @Test func `a provider made before its collection exists shows it later`() async throws {
    try await withManager { manager, store in
      let list = ListFollower<Contact>(manager)
      #expect(try await list.provider.fetchDataFromCache(withCacheKey: "contacts") == nil)
      #expect(list.provider.cacheKey == "contacts")
      try await CollectionDataProvider.append(
        Contact.list(1, 2), cacheKey: "contacts", dataModelManager: manager
      ).committed()
      await manager.drain()
      #expect(list.ids == [1, 2])
      #expect(list.takeChanges() == [.changes([.insert(index: 0), .insert(index: 1)])])
      try await store.write { try $0.append(Contact.list(3), toCollection: "contacts") }
      await manager.drain()
      #expect(list.ids == [1, 2, 3])
    }
  }

  @Test func `a failed write is taken back, the caller and the delegate hear of it`() async throws {
    try await withManager { manager, store in
      let first = ListFollower<Contact>(manager)
      let second = ListFollower<Contact>(manager)
      try await first.provider.setData(Contact.list(1), cacheKey: "contacts").committed()
      try await second.provider.fetchDataFromCache(withCacheKey: "contacts")
      let impossible = ""
      let failing = first.provider.setData(Contact.list(5), cacheKey: impossible)
      await #expect(throws: (any Error).self) { try await failing.committed() }
      await manager.drain()
      #expect(first.ids == [])
      #expect(first.takeChanges().count == 1)
      #expect(second.ids == [1])
    }
  }

  @Test func `elements without identifier are stored in the list, and found again`() async throws {
    try await withManager { manager, store in
      let notes = CollectionDataProvider<Jotting>(dataModelManager: manager)
      notes.setData(["a", "b", "a", "c"].map { Jotting(text: $0) }, cacheKey: "notes")
      notes.remove(at: 2)
      notes.update(Jotting(text: "B"), at: 1)
      try await notes.move(from: 2, to: 0).committed()
      #expect(notes.data.map(\.text) == ["c", "a", "B"])
      let stored = try await store.read { try $0.collection("notes", as: Jotting.self) }
      #expect(stored == notes.data)
    }
  }

  @Test func `positions anchor to the element that was seen when others have changed the list`()
    async throws
  {
    try await withManager { manager, store in
      let list = CollectionDataProvider<Contact>(dataModelManager: manager)
      try await list.setData(Contact.list(1, 2, 3, 4), cacheKey: "contacts").committed()
      // Holds the writer, so that what the provider does is queued behind a write it has not seen.
      let gate = WriterGate(store)
      gate.queue { transaction in
        try transaction.insert([Contact(8), Contact(9)], at: 0, inCollection: "contacts")
        try transaction.removeElements(in: 3..<4, fromCollection: "contacts")
      }
      let inserted = list.insert([Contact(5)], at: 2)
      let updated = list.update(Contact(1, "Ada"), at: 0)
      let dropped = list.remove(at: 1)
      let moved = list.move(from: 2, to: 0)
      #expect(list.data.map(\.id) == [3, 1, 5, 4])
      gate.open()
      try await inserted.committed()
      try await updated.committed()
      try await moved.committed()
      let error = await #expect(throws: DataProviderError.self) { try await dropped.committed() }
      #expect(error?.code == .superseded)
      await manager.drain()
      #expect(try stored(store) == list.data)
      #expect(list.data.contains(Contact(1, "Ada")))
    }
  }

  @Test
  func `an older change of a row that was set since is ignored, that of another is taken`()
    async throws
  {
    try await withManager { manager, store in
      let list = ListFollower<Contact>(manager)
      try await list.provider.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
      let gate = WriterGate(store)
      gate.queue { transaction in
        try transaction.set(Contact(1, "old"))
        try transaction.set(Contact(2, "new"))
      }
      let shown = SeenNames(list.provider)
      list.onCall { _ in shown.note() }
      let write = list.provider.update(Contact(1, "newest"), at: 0)
      list.provider.insert([Contact(3)], at: 0)
      gate.open()
      try await write.committed()
      await manager.drain()
      #expect(list.provider.data == [Contact(3), Contact(1, "newest"), Contact(2, "new")])
      #expect(!shown.names.contains("old"))
      #expect(try stored(store) == list.provider.data)
    }
  }

  @Test func `data that is not written is shown, and the next change writes itself alone`()
    async throws
  {
    try await withManager { manager, store in
      let first = ListFollower<Contact>(manager)
      let second = ListFollower<Contact>(manager)
      try await first.provider.setData(Contact.list(1), cacheKey: "contacts").committed()
      try await second.provider.fetchDataFromCache(withCacheKey: "contacts")
      first.provider.setData(Contact.list(5, 6), cacheKey: "contacts", updateCache: false)
      await manager.drain()
      #expect(second.ids == [5, 6])
      #expect(second.takeChanges() == [.reset])
      #expect(try stored(store) == Contact.list(1))
      try await first.provider.append([Contact(7)]).committed()
      await manager.drain()
      #expect(try stored(store) == Contact.list(1, 7))
      #expect(second.ids == [5, 6, 7])
      #expect(second.takeChanges() == [.changes([.insert(index: 2)])])
    }
  }

  @Test func `two managers over one store show the same list`() async throws {
    try await withManager { manager, store in
      let other = try DataModelManager(store: store)
      let first = ListFollower<Contact>(manager)
      let second = ListFollower<Contact>(other)
      try await first.provider.setData(Contact.list(1), cacheKey: "contacts").committed()
      #expect(try await second.provider.fetchDataFromCache(withCacheKey: "contacts") != nil)
      first.provider.insert([Contact(2)], at: 0)
      second.provider.append([Contact(3)])
      await manager.drain()
      await other.drain()
      await manager.drain()
      #expect(first.provider.data == second.provider.data)
      #expect(try stored(store) == first.provider.data)
      await other.close()
    }
  }
}
