import PandoProviders
import PandoModels
import PandoFixtures
import Testing

/// What a cache answers, and what is live.
@Suite struct CacheFetchTests {
  private let cache = HandlerCache()
  private let manager: DataModelManager

  init() { manager = DataModelManager(cacheDelegate: cache) }

  /// Fetches a team; runs something while the cache is asked.
  private func fetch(
    _ team: Team, whileAsked body: () async throws -> Void = {}
  ) async throws -> DataProvider<Team> {
    let provider = DataProvider<Team>(dataModelManager: manager)
    let answers = Completions<Team>()
    provider.fetchDataFromCache(withCacheKey: "Team:\(team.id)") {
      answers.add($0, $1, shown: provider.data)
    }
    await cache.waitUntilAsked("Team:\(team.id)")
    try await body()
    cache.answer("Team:\(team.id)", team)
    _ = await answers.first()
    await manager.drain()
    return provider
  }

  @Test func `a tree from a cache shows nodes that are live as they are live`() async throws {
    let live = DataProvider<Contact>(dataModelManager: manager)
    try await live.setData(Contact(1, "new")).committed()
    let team = try await fetch(Team(id: 1, lead: Contact(1, "old"), helper: Contact(2)))
    #expect(live.data == Contact(1, "new"))
    withKnownIssue("what a cache answers is shown as it is") {
      #expect(team.data == Team(id: 1, lead: Contact(1, "new"), helper: Contact(2)))
    }
  }

  @Test func `a node that was changed while the cache was asked is shown as it is now`()
    async throws
  {
    let team = try await fetch(Team(id: 1, lead: Contact(1, "old"))) {
      try await manager.updateModel(Contact(1, "new")).committed()
    }
    withKnownIssue("what a cache answers is shown as it is") {
      #expect(team.data == Team(id: 1, lead: Contact(1, "new")))
    }
  }

  @Test func `a node that was deleted while the cache was asked is not shown`() async throws {
    let team = try await fetch(Team(id: 1, lead: Contact(1), helper: Contact(2))) {
      try await manager.deleteModel(Contact(2)).committed()
    }
    withKnownIssue("what a cache answers is shown as it is") {
      #expect(team.data == Team(id: 1, lead: Contact(1)))
    }
  }

  @Test func `a list from a cache shows nodes that are live as they are live`() async throws {
    cache.setCollection(
      [Contact(1, "old"), Contact(2)], forKey: "contacts", context: nil
    ) { _ in
    }
    let live = DataProvider<Contact>(dataModelManager: manager)
    try await live.setData(Contact(1, "new")).committed()
    let list = CollectionDataProvider<Contact>(dataModelManager: manager)
    try await list.fetchDataFromCache(withCacheKey: "contacts")
    await manager.drain()
    #expect(live.data == Contact(1, "new"))
    withKnownIssue("what a cache answers is shown as it is") {
      #expect(list.data == [Contact(1, "new"), Contact(2)])
    }
  }
}
