import Dispatch
import Observation
import PandoConsistency
import PandoFixtures
import PandoManagers
import PandoProviders
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

private struct Person: Model, Codable, Equatable, Queryable {
  var key: String
  var name: String
  var age: Int

  var modelIdentifier: String? { key }

  static let fields: [Field<Person>] = [.indexed(\.name), .field(\.age)]
}

/// A model that another process writes.
private struct Guest: Model, Codable, Equatable, Queryable {
  static let modelTypeName = "Person"
  var id: Int
  var name: String
  var isOnline: Bool

  var modelIdentifier: String? { "Person:\(id)" }
}

/// A delegate that records its calls.
private final class Listener: QueryDataProviderDelegate {
  struct State: Sendable {
    var contexts: [String] = []
    var changes: [CollectionChange] = []
    /// The rows after all changes.
    var rows: [String] = []
  }

  let state = Locked(State())
  /// Woken at each call.
  let (calls, call) = AsyncStream<Void>.makeStream()

  func queryDataProviderHasUpdatedData<E>(
    _ dataProvider: QueryDataProvider<E>, collectionChanges: CollectionChange,
    result: QueryResult<E>, context: (any Sendable)?
  ) {
    state.withLock { state in
      if let text = context as? String { state.contexts.append(text) }
      state.changes.append(collectionChanges)
      state.rows = state.rows.applying(collectionChanges, from: result.entities) { "\($0)" }
      #expect(state.rows == result.entities.map { "\($0)" })
    }
    call.yield()
  }

  func queryDataProvider<E>(_ dataProvider: QueryDataProvider<E>, hasFailed error: any Error) {
    call.yield()
  }
}

/// A live list of what a query finds.
@Suite struct QueryDataProviderTests {
  private static let ofAda = Query(filter: \Person.name == "Ada", order: [.ascending(\.age)])

  @Test func `it shows what matches after every change, and tells what has changed`() async throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    let manager = try DataModelManager(store: store)
    let provider = QueryDataProvider(
      store.follow(Self.ofAda), dataModelManager: manager)
    let listener = Listener()
    provider.delegate = listener
    var calls = listener.calls.makeAsyncIterator()
    await calls.next()
    #expect(provider.data == [])

    try await store.write(context: "first") { try $0.set(Person(key: "a", name: "Ada", age: 2)) }
    // In step: who has waited for the write sees it.
    #expect(provider.data.map(\.key) == ["a"])
    await calls.next()
    try await store.write(context: "second") { transaction in
      try transaction.set(Person(key: "b", name: "Ada", age: 1))
    }
    #expect(provider.data.map(\.key) == ["b", "a"])
    await calls.next()
    #expect(listener.state.withLock { $0.contexts } == ["first", "second"])

