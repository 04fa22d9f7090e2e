import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// No change is undone by one that follows it.
@Suite struct NeighbourTests {
  typealias Contacts = CollectionDataProvider<Contact>

  /// An edit of the list of contacts 1, 2 and 3, and what it leads to once contact 2 is deleted.
  enum Edit: String, CaseIterable, Sendable {
    case insert, append, update, remove, move, appendWithoutProvider

    func perform(on list: Contacts) -> PendingWrite {
      switch self {
      case .insert: list.insert([Contact(4)], at: 0)
      case .append: list.append([Contact(4)])
      case .update: list.update(Contact(3, "Cyd"), at: 2)
      case .remove: list.remove(at: 0)
      case .move: list.move(from: 0, to: 2)
      case .appendWithoutProvider:
        Contacts.append([Contact(4)], cacheKey: "c", dataModelManager: list.dataModelManager)
      }
    }

    var result: [Contact] {
      switch self {
      case .insert: Contact.list(4, 1, 3)
      case .append, .appendWithoutProvider: Contact.list(1, 3, 4)
      case .update: [Contact(1), Contact(3, "Cyd")]
      case .remove: Contact.list(3)
      case .move: Contact.list(3, 1)
      }
    }
  }

  @Test(arguments: Edit.allCases)
  func `over a cache a deletion stays deleted when the list is edited next`(
    edit: Edit
  ) async throws {
    let cache = DictionaryCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let list = Contacts(dataModelManager: manager)
    try await list.setData(Contact.list(1, 2, 3), cacheKey: "c").committed()
    // So the edit is made while the list still shows what is deleted.
    let gate = Gate(stopping: manager)
    let deletion = manager.deleteModel(Contact(2))
    let write = edit.perform(on: list)
    gate.open()
    try await deletion.committed()
    try await write.committed()
    await manager.drain()
    let cached = try await cache.collection(forKey: "c", as: Contact.self, context: nil)
    #expect(list.data == edit.result)
    #expect(cached == edit.result)
  }

  @Test(arguments: Edit.allCases)
  func `over a store a deletion stays deleted when the list is edited next`(
    edit: Edit
  ) async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let list = Contacts(dataModelManager: manager)
      try await list.setData(Contact.list(1, 2, 3), cacheKey: "c").committed()
      let gate = Gate(stopping: store)
      let deletion = manager.deleteModel(Contact(2))
      let write = edit.perform(on: list)
      gate.open()
      try await deletion.committed()
      try await write.committed()
      await manager.drain()
      let stored = try await store.read { try $0.collection("c", as: Contact.self) }
      #expect(list.data == edit.result)
      #expect(stored == edit.result)
      await manager.close()
    }
  }

  @Test(arguments: Backing.allCases)
  func `an update stays when the list is edited next`(backing: Backing) async throws {
    try await backing.withStoppableManager { manager, stop in
      let list = Contacts(dataModelManager: manager)
      try await list.setData(Contact.list(1, 2), cacheKey: "c").committed()
      let gate = stop()
      let update = manager.updateModel(Contact(1, "Ada"))
      let write = list.append([Contact(3)])
      gate.open()
      try await update.committed()
      try await write.committed()
      await manager.drain()
      #expect(list.data == [Contact(1, "Ada"), Contact(2), Contact(3)])
    }
  }

  @Test(arguments: Backing.allCases)
  func `an update of an element that is gone fails and changes nothing`(
    backing: Backing
  ) async throws {
    try await backing.withStoppableManager { manager, stop in
      let list = Contacts(dataModelManager: manager)
      let tree = DataProvider<Contact>(dataModelManager: manager)
      try await list.setData(Contact.list(1, 2), cacheKey: "c").committed()
      try await tree.setData(Contact(2)).committed()
      let gate = stop()
      let deletion = manager.deleteModel(Contact(2))
      let write = list.update(Contact(2, "Bob"), at: 1)
      gate.open()
      try await deletion.committed()
      await manager.drain()
      let error = await #expect(throws: DataProviderError.self) { try await write.committed() }
      #expect(error?.code == .superseded)
      #expect(list.data == Contact.list(1))
      #expect(tree.data == nil)
    }
  }

  /// The same for edits that set no model, and for those in memory only.
  @Test(
    arguments: Backing.allCases, [Edit.update, .remove, .move])
  func `an edit of an element that is gone fails, in memory only too`(
    backing: Backing, edit: Edit
  ) async throws {
    for updatesCache in [true, false] {
      try await backing.withStoppableManager { manager, stop in
        let list = Contacts(dataModelManager: manager)
        let other = Contacts(dataModelManager: manager)
        try await list.setData(Contact.list(1, 2), cacheKey: "c").committed()
        try await other.fetchDataFromCache(withCacheKey: "c")
        let tree = DataProvider<Contact>(dataModelManager: manager)
        try await tree.setData(Contact(2)).committed()
        let gate = stop()
        let deletion = manager.deleteModel(Contact(2))
        let write =
          switch edit {
          case .remove: list.remove(at: 1, updateCache: updatesCache)
          case .move: list.move(from: 1, to: 0, updateCache: updatesCache)
          default: list.update(Contact(2, "Bob"), at: 1, updateCache: updatesCache)
          }
        gate.open()
        try await deletion.committed()
        let error = await #expect(throws: DataProviderError.self) { try await write.committed() }
        #expect(error?.code == .superseded)
        await manager.drain()
        #expect(list.data == Contact.list(1))
        #expect(other.data == Contact.list(1))
        #expect(tree.data == nil)
      }
    }
  }

  /// The list shows its elements in reverse order, in memory only.
  private func withListShownOnly(
    _ body: (DataModelManager, ModelStore, Contacts) async throws -> Void
  ) async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let list = Contacts(dataModelManager: manager)
      try await list.setData(Contact.list(1, 2), cacheKey: "c").committed()
      try await list.setData(Contact.list(2, 1), cacheKey: "c", updateCache: false).committed()
      try await body(manager, store, list)
      await manager.close()
    }
  }

  @Test func `an update stays on disk when a list that was shown only is edited next`()
    async throws
  {
    try await withListShownOnly { manager, store, list in
      let gate = Gate(stopping: store)
      manager.updateModel(Contact(1, "Ada"))
      let write = list.append([Contact(3)])
      gate.open()
      try await write.committed()
      await manager.drain()
      let stored = try await store.read { try $0.get("Contact:1", as: Contact.self) }
      #expect(stored == Contact(1, "Ada"))
      #expect(list.data.last { $0.id == 1 } == Contact(1, "Ada"))
    }
  }

  @Test func `a deletion stays on disk when a list that was shown only is edited next`()
    async throws
  {
    try await withListShownOnly { manager, store, list in
      let gate = Gate(stopping: store)
      manager.deleteModel(Contact(2))
      let write = list.append([Contact(3)])
      gate.open()
      try await write.committed()
      await manager.drain()
      let (stored, elements) = try await store.read { snapshot in
        (
          try snapshot.get("Contact:2", as: Contact.self),
          try snapshot.collection("c", as: Contact.self)
        )
      }
      #expect(stored == nil)
      #expect(elements == Contact.list(1, 3))
      #expect(list.data == Contact.list(1, 3))
    }
  }
}
