import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoSystem
import Testing

/// Fetches that have a context and no key.
@Suite struct ContextLookUpTests {
  /// A cache that knows models by a nickname, too, and lets the test act when it has looked.
  private final class Nicknames: CompletionCacheDelegate {
    private struct State {
      var identifiers: [String: String] = [:]
      var models: [String: any SimpleModel] = [:]
      var asked = 0
      var onAsked: (@Sendable (Int) -> Void)?
      var onListAsked: (@Sendable () -> Void)?
      var error: (any Error)?
    }

    private let state = Locked(State())

    /// How often a context was looked up.
    var asked: Int { state.withLock { $0.asked } }

    subscript(nickname: String) -> String? {
      get { state.withLock { $0.identifiers[nickname] } }
      set { state.withLock { $0.identifiers[nickname] = newValue } }
    }

    func onAsked(_ body: @escaping @Sendable (Int) -> Void) {
      state.withLock { $0.onAsked = body }
    }

    func onListAsked(_ body: @escaping @Sendable () -> Void) {
      state.withLock { $0.onListAsked = body }
    }

    func fail(with error: any Error) { state.withLock { $0.error = error } }

    func modelForContext<T: SimpleModel>(
      _ context: any Sendable, completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) {
      let (model, number, body, error) = state.withLock { state in
        state.asked += 1
        let identifier = (context as? String).flatMap { state.identifiers[$0] }
        return (
          identifier.flatMap { state.models[$0] } as? T, state.asked, state.onAsked, state.error
        )
      }
      body?(number)
      completion(model, error)
    }

    func collectionForContext<T: SimpleModel>(
      _ context: any Sendable, completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) {
      let body = state.withLock { $0.onListAsked }
      body?()
      let found = state.withLock { state in
        (context as? [String])?.compactMap { state.identifiers[$0] }
          .compactMap { state.models[$0] as? T }
      }
      completion(found, nil)
    }

    func modelForKey<T: SimpleModel>(
      _ cacheKey: String, context: (any Sendable)?,
      completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) { completion(state.withLock { $0.models[cacheKey] as? T }, nil) }

    func setModel<T: SimpleModel>(
      _ model: T, forKey cacheKey: String, context: (any Sendable)?,
      completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
      state.withLock { $0.models[cacheKey] = model }
      completion(nil)
    }

    func collectionForKey<T: SimpleModel>(
      _ cacheKey: String, context: (any Sendable)?,
      completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) { completion(nil, nil) }

    func setCollection<T: SimpleModel>(
      _ collection: [T], forKey cacheKey: String, context: (any Sendable)?,
      completion: @escaping @Sendable ((any Error)?) -> Void
    ) { completion(nil) }

    func deleteModel(
      forKey cacheKey: String, context: (any Sendable)?,
      completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
      state.withLock { $0.models[cacheKey] = nil }
      completion(nil)
    }
  }

  private struct Unreadable: Error {}

  private let ada = Person(id: 1, name: "Ada")
  private let bob = Person(id: 2, name: "Bob")
  private let cache = Nicknames()
  private let manager: DataModelManager
  private let provider: DataProvider<Person>

  init() {
    manager = DataModelManager(cacheDelegate: cache)
    provider = DataProvider(dataModelManager: manager)
    cache["first"] = "Person:1"
    cache["second"] = "Person:2"
  }

  @Test func `a model is found by the context, shown and listened to`() async throws {
    manager.cacheModel(ada, forKey: "Person:1")
    let found = try await provider.fetchDataFromCache(withCacheKey: nil, context: "first")
    #expect(found == ada)
    #expect(provider.data == ada)
    manager.updateModel(Person(id: 1, name: "Grace"))
    await manager.drain()
    #expect(provider.data?.name == "Grace")
  }

  @Test func `a manager finds models and collections by the context`() async throws {
    manager.cacheModel(ada, forKey: "Person:1")
    manager.cacheModel(bob, forKey: "Person:2")
    let model = try await manager.modelFromCache(nil, as: Person.self, context: "second")
    #expect(model == bob)
    let models = try await manager.collectionFromCache(
      nil, as: Person.self, context: ["second", "first"])
    #expect(models == [bob, ada])
  }

