import PandoModels
import PandoProviders
import Testing

/// Collections over a custom cache.
@Suite struct CollectionCacheTests {
  let cache = DictionaryCache()
  let manager: DataModelManager

  init() { manager = DataModelManager(cacheDelegate: cache) }

  private func cached(_ key: String = "contacts") async throws -> [Contact]? {
    try await cache.collection(forKey: key, as: Contact.self, context: nil)
  }

  @Test func `each change reaches the cache once, under the key, with the context`()
    async throws
  {
    let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
    provider.setData(Contact.list(1, 2), cacheKey: "contacts", context: "set")
    provider.insert(Contact.list(3), at: 0, context: "insert")
    provider.append(Contact.list(4), context: "append")
    provider.update(Contact(3, "Cyd"), at: 0, context: "update")
    provider.remove(at: 1, context: "remove")
    provider.move(from: 0, to: 2, context: "move")
    await manager.drain()
    #expect(cache.calls == Array(repeating: "set collection contacts", count: 6))
    #expect(cache.contexts == ["set", "insert", "append", "update", "remove", "move"])
    #expect(try await cached() == [Contact(2), Contact(4), Contact(3, "Cyd")])
  }

  @Test func `without a cache key, or when it is not wanted, the cache is not called`()
    async throws
  {
    let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
    provider.setData(Contact.list(1), cacheKey: nil)
    provider.append(Contact.list(2))
    provider.setData(Contact.list(3), cacheKey: "contacts", updateCache: false)
    await manager.drain()
    #expect(cache.calls.isEmpty)
  }

  @Test func `one cache write per operation, and one cache read for all`() async throws {
    try await cache.setCollection(Contact.list(1, 2), forKey: "contacts", context: nil)
    let before = cache.calls.count
    let followers = (0..<4).map { _ in ListFollower<Contact>(manager) }
    await withTaskGroup { group in
      for follower in followers {
        group.addTask {
          let data = try? await follower.provider.fetchDataFromCache(withCacheKey: "contacts")
          #expect(data == Contact.list(1, 2))
          #expect(follower.ids == [1, 2])
        }
      }
    }
    #expect(cache.calls.dropFirst(before) == ["get collection contacts"])
    followers[0].provider.append(Contact.list(3))
    await manager.drain()
    #expect(
      cache.calls.dropFirst(before) == ["get collection contacts", "set collection contacts"])
    #expect(followers.allSatisfy { $0.ids == [1, 2, 3] })
  }

  @Test func `a miss is a miss, and the next fetch asks again`() async throws {
    let list = ListFollower<Contact>(manager)
    #expect(try await list.provider.fetchDataFromCache(withCacheKey: "contacts") == nil)
    try await cache.setCollection(Contact.list(1), forKey: "contacts", context: nil)
    let found = try await list.provider.fetchDataFromCache(withCacheKey: "contacts")
    #expect(found == Contact.list(1))
    #expect(list.ids == [1])
  }

  @Test func `a change of a list that is not loaded changes the stored list`() async throws {
    typealias Contacts = CollectionDataProvider<Contact>
    typealias Change = (DataModelManager) -> PendingWrite
    let changes: [(Change, [Int])] = [
      ({ Contacts.append(Contact.list(4), cacheKey: "c", dataModelManager: $0) }, [1, 2, 3, 4]),
      (
        { Contacts.insert(Contact.list(4), at: 1, cacheKey: "c", dataModelManager: $0) },
        [1, 4, 2, 3]
      ),
      (
        { Contacts.insert(Contact.list(4), at: 0, cacheKey: "c", dataModelManager: $0) },
        [4, 1, 2, 3]
      ),
      ({ Contacts.update(Contact(4), at: 1, cacheKey: "c", dataModelManager: $0) }, [1, 4, 3]),
      ({ Contacts.remove(at: 1, cacheKey: "c", dataModelManager: $0) }, [1, 3]),
      ({ Contacts.move(from: 0, to: 2, cacheKey: "c", dataModelManager: $0) }, [2, 3, 1]),
    ]
    for (change, expected) in changes {
      try await cache.setCollection(Contact.list(1, 2, 3), forKey: "c", context: nil)
      try await change(DataModelManager(cacheDelegate: cache)).committed()
      #expect(try await cached("c")?.map(\.id) == expected)
    }
  }

  @Test func `a cache with completion handlers keeps collections`() async throws {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
    #expect(try await provider.fetchDataFromCache(withCacheKey: "contacts") == nil)
    try await provider.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
    let fresh = CollectionDataProvider<Contact>(
      dataModelManager: DataModelManager(cacheDelegate: cache))
    #expect(try await fresh.fetchDataFromCache(withCacheKey: "contacts") == Contact.list(1, 2))
  }

  @Test func `the static calls load, change and store a list that is not shown`() async throws {
    typealias Contacts = CollectionDataProvider<Contact>
    let miss = Contacts.remove(at: 0, cacheKey: "contacts", dataModelManager: manager)
    let error = await #expect(throws: DataProviderError.self) { try await miss.committed() }
    #expect(error?.code == .noSuchCollection)
    Contacts.append(Contact.list(1), cacheKey: "contacts", dataModelManager: manager)
    Contacts.append(Contact.list(2, 3), cacheKey: "contacts", dataModelManager: manager)
    Contacts.insert(Contact.list(4), at: 1, cacheKey: "contacts", dataModelManager: manager)
    Contacts.update(Contact(3, "Cyd"), at: 3, cacheKey: "contacts", dataModelManager: manager)
    Contacts.move(from: 0, to: 2, cacheKey: "contacts", dataModelManager: manager)
    let write = Contacts.remove(at: 0, cacheKey: "contacts", dataModelManager: manager)
    try await write.committed()
    #expect(try await cached() == [Contact(2), Contact(1), Contact(3, "Cyd")])
  }
}
