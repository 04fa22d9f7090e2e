import PandoConsistency
import PandoModels
import PandoStore
import Testing

@testable import PandoProviders

/// An edit changes what it names, and nothing else: what is shown is never written as a whole.
@Suite struct CollectionWritingTests {
  private typealias Contacts = CollectionDataProvider<Contact>
  private typealias Edit = @Sendable (Contacts) -> Void

  /// Edits of a list of 1, 2 and 3 from which 2 is being deleted, and their results.
  private static let edits: [(name: String, edit: Edit, ids: [Int])] = [
    ("append", { $0.append([Contact(4)]) }, [1, 3, 4]),
    ("insert", { $0.insert([Contact(4)], at: 0) }, [4, 1, 3]),
    ("update", { $0.update(Contact(4), at: 0) }, [4, 3]),
    ("remove", { $0.remove(at: 0) }, [3]),
    ("move", { $0.move(from: 2, to: 0) }, [3, 1]),
    (
      "static append",
      { Contacts.append([Contact(4)], cacheKey: "c", dataModelManager: $0.dataModelManager) },
      [1, 3, 4]
    ),
    (
      "static insert",
      {
        Contacts.insert(
          [Contact(4)], at: 3, cacheKey: "c", dataModelManager: $0.dataModelManager)
      }, [1, 3, 4]
    ),
    (
      "static remove",
      { Contacts.remove(at: 2, cacheKey: "c", dataModelManager: $0.dataModelManager) }, [1]
    ),
  ]

  /// The edit carried the list as it was shown, the deleted element included.
  @Test(arguments: edits.indices)
  func `over a cache, no edit brings back what was deleted just before`(index: Int) async throws {
    let (name, edit, ids) = Self.edits[index]
    let cache = ListCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = Contacts(dataModelManager: manager)
    try await provider.setData(Contact.list(1, 2, 3), cacheKey: "c").committed()
    let gate = Gate(stopping: manager)
    manager.deleteModel(Contact(2))
    edit(provider)
    gate.open()
    await manager.drain()
    #expect(provider.data.map(\.id) == ids, "\(name)")
    #expect(cache["c"]?.map(\.id) == ids, "\(name)")
    #expect(cache.readCount == 0)
  }

