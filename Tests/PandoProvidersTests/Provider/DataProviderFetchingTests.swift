import Dispatch
import PandoConsistency
import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoProviders

@Suite struct DataProviderFetchingTests {
  private let ada = Person(id: 1, name: "Ada")
  private let newer = Person(id: 1, name: "Ada L.")

  private struct Refusal: Error, Equatable {
    var number: Int
  }

  private func fetch(_ provider: DataProvider<Person>, _ key: String?) -> Completions<Person> {
    let completions = Completions<Person>()
    provider.fetchDataFromCache(withCacheKey: key) { [weak provider] in
      completions.add($0, $1, shown: provider?.data)
    }
    return completions
  }

  @Test(arguments: Backing.allCases)
  func `the completion is called exactly once, with data set before`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      manager.updateModel(ada)
      await manager.drain()
      let provider = DataProvider<Person>(dataModelManager: manager)
      let completions = fetch(provider, "Person:1")
      let call = await completions.first()
      #expect(call.model == ada && call.shown == ada && call.error == nil)
      await manager.drain()
      #expect(completions.calls.count == 1)
    }
  }

  @Test func `without a key nothing is found, at once`() {
    let provider = DataProvider<Person>(dataModelManager: DataModelManager())
    let completions = fetch(provider, nil)
    #expect(completions.calls.count == 1)
    #expect(completions.calls.first?.model == nil && completions.calls.first?.error == nil)
  }

  @Test func `a provider that shows the identifier answers at once, without the cache`()
    async throws
  {
    let cache = HandlerCache()
    let provider = DataProvider<Person>(dataModelManager: DataModelManager(cacheDelegate: cache))
    provider.setData(ada)
    let completions = fetch(provider, "Person:1")
    #expect(completions.calls.map(\.model) == [ada])
    #expect(cache.asked("Person:1") == 0)
  }

  @Test func `after a miss the next fetch asks again`() async throws {
    let cache = DictionaryCache()
    let provider = DataProvider<Person>(dataModelManager: DataModelManager(cacheDelegate: cache))
    let result1 = try await provider.fetchDataFromCache(withCacheKey: "Person:1")
    #expect(result1 == nil)
    cache["Person:1"] = ada
    let result2 = try await provider.fetchDataFromCache(withCacheKey: "Person:1")
    #expect(result2 == ada)
    #expect(cache.calls == ["get Person:1", "get Person:1"])
  }

  @Test func `a cache that answers twice is heard once`() async throws {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = DataProvider<Person>(dataModelManager: manager)
    let completions = fetch(provider, "Person:1")
    await cache.waitUntilAsked("Person:1")
    let reply = try #require(cache.takeReply("Person:1"))
    reply(ada, nil)
    reply(newer, nil)
    #expect(await completions.first().model == ada)
    await manager.drain()
    #expect(completions.calls.count == 1)
    #expect(provider.data == ada)
  }

  @Test func `a cache that never answers blocks no other fetch`() async throws {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let waiting = DataProvider<Person>(dataModelManager: manager)
    let hanging = fetch(waiting, "Person:1")
    await cache.waitUntilAsked("Person:1")
    let other = DataProvider<Person>(dataModelManager: manager)
    let answered = fetch(other, "Person:2")
    await cache.waitUntilAsked("Person:2")
    cache.answer("Person:2", Person(id: 2, name: "Bob"))
    #expect(await answered.first().model?.name == "Bob")
    waiting.setData(ada)
    await manager.drain()
    #expect(waiting.data == ada)
    #expect(cache.writes.count == 1)
    #expect(hanging.calls.isEmpty)
  }

  @Test func `a fetch is answered once though its provider has gone`() async throws {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    var provider: DataProvider<Person>? = DataProvider(dataModelManager: manager)
    weak let holder: ModelHolder? = provider?.holder
    let completions = Completions<Person>()
    provider?.fetchDataFromCache(withCacheKey: "Person:1") { completions.add($0, $1, shown: nil) }
    await cache.waitUntilAsked("Person:1")
    provider = nil
    cache.answer("Person:1", ada)
    let call = await completions.first()
    #expect(call.model == ada && call.error == nil)
    await manager.drain()
    #expect(completions.calls.count == 1)
    #expect(manager.liveTypes(of: "Person:1").isEmpty)
    // The task that has asked the cache may not have ended yet.
    while holder != nil { await Task.yield() }
  }

  @Test func `a fetch that was begun before the manager is closed is answered once`() async throws {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = DataProvider<Person>(dataModelManager: manager)
    let completions = fetch(provider, "Person:1")
    await cache.waitUntilAsked("Person:1")
    await manager.close()
    cache.answer("Person:1", ada)
    let call = await completions.first()
    #expect(call.model == ada && call.shown == ada && call.error == nil)
    await manager.drain()
    #expect(completions.calls.count == 1)
    let late = fetch(provider, "Person:2")
    #expect((late.calls.first?.error as? DataProviderError)?.code == .closed)
    #expect(cache.asked("Person:2") == 0)
  }

  @Test func `key and context of a fetch reach the cache unchanged`() async throws {
    let cache = DictionaryCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = DataProvider<Person>(dataModelManager: manager)
    let list = CollectionDataProvider<Person>(dataModelManager: manager)
    try await provider.fetchDataFromCache(withCacheKey: "Person:1", context: "c")
    try await list.fetchDataFromCache(withCacheKey: "people", context: "d")
    #expect(cache.calls == ["get Person:1", "get collection people"])
    #expect(cache.contexts == ["c", "d"])
  }

  @Test func `of many fetches at once none waits for the answer to another`() async throws {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let providers = (0..<40).map { _ in DataProvider<Person>(dataModelManager: manager) }
    // On a thread that runs no task: each task has its questions asked by a task of their own.
    let fetches = await onThread {
      providers.indices.map { fetch(providers[$0], "Person:\($0)") }
    }
    for number in providers.indices { await cache.waitUntilAsked("Person:\(number)") }
    for number in providers.indices.reversed() {
      cache.answer("Person:\(number)", Person(id: number, name: "P\(number)"))
    }
    for (number, completions) in fetches.enumerated() {
      #expect(await completions.first().model == Person(id: number, name: "P\(number)"))
    }
    await manager.drain()
    #expect(fetches.allSatisfy { $0.calls.count == 1 })
  }

  @Test func `a cache that blocks its thread blocks no other question`() async throws {
    let cache = PairingCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let providers = (0..<2).map { _ in DataProvider<Person>(dataModelManager: manager) }
    let fetches = await onThread {
      providers.indices.map { fetch(providers[$0], "Person:\($0)") }
    }
    for completions in fetches { #expect(await completions.first().error == nil) }
  }

  @Test func `a fetch waits for the writes of its key that were queued before`() async throws {
    let cache = DictionaryCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = DataProvider<Person>(dataModelManager: manager)
    let gate = Gate(stopping: manager)
    for number in 1...3 { manager.updateModel(Person(id: number, name: "new")) }
    let completions = await onThread { fetch(provider, "Person:2") }
    gate.open()
    #expect(await completions.first().model == Person(id: 2, name: "new"))
    await manager.drain()
    let read = try #require(cache.calls.firstIndex(of: "get Person:2"))
    let write = try #require(cache.calls.firstIndex(of: "set Person:2"))
    #expect(write < read)
  }

  /// Runs a closure on a thread that runs no task.
  private func onThread<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result
  ) async -> Result {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "caller").async { continuation.resume(returning: body()) }
    }
  }

  @Test func `a cache that releases its handler without an answer has failed`() async throws {
    let cache = HandlerCache()
    let provider = DataProvider<Person>(dataModelManager: DataModelManager(cacheDelegate: cache))
    let completions = fetch(provider, "Person:1")
    await cache.waitUntilAsked("Person:1")
    _ = cache.takeReply("Person:1")
    let error = try #require(await completions.first().error as? DataProviderError)
    #expect(error.code == .cacheNeverAnswered)
  }

  @Test func `a task that is cancelled does not wait for a cache that never answers`()
    async throws
  {
    let cache = HandlerCache()
    let provider = DataProvider<Person>(dataModelManager: DataModelManager(cacheDelegate: cache))
    let task = Task { try await provider.fetchDataFromCache(withCacheKey: "Person:1") }
    await cache.waitUntilAsked("Person:1")
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `the error of a cache reaches the completion unchanged`() async throws {
    let cache = HandlerCache()
    let provider = DataProvider<Person>(dataModelManager: DataModelManager(cacheDelegate: cache))
    let completions = fetch(provider, "Person:1")
    await cache.waitUntilAsked("Person:1")
    cache.answer("Person:1", nil, error: Refusal(number: 7))
    let call = await completions.first()
    #expect(call.error as? Refusal == Refusal(number: 7))
    #expect(call.model == nil && provider.data == nil)
  }

  @Test func `an answer that comes after data was set is ignored`() async throws {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = DataProvider<Person>(dataModelManager: manager)
    let log = DelegateLog()
    provider.delegate = log
    let completions = fetch(provider, "Person:1")
    await cache.waitUntilAsked("Person:1")
    provider.setData(newer)
    cache.answer("Person:1", ada)
    #expect(await completions.first().model == newer)
    await manager.drain()
    #expect(provider.data == newer)
    #expect(log.calls.isEmpty)
  }

  @Test func `a change elsewhere wins over a cache that answers later`() async throws {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = DataProvider<Person>(dataModelManager: manager)
    let completions = fetch(provider, "Person:1")
    await cache.waitUntilAsked("Person:1")
    manager.updateModel(newer)
    cache.answer("Person:1", ada)
    #expect(await completions.first().model == newer)
    #expect(provider.data == newer)
  }

  @Test func `a delete elsewhere wins over a cache that answers later`() async throws {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = DataProvider<Person>(dataModelManager: manager)
    let completions = fetch(provider, "Person:1")
    await cache.waitUntilAsked("Person:1")
    manager.deleteModel(ada)
    cache.answer("Person:1", ada)
    let call = await completions.first()
    #expect(call.model == nil && call.error == nil)
    #expect(provider.data == nil)
  }

  @Test func `of two fetches the one that began later counts`() async throws {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = DataProvider<Person>(dataModelManager: manager)
    let bob = Person(id: 2, name: "Bob")
    let first = fetch(provider, "Person:1")
    await cache.waitUntilAsked("Person:1")
    let second = fetch(provider, "Person:2")
    await cache.waitUntilAsked("Person:2")
    cache.answer("Person:2", bob)
    #expect(await second.first().model == bob)
    cache.answer("Person:1", ada)
    #expect(await first.first().model == bob)
    #expect(provider.data == bob)
  }

  @Test func `setData(nil) ends a fetch`() async throws {
    let cache = HandlerCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let provider = DataProvider<Person>(dataModelManager: manager)
    let completions = fetch(provider, "Person:1")
    await cache.waitUntilAsked("Person:1")
    provider.setData(nil)
    cache.answer("Person:1", ada)
    #expect(await completions.first().model == nil)
    manager.updateModel(newer)
    await manager.drain()
    #expect(provider.data == nil)
  }

  @Test(arguments: Backing.lasting)
  func `a fetch finds what was set just before`(backing: Backing) async throws {
    try await backing.withStoppableManager { manager, stop in
      let gate = stop()
      manager.updateModel(ada)
      let provider = DataProvider<Person>(dataModelManager: manager)
      let completions = fetch(provider, "Person:1")
      gate.open()
      #expect(await completions.first().model == ada)
    }
  }

  @Test(arguments: Backing.allCases, [false, true])
  func `the first change with an awaited identifier is shown and reported once`(
    backing: Backing, asks: Bool
  ) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      let log = DelegateLog()
      provider.delegate = log
      if asks {
        let found = try await provider.fetchDataFromCache(
          withCacheKey: "Person:1", listensWhenAbsent: true)
        #expect(found == nil)
      } else {
        provider.listen(to: "Person:1")
      }
      #expect(provider.modelIdentifier == "Person:1")
      let other = DataProvider<Message>(dataModelManager: manager)
      other.setData(Message(id: 1, text: "", author: ada), context: "first")
      await manager.drain()
      #expect(provider.data == ada)
      #expect(log.contexts == ["first"])
      manager.updateModel(newer, context: "second")
      await manager.drain()
      #expect(provider.data == newer)
      #expect(log.contexts == ["first", "second"])
      provider.setData(nil)
      other.setData(nil)
      await manager.drain()
      #expect(manager.liveTypes(of: "Person:1").isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func `a miss without listening waits for nothing`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      let result3 = try await provider.fetchDataFromCache(withCacheKey: "Person:1")
      #expect(result3 == nil)
      manager.updateModel(ada)
      await manager.drain()
      #expect(provider.data == nil)
      #expect(manager.liveTypes(of: "Person:1").isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func `setData(nil) ends the waiting`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      provider.listen(to: "Person:1")
      await manager.drain()
      provider.setData(nil)
      #expect(provider.modelIdentifier == nil)
      manager.updateModel(ada)
      await manager.drain()
      #expect(provider.data == nil)
      #expect(manager.liveTypes(of: "Person:1").isEmpty)
    }
  }

  @Test func `a commit that overtakes the listening is not missed`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<Person>(dataModelManager: manager)
      let log = DelegateLog()
      provider.delegate = log
      let gate = Gate(stopping: manager)
      provider.listen(to: "Person:1")
      // Committed while the pipeline does not know of the provider; it could not be waited for there.
      try await blocking { [ada] in try store.write { try $0.set(ada) } }
      gate.open()
      await manager.drain()
      #expect(provider.data == ada)
      #expect(log.calls.count == 1)
      await manager.close()
    }
  }

  @Test func `another type of the identifier does not end the waiting`() async throws {
    try await Backing.memory.withManager { manager in
      let provider = DataProvider<FullProfile>(dataModelManager: manager)
      provider.listen(to: "Person:1")
      manager.updateModel(ada)
      await manager.drain()
      #expect(provider.data == nil)
      manager.updateModel(FullProfile(id: 1, name: "Ada", age: 36))
      await manager.drain()
      #expect(provider.data?.age == 36)
    }
  }
}

/// Blocks the thread of a question until another one is asked.
private final class PairingCache: CacheDelegate {
  private let count = Locked(0)
  private let both = Event()

  func model<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> T? {
    let isSecond = count.withLock { count in
      count += 1
      return count == 2
    }
    if isSecond { both.signal() }
    both.wait()
    return nil
  }

  func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?
  ) async throws {}

  func collection<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> [T]? { nil }

  func setCollection<T: SimpleModel>(
    _ models: [T], forKey cacheKey: String, context: (any Sendable)?
  ) async throws {}

  func deleteModel(forKey cacheKey: String, context: (any Sendable)?) async throws {}
}
