import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Waiting for what could not be fetched.
@Suite struct AbsentListeningTests {
  private struct Unreadable: Error {}

  @Test func `listening goes on when the cache throws`() async throws {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = DataProvider<Person>(dataModelManager: manager)
    let answers = Completions<Person>()
    provider.fetchDataFromCache(withCacheKey: "Person:1", listensWhenAbsent: true) {
      answers.add($0, $1, shown: provider.data)
    }
    await cache.waitUntilAsked("Person:1")
    cache.answer("Person:1", nil, error: Unreadable())
    let answer = await answers.first()
    #expect(answer.error is Unreadable)
    manager.updateModel(Person(id: 1, name: "Ada"))
    await manager.drain()
    #expect(provider.data == Person(id: 1, name: "Ada"))
  }

  @Test func `a fetch that is to wait for nothing keeps what is shown when the cache throws`()
    async throws
  {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let bob = Person(id: 2, name: "Bob")
    for listens in [false, true] {
      let provider = DataProvider<Person>(dataModelManager: manager)
      provider.setData(bob)
      let answers = Completions<Person>()
      provider.fetchDataFromCache(withCacheKey: "Person:1", listensWhenAbsent: listens) {
        answers.add($0, $1, shown: provider.data)
      }
      await cache.waitUntilAsked("Person:1", times: listens ? 2 : 1)
      cache.answer("Person:1", nil, error: Unreadable())
      let answer = await answers.first()
      #expect(answer.error is Unreadable)
      #expect(answer.shown == (listens ? nil : bob))
      #expect(provider.modelIdentifier == (listens ? "Person:1" : "Person:2"))
    }
  }

  @Test func `data set since the fetch began stays when the cache throws`() async throws {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = DataProvider<Person>(dataModelManager: manager)
    let answers = Completions<Person>()
    provider.fetchDataFromCache(withCacheKey: "Person:1", listensWhenAbsent: true) {
      answers.add($0, $1, shown: provider.data)
    }
    await cache.waitUntilAsked("Person:1")
    let bob = Person(id: 2, name: "Bob")
    provider.setData(bob)
    cache.answer("Person:1", nil, error: Unreadable())
    #expect(await answers.first().shown == bob)
    manager.updateModel(Person(id: 1, name: "Ada"))
    await manager.drain()
    #expect(provider.data == bob)
  }

  @Test func `listening goes on when a store can't be read as the type`() async throws {
    try await withStore { store in
      try await store.write { try $0.set(Stray(text: "not a person")) }
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<Person>(dataModelManager: manager)
      let answers = Completions<Person>()
      provider.fetchDataFromCache(withCacheKey: "Person:1", listensWhenAbsent: true) {
        answers.add($0, $1, shown: provider.data)
      }
      #expect(await answers.first().error is ModelError)
      try await manager.updateModel(Person(id: 1, name: "Ada")).committed()
      await manager.drain()
      #expect(provider.data == Person(id: 1, name: "Ada"))
      await manager.close()
    }
  }
}

/// A node that lacks what a person requires.
private struct Stray: Model, Codable, Equatable {
  var text: String
  var modelIdentifier: String? { "Person:1" }
}
