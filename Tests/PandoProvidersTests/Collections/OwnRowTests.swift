import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// A provider gets no call for rows that it has just inserted itself.
@Suite struct OwnRowTests {
  @Test func `over a cache a provider is not notified of its own new row`()
    async throws
  {
    let manager = DataModelManager(cacheDelegate: DictionaryCache())
    let list = ListFollower<Contact>(manager)
    try await list.provider.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
    let gate = Gate(stopping: manager)
    manager.deleteModel(Contact(1))
    list.provider.append([Contact(3)])
    gate.open()
    await manager.drain()
    let changes = list.takeChanges()
    #expect(changes == [.changes([.delete(index: 0)])])
  }

  @Test func `over a store a provider is not notified of its own new row`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let list = ListFollower<Contact>(manager)
      let gate = Gate(stopping: store)
      list.provider.setData(Contact.list(1, 2), cacheKey: "contacts")
      list.provider.append([Contact(3)])
      gate.open()
      await manager.drain()
      #expect(list.ids == [1, 2, 3])
      let changes = list.takeChanges()
      #expect(changes == [])
      await manager.close()
    }
  }

  @Test
  func
    `over a store a provider of a list only shown is not notified of its own new row`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let list = ListFollower<Contact>(manager)
      try await list.provider.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
      try await list.provider.setData(
        Contact.list(2, 1), cacheKey: "contacts", updateCache: false
      ).committed()
      let gate = Gate(stopping: store)
      manager.deleteModel(Contact(1))
      list.provider.append([Contact(3)])
      gate.open()
      await manager.drain()
      let changes = list.takeChanges()
      #expect(changes == [.changes([.delete(index: 1)])])
      await manager.close()
    }
  }
}
