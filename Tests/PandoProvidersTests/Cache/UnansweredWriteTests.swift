import PandoFixtures
import PandoModels
import Testing

@testable import PandoProviders

/// A custom cache that keeps the handler of a write.
@Suite struct UnansweredWriteTests {
  private let ada = Person(id: 1, name: "Ada")
  private let bob = Person(id: 2, name: "Bob")

  @Test func `a write without an answer holds back later writes and the reads of their keys only`()
    async throws
  {
    let cache = HandlerCache()
    cache.holdWrite("Person:1")
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = DataProvider<Person>(dataModelManager: manager)
    let sibling = DataProvider<Person>(dataModelManager: manager)
    sibling.listen(to: "Person:2")
    let first = manager.updateModel(ada)
    await cache.waitUntilWriteIsHeld()
    let later = provider.setData(bob)
    manager.settle()
    #expect(provider.data == bob && sibling.data == bob)
    // A read of a key without queued writes is answered.
    let reader = DataProvider<Person>(dataModelManager: manager)
    let read = Completions<Person>()
    reader.fetchDataFromCache(withCacheKey: "Person:3") { read.add($0, $1, shown: nil) }
    await cache.waitUntilAsked("Person:3")
    cache.answer("Person:3", Person(id: 3, name: "Cyd"))
    #expect(await read.first().model?.name == "Cyd")
    // A read of a key whose write is queued waits for that write.
    let waiting = Completions<Person>()
    DataProvider<Person>(dataModelManager: manager)
      .fetchDataFromCache(withCacheKey: "Person:2") { waiting.add($0, $1, shown: nil) }
    manager.settle()
    #expect(cache.asked("Person:2") == 0)
    #expect(cache.writes == ["set Person:1 \(ada)"])
    let reply = try #require(cache.takeWriteReply())
    reply(nil)
    reply(nil)
    try await first.committed()
    try await later.committed()
    await cache.waitUntilAsked("Person:2")
    cache.answer("Person:2", bob)
    #expect(await waiting.first().model == bob)
    await manager.drain()
    #expect(cache.writes == ["set Person:1 \(ada)", "set Person:2 \(bob)"])
  }

  @Test func `a write whose handler the cache releases has failed, and later ones go on`()
    async throws
  {
    let cache = HandlerCache()
    cache.holdWrite("Person:1")
    let manager = DataModelManager(cacheDelegate: cache)
    let write = manager.updateModel(ada)
    await cache.waitUntilWriteIsHeld()
    let later = manager.updateModel(bob)
    _ = cache.takeWriteReply()
    let error = await #expect(throws: DataProviderError.self) { try await write.committed() }
    #expect(error?.code == .cacheNeverAnswered)
    try await later.committed()
    #expect(cache.writes.last == "set Person:2 \(bob)")
  }
}
