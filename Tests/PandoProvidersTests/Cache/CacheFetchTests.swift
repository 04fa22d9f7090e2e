import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoSystem
import Testing

/// Fetches from a cache beside live nodes.
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
    #expect(team.data == Team(id: 1, lead: Contact(1, "new"), helper: Contact(2)))
  }

  @Test func `a node that was changed while the cache was asked is shown as it is now`()
    async throws
  {
    let team = try await fetch(Team(id: 1, lead: Contact(1, "old"))) {
      try await manager.updateModel(Contact(1, "new")).committed()
    }
    #expect(team.data == Team(id: 1, lead: Contact(1, "new")))
  }

  @Test func `a node that was deleted while the cache was asked is not shown`() async throws {
    let team = try await fetch(Team(id: 1, lead: Contact(1), helper: Contact(2))) {
      try await manager.deleteModel(Contact(2)).committed()
    }
    #expect(team.data == Team(id: 1, lead: Contact(1)))
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
    #expect(list.data == [Contact(1, "new"), Contact(2)])
  }

  @Test func `a node that is live as another type gives what both have`() async throws {
    let live = DataProvider<ContactCard>(dataModelManager: manager)
    try await live.setData(ContactCard(id: 1, name: "new", phone: "1")).committed()
    let team = try await fetch(Team(id: 1, lead: Contact(1, "old")))
    #expect(team.data == Team(id: 1, lead: Contact(1, "new")))
    #expect(live.data == ContactCard(id: 1, name: "new", phone: "1"))
  }

  @Test func `a root that another provider shows is shown as it shows it`() async throws {
    let other = DataProvider<Team>(dataModelManager: manager)
    let delegate = DelegateLog()
    try await other.setData(Team(id: 1, lead: Contact(1, "new"))).committed()
    other.delegate = delegate
    let team = try await fetch(Team(id: 1, lead: Contact(1, "old"), helper: Contact(2)))
    #expect(team.data == Team(id: 1, lead: Contact(1, "new")))
    #expect(other.data == Team(id: 1, lead: Contact(1, "new")))
    #expect(delegate.calls.isEmpty)
  }

  @Test func `a fetch shows the live node of a consistency manager's listener`() async throws {
    final class Listener: ConsistencyManagerListener {
      func currentModel() -> (any Model)? { Contact(1, "new") }
      func modelUpdated(
        _ model: (any Model)?, updates: ModelUpdates, context: (any Sendable)?
      ) {}
    }
    let listener = Listener()
    manager.consistencyManager.addListener(listener)
    let team = try await fetch(Team(id: 1, lead: Contact(1, "old")))
    #expect(team.data == Team(id: 1, lead: Contact(1, "new")))
    withExtendedLifetime(listener) {}
  }

  @Test func `a node deleted and set again during a fetch is shown as set`()
    async throws
  {
    let team = try await fetch(Team(id: 1, lead: Contact(1, "old"), helper: Contact(2))) {
      manager.deleteModel(Contact(1))
      manager.updateModel(Contact(1, "again"))
      manager.deleteModel(Contact(2))
      try await manager.updateModel(ContactCard(id: 2, name: "card", phone: "")).committed()
    }
    // The helper came back as something that can't be shown as a contact.
    #expect(team.data == Team(id: 1, lead: Contact(1, "again")))
  }

  @Test func `a root that was deleted while the cache was asked leaves nothing`() async throws {
    let team = try await fetch(Team(id: 1, lead: Contact(1))) {
      try await manager.deleteModel(Contact(1)).committed()
    }
    #expect(team.data == nil)
  }

  @Test func `a cache is asked again when too much has changed meanwhile`() async throws {
    let provider = DataProvider<Team>(dataModelManager: manager)
    let answers = Completions<Team>()
    provider.fetchDataFromCache(withCacheKey: "Team:1") { [weak provider] in
      answers.add($0, $1, shown: provider?.data)
    }
    await cache.waitUntilAsked("Team:1")
    manager.updateModels((0..<70_000).map { Contact($0) }, updateCache: false)
    cache.answer("Team:1", Team(id: 1, lead: Contact(1, "stale")))
    await cache.waitUntilAsked("Team:1", times: 2)
    cache.answer("Team:1", Team(id: 1, lead: Contact(1, "fresh")))
    #expect(await answers.first().shown == Team(id: 1, lead: Contact(1, "fresh")))
  }

  @Test func `an edit of a list from a cache writes what is stored and not what is live`()
    async throws
  {
    let cache = DictionaryCache()
    let manager = DataModelManager(cacheDelegate: cache)
    try await cache.setCollection([Contact(1, "old"), Contact(2)], forKey: "c", context: nil)
    let live = DataProvider<Contact>(dataModelManager: manager)
    try await live.setData(Contact(1, "new"), updateCache: false).committed()
    let list = CollectionDataProvider<Contact>(dataModelManager: manager)
    try await list.fetchDataFromCache(withCacheKey: "c")
    try await list.append([Contact(3)]).committed()
    #expect(list.data == [Contact(1, "new"), Contact(2), Contact(3)])
    let cached = try await cache.collection(forKey: "c", as: Contact.self, context: nil)
    #expect(cached == [Contact(1, "old"), Contact(2), Contact(3)])
  }

  /// A cache whose list is answered when the test says so.
  private final class HeldCache: CacheDelegate {
    let asked = Event()
    let answered = Event()
    /// How long a deletion takes.
    let yieldsOfDeletion: Int
    private let list = Locked<[Contact]>(Contact.list(1, 2, 3))
    private let isHeld = Locked(true)

    init(yieldsOfDeletion: Int = 0) { self.yieldsOfDeletion = yieldsOfDeletion }

    var cached: [Contact] { list.withLock { $0 } }

    func model<T: SimpleModel>(
      forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
    ) async throws -> T? { nil }

    func setModel<T: SimpleModel>(
      _ model: T, forKey cacheKey: String, context: (any Sendable)?
    ) async throws {}

    func collection<T: SimpleModel>(
      forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
    ) async throws -> [T]? {
      let answer = cached as? [T]
      if isHeld.withLock({ exchange(&$0, with: false) }) {
        asked.signal()
        await answered.happened()
      }
      return answer
    }

    func setCollection<T: SimpleModel>(
      _ models: [T], forKey cacheKey: String, context: (any Sendable)?
    ) async throws {
      if let contacts = models as? [Contact] { list.withLock { $0 = contacts } }
    }

    func deleteModel(forKey cacheKey: String, context: (any Sendable)?) async throws {
      for _ in 0..<yieldsOfDeletion { await Task.yield() }
    }
  }

  @Test(arguments: [true, false])
  func `a list shows what has changed while the cache was asked`(updatesCache: Bool) async throws {
    let cache = HeldCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let list = CollectionDataProvider<Contact>(dataModelManager: manager)
    async let fetched = list.fetchDataFromCache(withCacheKey: "c")
    await cache.asked.happened()
    manager.updateModel(Contact(1, "new"), updateCache: updatesCache)
    try await manager.deleteModel(Contact(2), updateCache: updatesCache).committed()
    cache.answered.signal()
    #expect(try await fetched == [Contact(1, "new"), Contact(3)])
    #expect(list.data == [Contact(1, "new"), Contact(3)])
    #expect(cache.cached.map(\.id) == (updatesCache ? [1, 3] : [1, 2, 3]))
    // What is written is what was stored with what was written since.
    try await list.append([Contact(4)]).committed()
    #expect(list.data == [Contact(1, "new"), Contact(3), Contact(4)])
    let stored = updatesCache ? [Contact(1, "new"), Contact(3)] : Contact.list(1, 2, 3)
    #expect(cache.cached == stored + [Contact(4)])
  }

  /// The edit makes the list be read again, before the deletion has reached the cache.
  @Test func `a list that is read again does not show what was deleted meanwhile`() async throws {
    let cache = HeldCache(yieldsOfDeletion: 50_000)
    let manager = DataModelManager(cacheDelegate: cache)
    let list = CollectionDataProvider<Contact>(dataModelManager: manager)
    async let fetched = list.fetchDataFromCache(withCacheKey: "c")
    await cache.asked.happened()
    list.append([Contact(4)])
    manager.deleteModel(Contact(2))
    cache.answered.signal()
    #expect(try await fetched == Contact.list(1, 3, 4))
    await manager.drain()
    #expect(cache.cached == Contact.list(1, 3, 4))
  }

  @Test func `a model deleted and set again while the cache was asked is not in the list`()
    async throws
  {
    let cache = HeldCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let list = CollectionDataProvider<Contact>(dataModelManager: manager)
    async let fetched = list.fetchDataFromCache(withCacheKey: "c")
    await cache.asked.happened()
    manager.deleteModel(Contact(2))
    try await manager.updateModel(Contact(2, "again")).committed()
    cache.answered.signal()
    #expect(try await fetched == Contact.list(1, 3))
    await manager.drain()
    #expect(cache.cached == Contact.list(1, 3))
  }

  @Test(arguments: [true, false])
  func `a static edit made while the cache is asked is neither lost nor shown alone`(
    appends: Bool
  ) async throws {
    typealias List = CollectionDataProvider<Contact>
    let cache = HeldCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let list = List(dataModelManager: manager)
    async let fetched = list.fetchDataFromCache(withCacheKey: "c")
    await cache.asked.happened()
    let write =
      appends
      ? List.append([Contact(4)], cacheKey: "c", dataModelManager: manager)
      : List.insert([Contact(4)], at: 3, cacheKey: "c", dataModelManager: manager)
    let other = List(dataModelManager: manager)
    async let shown = other.fetchDataFromCache(withCacheKey: "c")
    cache.answered.signal()
    try await write.committed()
    #expect(try await fetched?.prefix(3) == Contact.list(1, 2, 3)[...])
    #expect(try await shown?.prefix(3) == Contact.list(1, 2, 3)[...])
    await manager.drain()
    #expect(list.data == Contact.list(1, 2, 3, 4))
    #expect(other.data == Contact.list(1, 2, 3, 4))
    #expect(cache.cached == Contact.list(1, 2, 3, 4))
  }
}
