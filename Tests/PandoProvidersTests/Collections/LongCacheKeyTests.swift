import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Providers take cache keys of any length.
@Suite struct LongCacheKeyTests {
  @Test func `providers of one long key share a list, those of others do not`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let key = String(repeating: "k", count: 20_000)
      let first = ListFollower<Contact>(manager)
      let second = ListFollower<Contact>(manager)
      let other = ListFollower<Contact>(manager)
      try await first.provider.setData(Contact.list(1), cacheKey: key + "1").committed()
      try await other.provider.setData(Contact.list(2), cacheKey: key + "2").committed()
      try await second.provider.fetchDataFromCache(withCacheKey: key + "1")
      try await first.provider.append([Contact(3)]).committed()
      try await store.write { try $0.append([Contact(4)], toCollection: key + "1") }
      await manager.drain()
      #expect(second.ids == [1, 3, 4])
      #expect(
        second.takeChanges() == [.changes([.insert(index: 1)]), .changes([.insert(index: 2)])])
      #expect(other.ids == [2])
      await manager.close()
    }
  }
}
