import PandoModels
import PandoProviders
import PandoStore
import Testing

/// For which writes of a store a fetch waits.
@Suite struct FetchWaitingTests {
  @Test func `a fetch of what no write touches waits for none, one that finds nothing for all`()
    async throws
  {
    try await withStore { store in
      let ada = Person(id: 1, name: "Ada")
      let bob = Person(id: 2, name: "Bob")
      try await store.write { try $0.set(ada) }
      let manager = try DataModelManager(store: store)
      let writer = WriterGate(store)
      manager.updateModel(bob)
      let other = DataProvider<Person>(dataModelManager: manager)
      let completions = Completions<Person>()
      other.fetchDataFromCache(withCacheKey: "Person:2") { completions.add($0, $1, shown: nil) }
      // Asked for after the other one, and needs no write.
      let provider = DataProvider<Person>(dataModelManager: manager)
      #expect(try await provider.fetchDataFromCache(withCacheKey: "Person:1") == ada)
      #expect(completions.calls.isEmpty)
      writer.open()
      #expect(await completions.first().model == bob)
      await manager.close()
    }
  }
}
