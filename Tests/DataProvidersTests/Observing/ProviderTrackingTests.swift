import Consistency
import DataProviders
import Locking
import ModelCore
import Observation
import TestSupport
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
  func `K1 a tracked read of data hears of the next change once`(backing: Backing) async throws {
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
  func `B3 what does not change data is not told`(backing: Backing) async throws {
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
  func `H3 an answer of the cache is told`(backing: Backing) async throws {
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

  @Test func `F1 pausing is told, and what was missed at resume`() async throws {
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

  @Test func `K1 an Observations sequence follows the data`() async throws {
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
}