  @Test func `over a cache, each write has the list as it is at its own place`() async throws {
    let cache = ListCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let first = Contacts(dataModelManager: manager)
    let second = Contacts(dataModelManager: manager)
    try await first.setData(Contact.list(1, 2), cacheKey: "c").committed()
    try await second.fetchDataFromCache(withCacheKey: "c")
    let gate = Gate(stopping: manager)
    first.append([Contact(3)])
    manager.deleteModel(Contact(1))
    second.insert([Contact(4)], at: 0)
    manager.updateModel(Contact(2, "Bob"))
    first.move(from: 3, to: 0)
    second.setData(Contact.list(9), cacheKey: "c")
    first.append([Contact(5)])
    gate.open()
    await manager.drain()
    #expect(
      cache.given == [
        Contact.list(1, 2), Contact.list(1, 2, 3), Contact.list(2, 3), Contact.list(4, 2, 3),
        [Contact(3), Contact(4), Contact(2, "Bob")], Contact.list(9), Contact.list(9, 5),
      ])
    #expect(cache.readCount == 0)
  }

  @Test func `a list that was never loaded is read, changed and written, once for each edit`()
    async throws
  {
    let cache = ListCache()
    cache["c"] = Contact.list(1, 2)
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = Contacts(dataModelManager: manager)
    provider.setData(Contact.list(7, 8), cacheKey: "c", updateCache: false)
    provider.append([Contact(9)])
    manager.deleteModel(Contact(1))
    provider.insert([Contact(5)], at: 0)
    await manager.drain()
    #expect(provider.data == Contact.list(5, 7, 8, 9))
    #expect(cache["c"] == Contact.list(5, 2, 9))
    try await provider.setData(Contact.list(3), cacheKey: "c").committed()
    let reads = cache.readCount
    try await provider.append([Contact(4)]).committed()
    #expect(cache["c"] == Contact.list(3, 4))
    #expect(cache.readCount == reads)
  }

  /// Each of the edits has read the stored list, before the first was shown.
  @Test func `over a store, edits of a list that was never loaded change it, and show theirs`()
    async throws
  {
    try await withStore { store in
      try await store.write { try $0.setCollection("c", to: Contact.list(1, 2)) }
      let manager = try DataModelManager(store: store)
      let provider = Contacts(dataModelManager: manager)
      let gate = WriterGate(store)
      provider.setData(Contact.list(7, 8), cacheKey: "c", updateCache: false)
      provider.append([Contact(9)])
      manager.deleteModel(Contact(1))
      provider.insert([Contact(5)], at: 0)
      provider.update(Contact(8, "shown"), at: 2)
      provider.remove(at: 1)
      gate.open()
      await manager.drain()
      #expect(provider.data == [Contact(5), Contact(8, "shown"), Contact(9)])
      #expect(
        try await store.read { try $0.collection("c", as: Contact.self) } == Contact.list(5, 2, 9))
      try await store.write { transaction in
        try transaction.append([Contact(3)], toCollection: "c")
        try transaction.removeElements(in: 1..<2, fromCollection: "c")
      }
      await manager.drain()
      #expect(provider.data == [Contact(5), Contact(8, "shown"), Contact(9), Contact(3)])
      try await provider.move(from: 2, to: 0).committed()
      #expect(
        try await store.read { try $0.collection("c", as: Contact.self) } == Contact.list(9, 5, 3))
      try await provider.setData(Contact.list(4), cacheKey: "c").committed()
      try await provider.append([Contact(6)]).committed()
      #expect(
        try await store.read { try $0.collection("c", as: Contact.self) } == Contact.list(4, 6))
      await manager.close()
    }
  }

  /// An edit of a list without a provider has no effect; otherwise all providers show it.
  @Test(arguments: [Backing.cache, .store])
  func `static edits that are not written are shown only`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = Contacts(dataModelManager: manager)
      try await provider.setData(Contact.list(1, 2, 3), cacheKey: "c").committed()
      Contacts.append([Contact(4)], cacheKey: "c", dataModelManager: manager, updateCache: false)
      Contacts.insert(
        [Contact(5)], at: 0, cacheKey: "c", dataModelManager: manager, updateCache: false)
      Contacts.update(
        Contact(2, "new"), at: 2, cacheKey: "c", dataModelManager: manager, updateCache: false)
      Contacts.move(from: 3, to: 1, cacheKey: "c", dataModelManager: manager, updateCache: false)
      Contacts.remove(at: 2, cacheKey: "c", dataModelManager: manager, updateCache: false)
      Contacts.append([Contact(6)], cacheKey: "c", dataModelManager: manager)
      Contacts.append([Contact(7)], cacheKey: "d", dataModelManager: manager, updateCache: false)
      await manager.drain()
      #expect(
        provider.data == [Contact(5), Contact(3), Contact(2, "new"), Contact(4), Contact(6)])
      let fresh =
        switch manager.backing {
        case .store(let bridge): try DataModelManager(store: bridge.store)
        default: manager
        }
      let unseen = Contacts(dataModelManager: manager)
      #expect(try await unseen.fetchDataFromCache(withCacheKey: "d") == nil)
      guard fresh !== manager else { return }
      let stored = Contacts(dataModelManager: fresh)
      #expect(
        try await stored.fetchDataFromCache(withCacheKey: "c") == Contact.list(1, 2, 3, 6))
      await fresh.close()
    }
  }

  @Test func `over a cache, contents that are shown only are not written with the list`()
    async throws
  {
    let cache = ListCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = Contacts(dataModelManager: manager)
    provider.setData(Contact.list(1, 2, 3), cacheKey: "c")
    manager.updateModel(Contact(1, "shown"), updateCache: false)
    manager.deleteModel(Contact(2), updateCache: false)
    try await provider.append([Contact(4)]).committed()
    #expect(provider.data == [Contact(1, "shown"), Contact(3), Contact(4)])
    #expect(cache["c"] == Contact.list(1, 2, 3, 4))
    manager.deleteModel(Contact(2))
    try await manager.updateModel(Contact(1, "both")).committed()
    try await provider.append([Contact(5)]).committed()
    #expect(provider.data == [Contact(1, "both"), Contact(3), Contact(4), Contact(5)])
    #expect(cache["c"] == provider.data)
  }

  @Test func `a cache that throws fails that edit, and no other`() async throws {
    let cache = ListCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let events = EventLog()
    manager.delegate = events
    let provider = Contacts(dataModelManager: manager)
    try await provider.setData(Contact.list(1), cacheKey: "c").committed()
    cache.failWrite(1)
    let writes = (2..<5).map { provider.append([Contact($0)]) }
    try await writes[0].committed()
    await #expect(throws: ListCache.Failure.self) { try await writes[1].committed() }
    try await writes[2].committed()
    await manager.drain()
    #expect(events.failedWrites == [["c"]])
    #expect(cache["c"] == provider.data)
  }

  /// The append wrote the list as it was shown: 1 as it was before, and 2.
  @Test func `over a store, an edit of a list that is shown only writes that edit`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let provider = Contacts(dataModelManager: manager)
      try await provider.setData(Contact.list(1, 2), cacheKey: "c").committed()
      try await provider.setData(Contact.list(2, 1), cacheKey: "c", updateCache: false).committed()
      manager.updateModel(Contact(1, "new"))
      manager.deleteModel(Contact(2))
      try await provider.append([Contact(3)]).committed()
      await manager.drain()
      #expect(provider.data == [Contact(1, "new"), Contact(3)])
      let stored = try await store.read { snapshot in
        let isThere = try snapshot.contains("Contact:2")
        #expect(!isThere)
        return try snapshot.collection("c", as: Contact.self)
      }
      #expect(stored == [Contact(1, "new"), Contact(3)])
      await manager.close()
    }
  }
}
