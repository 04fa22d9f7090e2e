import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Data set with `updateCache: false` over a store, and reads of the store beside them.
@Suite struct ShownOnlyTests {
  private typealias Contacts = CollectionDataProvider<Contact>

  private struct Club: Model, Codable, Equatable {
    var id: Int
    var name: String
    var lead: Contact
    var modelIdentifier: String? { "Club:\(id)" }
  }

  /// A projection of ``Club``.
  private struct ClubName: Model, Codable, Equatable {
    var id: Int
    var name: String
    var modelIdentifier: String? { "Club:\(id)" }
  }

  /// A projection of ``Team``.
  private struct TeamLead: Model, Codable, Equatable {
    var id: Int
    var lead: Contact
    var modelIdentifier: String? { "Team:\(id)" }
  }

  /// A stored contact that a provider shows with another name.
  private func withContact(
    _ body: (DataModelManager, ModelStore, DataProvider<Contact>) async throws -> Void
  ) async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let item = DataProvider<Contact>(dataModelManager: manager)
      try await item.setData(Contact(1, "stored")).committed()
      try await item.setData(Contact(1, "shown"), updateCache: false).committed()
      try await body(manager, store, item)
      await manager.close()
    }
  }

  /// Changes made while the pipeline stands still, of which the first one has to be read.
  private func inOneGroup(
    _ manager: DataModelManager, _ store: ModelStore, _ changes: () throws -> Void
  ) async throws {
    let club = DataProvider<Club>(dataModelManager: manager)
    try await club.setData(Club(id: 9, name: "old", lead: Contact(9))).committed()
    let gate = Gate(stopping: manager)
    try store.writeAndWait { try $0.set(ClubName(id: 9, name: "new")) }
    try changes()
    try store.writeAndWait { _ in }
    gate.open()
    await manager.drain()
    #expect(club.data?.name == "new")
  }

  @Test func `a tree that is fetched shows it`() async throws {
    try await withContact { manager, store, item in
      try await store.write { try $0.set(Club(id: 1, name: "A", lead: Contact(2))) }
      try await store.write { try $0.setCollection("leads", to: [Contact(2)]) }
      try await item.setData(Contact(2, "shown"), updateCache: false).committed()
      let club = DataProvider<Club>(dataModelManager: manager)
      try await club.fetchDataFromCache(withCacheKey: "Club:1")
      let list = Contacts(dataModelManager: manager)
      try await list.fetchDataFromCache(withCacheKey: "leads")
      manager.snapshot { snapshot in
        #expect(snapshot.data(of: club)?.lead == Contact(2, "shown"))
        #expect(snapshot.data(of: list) == [Contact(2, "shown")])
        #expect(snapshot.data(of: item) == Contact(2, "shown"))
      }
      // It stays off the disk.
      try await list.append([Contact(3)]).committed()
      let stored = try await store.read { try $0.collection("leads", as: Contact.self) }
      #expect(stored == Contact.list(2, 3))
      #expect(list.data == [Contact(2, "shown"), Contact(3)])
    }
  }

  @Test func `a list that is read with several commits shows it`() async throws {
    try await withContact { manager, store, item in
      let list = Contacts(dataModelManager: manager)
      try await list.setData([Contact(1, "stored")], cacheKey: "c").committed()
      try await item.setData(Contact(1, "shown"), updateCache: false).committed()
      try await inOneGroup(manager, store) { list.append([Contact(3)]) }
      manager.snapshot { snapshot in
        #expect(snapshot.data(of: item) == Contact(1, "shown"))
        #expect(snapshot.data(of: list) == [Contact(1, "shown"), Contact(3)])
      }
      let stored = try await store.read { try $0.collection("c", as: Contact.self) }
      #expect(stored == [Contact(1, "stored"), Contact(3)])
    }
  }

  @Test func `a list that is read with what is set in memory shows that`() async throws {
    try await withContact { manager, store, item in
      let list = Contacts(dataModelManager: manager)
      try await list.setData([Contact(1, "stored")], cacheKey: "c").committed()
      try await inOneGroup(manager, store) {
        list.append([Contact(3)])
        item.setData(Contact(1, "newest"), updateCache: false)
        list.append([Contact(4)])
      }
      manager.snapshot { snapshot in
        #expect(snapshot.data(of: item) == Contact(1, "newest"))
        #expect(snapshot.data(of: list) == [Contact(1, "newest"), Contact(3), Contact(4)])
      }
    }
  }

  @Test func `a list that is read with what is deleted in memory lacks that`() async throws {
    try await withContact { manager, store, item in
      let list = Contacts(dataModelManager: manager)
      try await list.setData([Contact(1), Contact(2)], cacheKey: "c").committed()
      try await inOneGroup(manager, store) {
        list.append([Contact(3)])
        manager.deleteModel(Contact(1), updateCache: false)
        list.append([Contact(4)])
      }
      manager.snapshot { snapshot in
        #expect(snapshot.data(of: item) == nil)
        #expect(snapshot.data(of: list) == Contact.list(2, 3, 4))
      }
      try await list.remove(at: 0).committed()
      let stored = try await store.read { try $0.collection("c", as: Contact.self) }
      #expect(stored == Contact.list(1, 3, 4))
      #expect(list.data == Contact.list(3, 4))
    }
  }

  @Test func `a tree that is read with several commits shows it`() async throws {
    try await withContact { manager, store, item in
      let club = DataProvider<Club>(dataModelManager: manager)
      try await club.setData(Club(id: 1, name: "A", lead: Contact(1, "stored"))).committed()
      try await item.setData(Contact(1, "shown"), updateCache: false).committed()
      try await inOneGroup(manager, store) {
        try store.writeAndWait { try $0.set(ClubName(id: 1, name: "B")) }
      }
      manager.snapshot { snapshot in
        #expect(snapshot.data(of: item) == Contact(1, "shown"))
        #expect(
          snapshot.data(of: club) == Club(id: 1, name: "B", lead: Contact(1, "shown")))
      }
    }
  }

  /// A node deleted in memory reappeared with a tree that was read, and only there.
  @Test func `a tree that is read lacks what was deleted in memory`() async throws {
    try await withContact { manager, store, item in
      let club = DataProvider<Club>(dataModelManager: manager)
      let team = DataProvider<Team>(dataModelManager: manager)
      let list = Contacts(dataModelManager: manager)
      let lead = Contact(2, "stored")
      try await team.setData(Team(id: 1, lead: lead, helper: Contact(1, "stored"))).committed()
      try await club.setData(Club(id: 1, name: "A", lead: Contact(1, "stored"))).committed()
      try await store.write { try $0.setCollection("c", to: [Contact(1, "stored"), lead]) }
      try await manager.deleteModel(Contact(1), updateCache: false).committed()
      #expect(club.data == nil)
      #expect(team.data == Team(id: 1, lead: lead))
      try await inOneGroup(manager, store) {
        try store.writeAndWait { try $0.set(TeamLead(id: 1, lead: Contact(2, "new"))) }
        try store.writeAndWait { try $0.set(ClubName(id: 1, name: "B")) }
      }
      #expect(team.data == Team(id: 1, lead: Contact(2, "new")))
      #expect(club.data == nil)
      #expect(item.data == nil)
      let other = DataProvider<Team>(dataModelManager: manager)
      #expect(try await other.fetchDataFromCache(withCacheKey: "Team:1") == team.data)
      #expect(try await list.fetchDataFromCache(withCacheKey: "c") == [Contact(2, "new")])
      try await list.append([Contact(3)]).committed()
      let stored = try await store.read { try $0.collection("c", as: Contact.self)?.map(\.id) }
      #expect(stored == [1, 2, 3])
      // A write that stores what is stored already sets it.
      try await store.write { try $0.set(Contact(1, "stored")) }
      #expect(item.data == Contact(1, "stored"))
    }
  }

  /// The new element was shown, with the node inside it.
  @Test func `an element that requires what was deleted in memory is not shown`() async throws {
    try await withContact { manager, store, item in
      let list = CollectionDataProvider<Club>(dataModelManager: manager)
      let other = Club(id: 2, name: "B", lead: Contact(2))
      try await list.setData([other], cacheKey: "clubs").committed()
      try await store.write { try $0.set(Club(id: 1, name: "A", lead: Contact(1, "stored"))) }
      try await manager.deleteModel(Contact(1), updateCache: false).committed()
      try await store.write { transaction in
        try transaction.append(
          [.reference(identifier: "Club:1", typeName: "Club")], toCollection: "clubs")
      }
      #expect(list.data == [other])
      #expect(item.data == nil)
      try await list.append([Club(id: 3, name: "C", lead: Contact(2))]).committed()
      let stored = try await store.read { try $0.collection("clubs", as: Club.self)?.map(\.id) }
      #expect(stored == [2, 1, 3])
      #expect(list.data.map(\.id) == [2, 3])
    }
  }

  /// The store lacks it, so that was what a fetch said.
  @Test func `a fetch finds a node that is only shown`() async throws {
    try await withContact { manager, store, _ in
      let list = Contacts(dataModelManager: manager)
      try await list.setData([], cacheKey: "c").committed()
      let shown = Contact(5, "shown")
      try await list.append([shown], updateCache: false).committed()
      let item = DataProvider<Contact>(dataModelManager: manager)
      #expect(try await item.fetchDataFromCache(withCacheKey: "Contact:5") == shown)
      #expect(item.data == shown)
      let listening = DataProvider<Contact>(dataModelManager: manager)
      listening.listen(to: "Contact:5")
      await manager.drain()
      #expect(listening.data == shown)
      let card = DataProvider<ContactCard>(dataModelManager: manager)
      #expect(try await card.fetchDataFromCache(withCacheKey: "Contact:5") == nil)
      try await manager.deleteModel(shown, updateCache: false).committed()
      await manager.drain()
      #expect(listening.data == nil)
      #expect(try await item.fetchDataFromCache(withCacheKey: "Contact:5") == nil)
    }
  }

  /// With a cache, the fetch returned what the provider showed at the pause.
  @Test(arguments: [Backing.cache, .store, .storeInMemory])
  func `a paused provider shows what it fetches, though it was deleted in memory`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Contact>(dataModelManager: manager)
      try await manager.updateModel(Contact(1, "stored")).committed()
      provider.isPaused = true
      try await manager.deleteModel(Contact(1), updateCache: false).committed()
      await manager.drain()
      let found = try await provider.fetchDataFromCache(withCacheKey: "Contact:1")
      #expect(found == Contact(1, "stored"))
      #expect(provider.data == Contact(1, "stored"))
    }
  }

  /// The fetching provider showed it, and a provider that waited for it showed nothing.
  @Test(arguments: [Backing.cache, .store, .storeInMemory])
  func `a fetch of a node deleted in memory shows it everywhere again`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let (own, other) = (
        DataProvider<Contact>(dataModelManager: manager),
        DataProvider<Contact>(dataModelManager: manager)
      )
      let delegate = DelegateLog()
      other.delegate = delegate
      try await own.setData(Contact(1, "stored")).committed()
      other.listen(to: "Contact:1")
      try await manager.updateModel(Contact(1, "shown"), updateCache: false).committed()
      try await manager.deleteModel(Contact(1), updateCache: false).committed()
      await manager.drain()
      #expect(own.data == nil)
      #expect(other.data == nil)
      let callCount = delegate.calls.count
      #expect(try await own.fetchDataFromCache(withCacheKey: "Contact:1") == Contact(1, "stored"))
      await manager.drain()
      #expect(own.data == Contact(1, "stored"))
      #expect(other.data == Contact(1, "stored"))
      #expect(delegate.calls.count == callCount + 1)
      try await manager.updateModel(Contact(1, "new")).committed()
      #expect(own.data == Contact(1, "new"))
      #expect(other.data == Contact(1, "new"))
    }
  }
}

extension ModelStore {
  /// The blocking form, which does not wait for live trees.
  fileprivate func writeAndWait(
    _ body: @Sendable (inout ModelTransaction) throws -> Void
  ) throws { try write(body) }
}
