import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// What is set with `updateCache: false` over a store, and what is read of the store beside it.
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
      let stored = try store.read { try $0.collection("leads", as: Contact.self) }
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
      let stored = try store.read { try $0.collection("c", as: Contact.self) }
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
      let stored = try store.read { try $0.collection("c", as: Contact.self) }
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
}

extension ModelStore {
  /// The blocking form, which does not wait for live trees.
  fileprivate func writeAndWait(
    _ body: @Sendable (inout ModelTransaction) throws -> Void
  ) throws { try write(body) }
}