    provider.isPaused = true
    try await store.write { try $0.set(Person(key: "a", name: "Bo", age: 2)) }
    try await store.write { try $0.set(Person(key: "c", name: "Ada", age: 0)) }
    #expect(provider.data.map(\.key) == ["b", "a"])
    provider.isPaused = false
    #expect(provider.data.map(\.key) == ["c", "b"])
    await calls.next()
    let wanted: [CollectionChange] = [
      .reset, .changes([.insert(index: 0)]), .changes([.insert(index: 0)]),
      .difference(
        from: [Person(key: "b", name: "Ada", age: 1), Person(key: "a", name: "Ada", age: 2)],
        to: provider.data),
    ]
    #expect(listener.state.withLock { $0.changes } == wanted)
    await manager.close()
  }

  @Test func `after a drain the delegate has been notified of every commit`() async throws {
    let store = try ModelStore.temporary()
    let manager = try DataModelManager(store: store)
    for round in 0..<50 {
      let provider = QueryDataProvider(
        store.follow(Self.ofAda), dataModelManager: manager)
      let listener = Listener()
      provider.delegate = listener
      await manager.drain()
      #expect(listener.state.withLock { $0.changes } == [.reset])
      let person = Person(key: "\(round)", name: "Ada", age: 1)
      // Not awaited: the drain has to wait for the commit, too.
      let write = Task { try await store.write(context: "set") { try $0.set(person) } }
      try await write.value
      await manager.drain()
      #expect(listener.state.withLock { $0.changes }.count == 2)
      #expect(listener.state.withLock { $0.contexts } == ["set"])
      provider.isPaused = true
      manager.deleteModel(person)
      await manager.drain()
      #expect(listener.state.withLock { $0.changes }.count == 2)
      provider.isPaused = false
      await manager.drain()
      #expect(listener.state.withLock { $0.changes }.count == 3)
    }
    await manager.close()
    await store.close()
  }

  @Test(arguments: [false, true])
  func `a drain waits for queries over the store of another manager`(isInMemory: Bool) async throws
  {
    let store = try ModelStore.temporary()
    let own = try ModelStore.temporary()
    let manager = isInMemory ? DataModelManager() : try DataModelManager(store: own)
    let container = try CoreManagerContainer(
      entities: Track.self, cacheLimit: 100, diskStoreConfig: .none)
    for round in 0..<50 {
      let provider = QueryDataProvider(
        store.follow(Self.ofAda), dataModelManager: manager)
      let others = QueryDataProvider(
        container[Track.self].follow(.all), dataModelManager: manager)
      let (listener, listenerOfOthers) = (Listener(), Listener())
      (provider.delegate, others.delegate) = (listener, listenerOfOthers)
      await manager.drain()
      #expect(listener.state.withLock { $0.changes } == [.reset])
      #expect(listenerOfOthers.state.withLock { $0.changes } == [.reset])
      let person = Person(key: "\(round)", name: "Ada", age: -round)
      try await store.write { try $0.set(person) }
      try await container[Track.self].set(Track(round))
      await manager.drain()
      #expect(listener.state.withLock { $0.changes }.count == 2)
      #expect(listenerOfOthers.state.withLock { $0.changes }.count == 2)
    }
    await container.close()
    await manager.close()
    await store.close()
    await own.close()
  }

  @Test func `a drain waits for queries over memory, and for a delegate that writes`() async throws
  {
    let container = try CoreManagerContainer(
      entities: Track.self, cacheLimit: 100, diskStoreConfig: .none)
    let tracks = container[Track.self]
    let manager = container.dataModelManager
    final class Copier: QueryDataProviderDelegate {
      let told = Locked(0)
      let write: @Sendable () -> Void

      init(_ write: @escaping @Sendable () -> Void) { self.write = write }

      func queryDataProviderHasUpdatedData<E>(
        _ dataProvider: QueryDataProvider<E>, collectionChanges: CollectionChange,
        result: QueryResult<E>, context: (any Sendable)?
      ) {
        told.withLock { $0 = result.count }
        write()
      }
    }
    let provider = QueryDataProvider(
      tracks.follow(.all), dataModelManager: manager)
    let copier = Copier { manager.updateModel(Person(key: "delegate", name: "Ada", age: 0)) }
    provider.delegate = copier
    for id in 1..<50 {
      try await tracks.set(Track(id))
      await manager.drain()
      #expect(copier.told.withLock { $0 } == id)
    }
    await container.close()
  }

  @Test func `a delegate set late gets the present result first`() async throws {
    let store = try ModelStore.temporary()
    let manager = try DataModelManager(store: store)
    try await store.write { try $0.set(Person(key: "a", name: "Ada", age: 2)) }
    let provider = QueryDataProvider(
      store.follow(Self.ofAda), dataModelManager: manager)
    for _ in 0..<2 {
      let listener = Listener()
      provider.delegate = listener
      var calls = listener.calls.makeAsyncIterator()
      await calls.next()
      #expect(listener.state.withLock { $0.changes } == [.reset])
    }
    await manager.close()
    await store.close()
  }

  @Test func `a reader between two changes that cancel out is notified of the second`()
    async throws
  {
    let target = DispatchQueue(label: "delivery")
    let store = try ModelStore.temporary()
    let manager = try DataModelManager(store: store, deliveringOn: .queue(target))
    let provider = QueryDataProvider(
      store.follow(Self.ofAda), dataModelManager: manager)
    let listener = Listener()
    provider.delegate = listener
    var calls = listener.calls.makeAsyncIterator()
    await calls.next()
    let (changes, change) = AsyncStream<Void>.makeStream()
    // Nobody is told while somebody else has the queue.
    let (held, release) = (Event(), Event())
    target.async {
      held.signal()
      release.wait()
    }
    held.wait()
    try await store.write { try $0.set(Person(key: "a", name: "Ada", age: 2)) }
    let seen = withObservationTracking {
      provider.data
    } onChange: {
      change.yield()
    }
    #expect(seen.map(\.key) == ["a"])
    try await store.write { try $0.deleteIfPresent("a") }
    release.signal()
    var iterator = changes.makeAsyncIterator()
    await iterator.next()
    #expect(provider.data == [])
    await manager.close()
    await store.close()
  }

  @Test func `a closed store ends what is followed, and says so`() async throws {
    let store = try ModelStore.temporary()
    let manager = try DataModelManager(store: store)
    let provider = QueryDataProvider(
      store.follow(Self.ofAda), dataModelManager: manager)
    let listener = Listener()
    provider.delegate = listener
    var values = store.follow(Self.ofAda).makeAsyncIterator()
    _ = try await values.next()
    var calls = listener.calls.makeAsyncIterator()
    await calls.next()
    await store.close()
    let error = await #expect(throws: ManagerError.self) { try await values.next() }
    #expect(error?.code == .closed)
    await calls.next()
    #expect((provider.error as? ManagerError)?.code == .closed)
  }

  @Test func `an invalid query has an error and no data`() async throws {
    let store = try ModelStore.temporary()
    let manager = try DataModelManager(store: store)
    let wrong = Query(filter: \Person.name ~= "(", limit: nil)
    let provider = QueryDataProvider(
      store.follow(wrong), dataModelManager: manager)
    #expect((provider.error as? QueryError)?.code == .invalidRegularExpression)
    #expect(provider.data.isEmpty)
    await manager.close()
    await store.close()
  }

  @Test func `nothing is followed when the provider has gone`() async throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    let manager = try DataModelManager(store: store)
    weak var gone: QueryDataProvider<Person>?
    do {
      let provider = QueryDataProvider(
        store.follow(Self.ofAda), dataModelManager: manager)
      gone = provider
      #expect(provider.isPaused == false)
    }
    #expect(gone == nil)
    await manager.close()
  }

  @Test(arguments: [false, true])
  func `after a drain the delegate has every commit that a read has seen`(
    isInMemory: Bool
  ) async throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    let manager = isInMemory ? DataModelManager() : try DataModelManager(store: store)
    let provider = QueryDataProvider(
      store.follow(Self.ofAda), dataModelManager: manager)
    let listener = Listener()
    provider.delegate = listener
    for age in 0..<300 {
      let person = Person(key: "a", name: "Ada", age: age)
      // Not awaited: a read sees the commit before the write returns.
      let write = Task.detached { try await store.write { try $0.set(person) } }
      while try await store.read({ try $0.get("a", as: Person.self)?.age }) != age {
        await Task.yield()
      }
      await manager.drain()
      #expect(listener.state.withLock { $0.rows } == ["\(person)"])
      try await write.value
    }
    await manager.close()
    await store.close()
  }

  @Test(arguments: [false, true])
  func `after a drain the delegate has the commits of another process`(
    isInMemory: Bool
  ) async throws {
    try await withTemporaryDirectory { path in
      let store = try ModelStore(path: "\(path)/store", configuration: .forTests)
      let manager = isInMemory ? DataModelManager() : try DataModelManager(store: store)
      let other = try OtherProcess("\(path)/store")
      let provider = QueryDataProvider(
        store.follow(Query<Guest>.all), dataModelManager: manager)
      let listener = Listener()
      provider.delegate = listener
      for number in 0..<100 {
        try other.perform("set \(number) Name")
        await manager.drain()
        #expect(listener.state.withLock { $0.rows }.count == number + 1)
      }
      other.end()
      await manager.close()
      await store.close()
    }
  }
}
