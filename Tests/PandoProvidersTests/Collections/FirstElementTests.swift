import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

/// The first element of a list that is not there.
@Suite struct FirstElementTests {
  enum Writer: CaseIterable {
    case provider
    case staticCall
  }

  @Test(arguments: Backing.allCases, Writer.allCases)
  func `every way to append tells it as an insertion`(
    backing: Backing, writer: Writer
  ) async throws {
    try await backing.withManager { manager in
      let follower = ListFollower<Contact>(manager)
      try await follower.provider.fetchDataFromCache(withCacheKey: "contacts")
      var changes = follower.provider.changes.makeAsyncIterator()
      _ = try await changes.next()
      switch writer {
      case .provider:
        let other = CollectionDataProvider<Contact>(dataModelManager: manager)
        try await other.fetchDataFromCache(withCacheKey: "contacts")
        try await other.append([Contact(1)]).committed()
      case .staticCall:
        try await CollectionDataProvider.append(
          [Contact(1)], cacheKey: "contacts", dataModelManager: manager
        ).committed()
      }
      await manager.drain()
      #expect(follower.takeChanges() == [.changes([.insert(index: 0)])])
      #expect(try await changes.next()?.change == .changes([.insert(index: 0)]))
    }
  }

  @Test func `a transaction tells it as an insertion`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let follower = ListFollower<Contact>(manager)
      try await follower.provider.fetchDataFromCache(withCacheKey: "contacts")
      var changes = follower.provider.changes.makeAsyncIterator()
      _ = try await changes.next()
      let commit = try await store.commit { try $0.append([Contact(1)], toCollection: "contacts") }
      #expect(
        commit.changeSet?.change(ofCollection: "contacts") == .changes([.insert(index: 0)]))
      await manager.drain()
      #expect(follower.takeChanges() == [.changes([.insert(index: 0)])])
      #expect(try await changes.next()?.change == .changes([.insert(index: 0)]))
      await manager.close()
    }
  }
}