  @Test func `a list is found by the context, and belongs to no key`() async throws {
    manager.cacheModel(ada, forKey: "Person:1")
    manager.cacheModel(bob, forKey: "Person:2")
    let list = CollectionDataProvider<Person>(dataModelManager: manager)
    let found = try await list.fetchDataFromCache(
      withCacheKey: nil, context: ["second", "first"])
    #expect(found == [bob, ada])
    #expect(list.data == [bob, ada])
    #expect(list.cacheKey == nil)
    try await manager.updateModel(Person(id: 1, name: "Grace")).committed()
    list.append([Person(id: 3, name: "Cy")])
    await manager.drain()
    #expect(list.data.map(\.name) == ["Bob", "Grace", "Cy"])
    let nothing = try await list.fetchDataFromCache(withCacheKey: nil, context: "nobody")
    #expect(nothing == nil)
    let unasked = try await list.fetchDataFromCache(withCacheKey: nil)
    #expect(unasked == nil)
    #expect(list.count == 3)
  }

  @Test func `an element added to a list without key during a lookup stays`() async throws {
    let list = CollectionDataProvider<Person>(dataModelManager: manager)
    manager.cacheModel(ada, forKey: "Person:1")
    cache.onListAsked { list.append([Person(id: 3, name: "Cy")]) }
    let found = try await list.fetchDataFromCache(withCacheKey: nil, context: ["first"])
    #expect(found?.map(\.name) == ["Cy"])
    #expect(list.data.map(\.name) == ["Cy"])
  }

  @Test func `an update during a lookup is newer than its result`() async throws {
    try await manager.cacheModel(ada, forKey: "Person:1").committed()
    cache.onAsked { [manager] number in
      if number == 1 { manager.updateModel(Person(id: 1, name: "1"), updateCache: false) }
      if number == 2 { manager.updateModel(Person(id: 1, name: "2"), updateCache: false) }
    }
    let found = try await provider.fetchDataFromCache(withCacheKey: nil, context: "first")
    #expect(found?.name == "2")
    #expect(provider.data?.name == "2")
    #expect(cache.asked == 2)
  }

  @Test func `a context that leads elsewhere meanwhile is followed`() async throws {
    manager.cacheModel(ada, forKey: "Person:1")
    try await manager.cacheModel(bob, forKey: "Person:2").committed()
    cache.onAsked { [cache] number in
      if number == 1 { cache["first"] = "Person:2" }
    }
    let found = try await provider.fetchDataFromCache(withCacheKey: nil, context: "first")
    #expect(found == bob)
    #expect(provider.data == bob)
    manager.updateModel(Person(id: 1, name: "Grace"))
    await manager.drain()
    #expect(provider.data == bob)
    #expect(manager.consistencyManager.registeredCounts.nodes == 1)
  }

  @Test func `data set during a lookup stays, and a miss or an error changes nothing`()
    async throws
  {
    provider.setData(bob)
    let missed = try await provider.fetchDataFromCache(withCacheKey: nil, context: "nobody")
    #expect(missed == nil)
    #expect(provider.data == bob)
    try await manager.cacheModel(ada, forKey: "Person:1").committed()
    let cara = Person(id: 3, name: "Cara")
    cache.onAsked { [provider] _ in provider.setData(cara) }
    let overtaken = try await provider.fetchDataFromCache(withCacheKey: nil, context: "first")
    #expect(overtaken == cara)
    cache.fail(with: Unreadable())
    await #expect(throws: Unreadable.self) {
      try await provider.fetchDataFromCache(withCacheKey: nil, context: "first")
    }
    #expect(provider.data == cara)
  }

  @Test(arguments: Backing.allCases)
  func `a lookup by context without a cache for it gives nil`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      provider.setData(bob)
      let model = try await provider.fetchDataFromCache(withCacheKey: nil, context: "first")
      let other = try await manager.modelFromCache(nil, as: Person.self, context: "first")
      let models = try await manager.collectionFromCache(nil, as: Person.self, context: "first")
      #expect(model == nil)
      #expect(other == nil)
      #expect(models == nil)
      #expect(provider.data == bob)
    }
  }

  @Test func `a fetch without key and context calls no cache`() async throws {
    let found = try await provider.fetchDataFromCache(withCacheKey: nil)
    let model = try await manager.modelFromCache(nil, as: Person.self)
    #expect(found == nil)
    #expect(model == nil)
    #expect(cache.asked == 0)
  }
}
