import PandoProviders
import PandoModels
import PandoStore
import PandoFixtures
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
    withKnownIssue("a fetch that fails ends the waiting") {
      #expect(provider.data == Person(id: 1, name: "Ada"))
    }
  }
}
