import PandoConsistency
import PandoFixtures
import PandoModels
import Testing

@testable import PandoProviders

@Suite struct DataProviderPausingTests {
  private let ada = Person(id: 1, name: "Ada")

  private func person(_ name: String) -> Person { Person(id: 1, name: name) }

  /// A provider that shows Ada and has been told nothing.
  private func makeProvider(
    _ manager: DataModelManager
  ) async -> (provider: DataProvider<Person>, log: DelegateLog) {
    let provider = DataProvider<Person>(dataModelManager: manager)
    let log = DelegateLog()
    provider.delegate = log
    provider.setData(ada)
    await manager.drain()
    return (provider, log)
  }

  @Test(arguments: Backing.allCases)
  func `data and callbacks stand still, and the state reads right at once`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let (provider, log) = await makeProvider(manager)
      provider.isPaused = true
      provider.isPaused = true
      #expect(provider.isPaused)
      manager.updateModel(person("B"))
      await manager.drain()
      #expect(provider.data == ada)
      #expect(log.calls.isEmpty)
      provider.isPaused = false
      #expect(!provider.isPaused)
      #expect(provider.data == person("B"))
      await manager.drain()
      #expect(log.calls.count == 1)
    }
  }

  /// The data stand again as the delegate knows them, but something else was to be seen.
  @Test func `the replacement of data shown while a pause ends is reported`()
    async throws
  {
    let manager = DataModelManager()
    let (provider, log) = await makeProvider(manager)
    provider.isPaused = true
    manager.updateModel(person("B"))
    await manager.drain()
    let gate = Gate(stopping: manager)
    manager.updateModel(ada)
    provider.isPaused = false
    #expect(provider.data == person("B"))
    gate.open()
    await manager.drain()
    #expect(provider.data == ada)
    #expect(log.data(Person.self) == [ada])
  }

  @Test func `the replacement of data shown between two pauses is reported at resume`()
    async throws
  {
    let manager = DataModelManager()
    let (provider, log) = await makeProvider(manager)
    provider.isPaused = true
    manager.updateModel(person("B"))
    await manager.drain()
    let gate = Gate(stopping: manager)
    provider.isPaused = false
    provider.isPaused = true
    #expect(provider.data == person("B"))
    gate.open()
    manager.updateModel(ada)
    await manager.drain()
    #expect(log.calls.isEmpty)
    provider.isPaused = false
    await manager.drain()
    #expect(log.data(Person.self) == [ada])
  }

  @Test(arguments: Backing.allCases)
  func `data set by a paused provider is shown at once, and does not resume it`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let (provider, log) = await makeProvider(manager)
      provider.isPaused = true
      manager.updateModel(person("B"))
      provider.setData(person("C"))
      #expect(provider.data == person("C"))
      #expect(provider.isPaused)
      await manager.drain()
      manager.updateModel(person("D"), context: "D")
      await manager.drain()
      #expect(provider.data == person("C"))
      provider.isPaused = false
      await manager.drain()
      #expect(log.contexts == ["D"])
      #expect(provider.data == person("D"))
    }
  }

  @Test(arguments: Backing.allCases)
  func `resuming calls once, with the newest model, context and time`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let (provider, log) = await makeProvider(manager)
      let witness = DataProvider<Person>(dataModelManager: manager)
      witness.setData(ada)
      await manager.drain()
      let before = provider.lastUpdated
      provider.isPaused = true
      for number in 0..<10 { manager.updateModel(person("\(number)"), context: "\(number)") }
      await manager.drain()
      #expect(provider.lastUpdated == before)
      provider.isPaused = false
      await manager.drain()
      #expect(log.contexts == ["9"])
      #expect(log.data() == [person("9")])
      #expect(provider.lastUpdated == witness.lastUpdated)
    }
  }

  @Test(arguments: Backing.allCases)
  func `changes that cancel out call no delegate`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let (provider, log) = await makeProvider(manager)
      provider.isPaused = true
      manager.updateModel(person("B"))
      manager.updateModel(ada)
      await manager.drain()
      provider.isPaused = false
      await manager.drain()
      provider.isPaused = true
      manager.deleteModel(ada)
      await manager.drain()
      manager.updateModel(ada)
      await manager.drain()
      provider.isPaused = false
      await manager.drain()
      #expect(log.calls.isEmpty)
      #expect(provider.data == ada)
    }
  }

  @Test(arguments: Backing.allCases)
  func `a node deleted during a pause stays until resuming, then one callback has nil`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let (provider, log) = await makeProvider(manager)
      provider.isPaused = true
      manager.deleteModel(ada, context: "deleted")
      await manager.drain()
      #expect(provider.data == ada)
      provider.isPaused = false
      #expect(provider.data == nil)
      await manager.drain()
      #expect(log.contexts == ["deleted"])
      #expect(log.data(Person.self) == [nil])
    }
  }

  @Test(arguments: Backing.allCases)
  func `a paused provider is not retained`(backing: Backing) async throws {
    try await backing.withManager { manager in
      weak var gone: DataProvider<Person>?
      do {
        let (provider, _) = await makeProvider(manager)
        provider.isPaused = true
        gone = provider
      }
      manager.updateModel(person("B"))
      await manager.drain()
      #expect(gone == nil)
      #expect(manager.liveTypes(of: "Person:1").isEmpty)
    }
  }

  @Test func `a callback queued when the provider was paused comes at resuming`()
    async throws
  {
    let manager = DataModelManager()
    let (provider, log) = await makeProvider(manager)
    let isOpen = Event()
    manager.consistencyManager.deliverer.enqueue { isOpen.wait() }
    manager.updateModel(person("B"), context: "B")
    await manager.consistencyManager.processed()
    provider.isPaused = true
    #expect(provider.data == person("B"))
    isOpen.signal()
    await manager.drain()
    #expect(log.calls.isEmpty)
    provider.isPaused = false
    await manager.drain()
    #expect(log.contexts == ["B"])
  }

  @Test func `ten thousand callbacks may be undelivered by default`() {
    #expect(DataModelManager.Limits().undeliveredCallbacksMaximum == 10_000)
    #expect(ConsistencyManager.defaultBacklogLimit == 10_000)
  }

  @Test func `at the limit of undelivered callbacks a provider stands still and catches up`()
    async throws
  {
    let manager = DataModelManager(
      limits: DataModelManager.Limits(undeliveredCallbacksMaximum: 3))
    let events = EventLog()
    manager.delegate = events
    let (provider, log) = await makeProvider(manager)
    let other = DataProvider<Person>(dataModelManager: manager)
    other.setData(Person(id: 2, name: "Bob"))
    let isOpen = Event()
    manager.consistencyManager.deliverer.enqueue { isOpen.wait() }
    for number in 0..<10 { manager.updateModel(person("\(number)"), context: "\(number)") }
    await manager.consistencyManager.processed()
    #expect(provider.isPaused)
    #expect(provider.data == person("2"))
    #expect(!other.isPaused)
    isOpen.signal()
    await manager.drain()
    await manager.drain()  // the last callback is queued when the others have been delivered
    #expect(log.contexts == ["0", "1", "2", "9"])
    #expect(provider.data == person("9"))
    #expect(!provider.isPaused)
    #expect(events.limits == 1)
  }
}
