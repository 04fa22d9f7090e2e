import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// The store or cache without a provider.
@Suite struct CachingTests {
  private struct Unreadable: Error {}

  private let ada = Person(id: 1, name: "Ada")
  private let bob = Person(id: 2, name: "Bob")

  @Test(arguments: Backing.lasting)
  func `a cached model is found, and an absent one is nil`(backing: Backing) async throws {
    try await backing.withManager { manager in
      manager.cacheModel(ada, forKey: "Person:1")
      manager.cacheCollection([bob, ada], forKey: "people")
      let found: Person? = try await manager.modelFromCache("Person:1")
      #expect(found == ada)
      let list = try await manager.collectionFromCache("people", as: Person.self)
      #expect(list == [bob, ada])
      for key in ["Person:3", "nobody", nil] {
        let model = try await manager.modelFromCache(key, as: Person.self)
        let models = try await manager.collectionFromCache(key, as: Person.self)
        #expect(model == nil)
        #expect(models == nil)
      }
    }
  }

  @Test func `a cache gets key and context unchanged, and no delegate is called`() async throws {
    let cache = DictionaryCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = DataProvider<Person>(dataModelManager: manager)
    let log = DelegateLog()
    provider.delegate = log
    provider.setData(ada, updateCache: false)
    manager.cacheModel(Person(id: 1, name: "Other"), forKey: "by address", context: "a")
    manager.cacheCollection([bob], forKey: "people", context: "b")
    await manager.drain()
    _ = try await manager.modelFromCache("by address", as: Person.self, context: "c")
    _ = try await manager.collectionFromCache("people", as: Person.self, context: "d")
    await manager.drain()
    #expect(
      cache.calls == [
        "set by address", "set collection people", "get by address", "get collection people",
      ])
    #expect(cache.contexts == ["a", "b", "c", "d"])
    #expect(provider.data == ada)
    #expect(log.calls.isEmpty)
  }

  @Test func `a model cached in a store is shown`() async throws {
    try await Backing.store.withManager { manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      let list = CollectionDataProvider<Person>(dataModelManager: manager)
      let log = DelegateLog()
      provider.delegate = log
      provider.setData(ada)
      list.setData([ada], cacheKey: "people")
      await manager.drain()
      let grace = Person(id: 1, name: "Grace")
      try await manager.cacheModel(grace, forKey: "Person:1", context: "kept").committed()
      manager.cacheCollection([bob, grace], forKey: "people")
      await manager.drain()
      #expect(provider.data == grace)
      #expect(list.data == [bob, grace])
      #expect(log.contexts == ["kept"])
    }
  }

  @Test func `a read of a store comes behind the writes that are queued`() async throws {
    try await Backing.store.withStoppableManager { manager, stop in
      try await manager.cacheModel(ada, forKey: "Person:1").committed()
      let gate = stop()
      manager.cacheModel(Person(id: 1, name: "Grace"), forKey: "Person:1")
      let answers = Completions<Person>()
      manager.modelFromCache("Person:1") { (model: Person?, error) in
        answers.add(model, error, shown: nil)
      }
      gate.open()
      #expect(await answers.first().model?.name == "Grace")
    }
  }

  @Test(arguments: Backing.lasting)
  func `draining waits for the completions of reads of a store and of writes`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let write = manager.cacheCollection([ada], forKey: "people")
      let answers = Completions<Person>()
      manager.collectionFromCache("people") { (models: [Person]?, error) in
        answers.add(models?.first, error, shown: nil)
      }
      await manager.drain()
      #expect(write.error == nil)
      try await write.committed()
      if backing.hasStore { #expect(answers.calls.count == 1) }
      #expect(await answers.first().model == ada)
    }
  }

  @Test func `the errors of a cache reach the caller, those of writes the manager's delegate too`()
    async throws
  {
    let cache = HandlerCache()
    cache.failWrites(with: Unreadable())
    let manager = DataModelManager(cacheDelegate: cache)
    let events = EventLog()
    manager.delegate = events
    await #expect(throws: Unreadable.self) {
      try await manager.cacheModel(ada, forKey: "Person:1").committed()
    }
    await manager.drain()
    #expect(events.failedWrites == [["Person:1"]])
    let answers = Completions<Person>()
    manager.modelFromCache("Person:1") { (model: Person?, error) in
      answers.add(model, error, shown: nil)
    }
    await cache.waitUntilAsked("Person:1")
    cache.answer("Person:1", nil, error: Unreadable())
    #expect(await answers.first().error is Unreadable)
  }

  @Test func `a store refuses another key than the identifier, and what can't be stored`()
    async throws
  {
    try await Backing.store.withManager { manager in
      let events = EventLog()
      manager.delegate = events
      let refused = [
        manager.cacheModel(ada, forKey: "by address"),
        manager.cacheModel(Sketch(id: 1), forKey: "Sketch:1"),
        manager.cacheCollection([Sketch(id: 1)], forKey: "sketches"),
      ]
      let codes = refused.map { ($0.error as? DataProviderError)?.code }
      #expect(codes == [.wrongKey, .notCodable, .notCodable])
      await manager.drain()
      #expect(events.refusals.count == 3)
      let found = try await manager.modelFromCache("by address", as: Person.self)
      #expect(found == nil)
      await #expect(throws: DataProviderError.self) {
        try await manager.modelFromCache("Sketch:1", as: Sketch.self)
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func `a closed manager refuses all four`(backing: Backing) async throws {
    try await backing.withManager { manager in
      await manager.close()
      for write in [
        manager.cacheModel(ada, forKey: "Person:1"), manager.cacheCollection([ada], forKey: "a"),
      ] {
        #expect((write.error as? DataProviderError)?.code == .closed)
      }
      await #expect(throws: DataProviderError.self) {
        try await manager.modelFromCache("Person:1", as: Person.self)
      }
      let answers = Completions<Person>()
      manager.collectionFromCache("a") { (models: [Person]?, error) in
        answers.add(nil, error, shown: nil)
      }
      #expect((await answers.first().error as? DataProviderError)?.code == .closed)
    }
  }
}
