import PandoConsistency
import PandoFixtures
import PandoModels
import PandoSystem
import Testing

@testable import PandoProviders

@Suite struct CollectionFetchingTests {
  @Test(arguments: Backing.allCases)
  func `a later provider takes the data of a living one`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let first = ListFollower<Contact>(manager)
      first.provider.setData(Contact.list(1, 2), cacheKey: "contacts")
      let second = ListFollower<Contact>(manager)
      let data = try await second.provider.fetchDataFromCache(withCacheKey: "contacts")
      #expect(data == Contact.list(1, 2))
      #expect(second.ids == [1, 2])
      first.provider.append([Contact(3)])
      #expect(second.ids == [1, 2, 3])
      await manager.drain()
      #expect(second.takeChanges() == [.changes([.insert(index: 2)])])
    }
  }

  @Test(arguments: Backing.lasting)
  func `a fetched collection is what was set before`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let models = [Contact(1, "Ada"), Contact(2)]
      try await CollectionDataProvider.setData(
        models, cacheKey: "contacts", dataModelManager: manager
      ).committed()
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      #expect(try await provider.fetchDataFromCache(withCacheKey: "contacts") == models)
      #expect(provider.data == models)
      #expect(provider.cacheKey == "contacts")
      let list = ListFollower<Contact>(manager)
      try await list.provider.fetchDataFromCache(withCacheKey: "contacts")
      // A fetched list is listened to like a set one.
      try await manager.updateModel(Contact(2, "Bob")).committed()
      await manager.drain()
      #expect(provider[1].name == "Bob")
      #expect(list.takeChanges() == [.changes([.update(index: 1)])])
    }
  }

  @Test(arguments: Backing.allCases)
  func `the completion is called once, when the data is set`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let other = CollectionDataProvider<Contact>(dataModelManager: manager)
      other.setData(Contact.list(1), cacheKey: "contacts")
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      let calls = Locked<[[Contact]?]>([])
      provider.fetchDataFromCache(withCacheKey: "contacts") { models, error in
        #expect(error == nil)
        #expect(provider.data == Contact.list(1))
        calls.withLock { $0.append(models) }
      }
      // Draining does not wait for a cache.
      await withCheckedContinuation { called in
        provider.fetchDataFromCache(withCacheKey: "absent") { models, _ in
          calls.withLock { $0.append(models) }
          called.resume()
        }
      }
      await manager.drain()
      #expect(calls.withLock { $0 } == [Contact.list(1), nil])
      #expect(provider.data == Contact.list(1))
      #expect(provider.cacheKey == "contacts")
    }
  }

  @Test(arguments: Backing.lasting)
  func `an answer that comes after a sibling has data is ignored`(backing: Backing)
    async throws
  {
    try await backing.withManager { manager in
      try await CollectionDataProvider.setData(
        Contact.list(1), cacheKey: "contacts", dataModelManager: manager
      ).committed()
      let first = ListFollower<Contact>(manager)
      let second = ListFollower<Contact>(manager)
      let answer = Locked<[Contact]?>(nil)
      let answered = Event()
      first.provider.fetchDataFromCache(withCacheKey: "contacts") { models, _ in
        answer.withLock { $0 = models }
        answered.signal()
      }
      second.provider.setData(Contact.list(2, 3), cacheKey: "contacts")
      answered.wait()
      #expect(first.ids == [2, 3])
      #expect(second.ids == [2, 3])
      await manager.drain()
      #expect(first.ids == [2, 3])
    }
  }

  @Test func `a late answer of a cache changes nothing after a sibling's setData`() async throws {
    let cache = HandlerCache()
    cache.holdLists()
    let manager = DataModelManager(cacheDelegate: cache)
    let first = ListFollower<Contact>(manager)
    let second = ListFollower<Contact>(manager)
    let answers = Locked<[[Contact]?]>([])
    let answered = Event()
    first.provider.fetchDataFromCache(withCacheKey: "contacts") { models, _ in
      answers.withLock { $0.append(models) }
      answered.signal()
    }
    await cache.waitUntilAsked("contacts")
    second.provider.setData(Contact.list(2, 3), cacheKey: "contacts")
    await manager.drain()
    _ = first.takeCalls()
    let reply = try #require(cache.takeListReply("contacts"))
    reply(Contact.list(1), nil)
    await answered.happened()
    await manager.drain()
    #expect(answers.withLock { $0 } == [Contact.list(2, 3)])
    #expect(first.ids == [2, 3] && second.ids == [2, 3])
    #expect(cache.writes == ["set collection contacts"])
    #expect(cache.list("contacts") as? [Contact] == Contact.list(2, 3))
    #expect(first.takeCalls().isEmpty && second.takeCalls().isEmpty)
  }

  @Test func `a fetch of a list is answered once though its provider has gone`() async throws {
    let cache = HandlerCache()
    cache.holdLists()
    let manager = DataModelManager(cacheDelegate: cache)
    var provider: CollectionDataProvider<Contact>? = CollectionDataProvider(
      dataModelManager: manager)
    let answers = Locked<[[Contact]?]>([])
    let answered = Event()
    provider?.fetchDataFromCache(withCacheKey: "contacts") { models, error in
      #expect(error == nil)
      answers.withLock { $0.append(models) }
      answered.signal()
    }
    await cache.waitUntilAsked("contacts")
    provider = nil
    let reply = try #require(cache.takeListReply("contacts"))
    reply(Contact.list(1), nil)
    await answered.happened()
    await manager.drain()
    #expect(answers.withLock { $0 } == [Contact.list(1)])
    #expect(manager.liveTypes(of: "Contact:1").isEmpty)
  }

  @Test func `a fetch of a list that was begun before the manager is closed is answered once`()
    async throws
  {
    let cache = HandlerCache()
    cache.holdLists()
    let manager = DataModelManager(cacheDelegate: cache)
    let list = ListFollower<Contact>(manager)
    let answers = Locked<[[Contact]?]>([])
    let answered = Event()
    list.provider.fetchDataFromCache(withCacheKey: "contacts") { models, error in
      #expect(error == nil)
      answers.withLock { $0.append(models) }
      answered.signal()
    }
    await cache.waitUntilAsked("contacts")
    await manager.close()
    let reply = try #require(cache.takeListReply("contacts"))
    reply(Contact.list(1), nil)
    await answered.happened()
    await manager.drain()
    #expect(answers.withLock { $0 } == [Contact.list(1)])
    #expect(list.ids == [1])
  }

  @Test(arguments: Backing.lasting)
  func `an answer for a key that the provider has left is ignored`(backing: Backing) async throws {
    try await backing.withManager { manager in
      try await CollectionDataProvider.setData(
        Contact.list(1), cacheKey: "contacts", dataModelManager: manager
      ).committed()
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      provider.setData(Contact.list(7), cacheKey: nil)
      let answered = Event()
      provider.fetchDataFromCache(withCacheKey: "contacts") { _, _ in answered.signal() }
      provider.setData(Contact.list(8), cacheKey: nil)
      answered.wait()
      #expect(provider.data == Contact.list(8))
      #expect(provider.cacheKey == nil)
    }
  }

  @Test(arguments: Backing.lasting)
  func `an element added before the answer comes after the fetched ones`(backing: Backing)
    async throws
  {
    try await backing.withManager { manager in
      try await CollectionDataProvider.setData(
        Contact.list(1, 2), cacheKey: "contacts", dataModelManager: manager
      ).committed()
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      let answered = Event()
      provider.fetchDataFromCache(withCacheKey: "contacts") { _, _ in answered.signal() }
      provider.append([Contact(3)])
      answered.wait()
      await manager.drain()
      await manager.drain()
      #expect(provider.data == Contact.list(1, 2, 3))
      #expect(
        try await CollectionDataProvider<Contact>(dataModelManager: manager)
          .fetchDataFromCache(withCacheKey: "contacts") == Contact.list(1, 2, 3))
    }
  }

  @Test func `a fetch of elements none of which can be read gives the error`() async throws {
    try await Backing.store.withManager { manager in
      try await CollectionDataProvider.setData(
        [Jotting(text: "a")], cacheKey: "notes", dataModelManager: manager
      ).committed()
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      await #expect(throws: (any Error).self) {
        try await provider.fetchDataFromCache(withCacheKey: "notes")
      }
      #expect(provider.data.isEmpty)
    }
  }

  @Test(arguments: Backing.lasting)
  func `a paused provider that has nothing yet shows what it fetches`(backing: Backing)
    async throws
  {
    try await backing.withManager { manager in
      try await CollectionDataProvider.setData(
        Contact.list(1), cacheKey: "contacts", dataModelManager: manager
      ).committed()
      let list = ListFollower<Contact>(manager)
      list.provider.isPaused = true
      try await list.provider.fetchDataFromCache(withCacheKey: "contacts")
      #expect(list.ids == [1])
      list.provider.isPaused = false
      await manager.drain()
      #expect(list.takeCalls().isEmpty)
    }
  }
}
