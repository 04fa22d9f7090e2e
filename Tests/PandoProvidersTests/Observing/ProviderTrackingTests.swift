import Observation
import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoSystem
import Testing

@Suite struct ProviderTrackingTests {
  private let ada = Person(id: 1, name: "Ada")

  /// Runs a closure under tracking, and returns what tells how often a change was told.
  private func track(_ body: () -> Void) -> Locked<Int> {
    let count = Locked(0)
    withObservationTracking(body) { count.withLock { $0 += 1 } }
    return count
  }

  @Test(arguments: Backing.allCases)
  func `a tracked read of data is notified of the next change once`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      let own = track { _ = provider.data }
      provider.setData(ada)
      #expect(own.withLock { $0 } == 1)
      await manager.drain()
      let other = track { _ = provider.data }
      manager.updateModel(Person(id: 1, name: "Ada L."))
      await manager.drain()
      #expect(other.withLock { $0 } == 1)
      manager.updateModel(Person(id: 1, name: "Ada K."))
      provider.setData(nil)
      await manager.drain()
      #expect((own.withLock { $0 }, other.withLock { $0 }) == (1, 1))
    }
  }

  @Test(arguments: Backing.allCases)
  func `an update that changes no data notifies no tracked read`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      provider.setData(ada)
      let other = DataProvider<Person>(dataModelManager: manager)
      let told = track { _ = provider.data }
      let unused = track { _ = other.lastUpdated }
      await manager.drain()
      manager.updateModel(ada)
      manager.updateModel(Person(id: 2, name: "Grace"))
      await manager.drain()
      #expect(told.withLock { $0 } == 0)
      #expect(unused.withLock { $0 } == 0)
    }
  }

  @Test(arguments: Backing.lasting)
  func `an answer of the cache notifies a tracked read`(backing: Backing) async throws {
    try await backing.withManager { manager in
      manager.updateModel(ada)
      await manager.drain()
      let provider = DataProvider<Person>(dataModelManager: manager)
      let told = track { _ = provider.data }
      try await provider.fetchDataFromCache(withCacheKey: "Person:1")
      await manager.drain()
      #expect(told.withLock { $0 } == 1)
    }
  }

  @Test func `a tracked read is notified of a pause, and at resume of changes`() async throws {
    let manager = DataModelManager()
    let provider = DataProvider<Person>(dataModelManager: manager)
    provider.setData(ada)
    await manager.drain()
    let pausing = track { _ = provider.isPaused }
    provider.isPaused = true
    #expect(pausing.withLock { $0 } == 1)
    let data = track { _ = provider.data }
    let resuming = track { _ = provider.isPaused }
    manager.updateModel(Person(id: 1, name: "Ada L."))
    await manager.drain()
    #expect((data.withLock { $0 }, resuming.withLock { $0 }) == (0, 0))
    provider.isPaused = false
    #expect((data.withLock { $0 }, resuming.withLock { $0 }) == (1, 1))
    #expect(provider.data?.name == "Ada L.")
  }

  @Test func `an Observations sequence follows the data`() async throws {
    let manager = DataModelManager()
    let provider = DataProvider<Person>(dataModelManager: manager)
    var names: [String?] = []
    for await name in Observations({ provider.data?.name }) {
      names.append(name)
      if names.count == 5 { break }
      provider.setData(Person(id: 1, name: "Ada \(names.count)"))
    }
    #expect(names == [nil, "Ada 1", "Ada 2", "Ada 3", "Ada 4"])
  }

  @Test(arguments: Backing.allCases)
  func `tracked reads of a list hear of own changes and of those of others`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      let sibling = CollectionDataProvider<Contact>(dataModelManager: manager)
      let first = track { _ = provider.data }
      provider.setData(Contact.list(1, 2), cacheKey: "contacts")
      #expect(first.withLock { $0 } == 1)
      let fetched = track { _ = sibling.count }
      try await sibling.fetchDataFromCache(withCacheKey: "contacts")
      await manager.drain()
      #expect(fetched.withLock { $0 } == 1)
      let told = [
        track { _ = sibling.data }, track { _ = sibling.count }, track { _ = sibling[0] },
      ]
      let pausing = track { _ = sibling.isPaused }
      provider.append([Contact(3)])
      await manager.drain()
      #expect(told.map { $0.withLock { $0 } } == [1, 1, 1])
      let updated = track { _ = sibling.data }
      manager.updateModel(Contact(1, "Ada"))
      await manager.drain()
      #expect(updated.withLock { $0 } == 1)
      #expect(pausing.withLock { $0 } == 0)
      sibling.isPaused = true
      #expect(pausing.withLock { $0 } == 1)
      let still = track { _ = sibling.data }
      provider.append([Contact(4)])
      await manager.drain()
      #expect(still.withLock { $0 } == 0)
      sibling.isPaused = false
      #expect(still.withLock { $0 } == 1)
      #expect(sibling.count == 4)
    }
  }

  @Test
  func `a tracked list is notified of an edit of a sibling before its commit`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      try await provider.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
      let sibling = CollectionDataProvider<Contact>(dataModelManager: manager)
      try await sibling.fetchDataFromCache(withCacheKey: "contacts")
      let writer = WriterGate(store)
      let told = Event()
      withObservationTracking {
        _ = sibling.data
      } onChange: {
        told.signal()
      }
      provider.append([Contact(3)])
      told.wait()
      #expect(sibling.count == 3)
      writer.open()
      await manager.close()
    }
  }
}
