import PandoConsistency
import PandoFixtures
import PandoModels
import PandoStore
import Testing

@testable import PandoProviders

@Suite struct DataProviderOrderTests {
  private func person(_ name: String) -> Person { Person(id: 1, name: name) }

  @Test(arguments: Backing.allCases)
  func `a change older than what the provider has set itself is ignored there`(
    backing: Backing
  ) async throws {
    try await backing.withStoppableManager { manager, stop in
      let first = DataProvider<Person>(dataModelManager: manager)
      let second = DataProvider<Person>(dataModelManager: manager)
      let firstLog = DelegateLog()
      let secondLog = DelegateLog()
      first.delegate = firstLog
      second.delegate = secondLog
      let gate = stop()
      first.setData(person("A"))
      second.setData(person("B"))
      first.setData(person("C"))
      #expect(first.data == person("C"))
      #expect(second.data == person("B"))
      gate.open()
      await manager.drain()
      #expect(first.data == person("C"))
      #expect(second.data == person("C"))
      #expect(firstLog.calls.isEmpty)
      #expect(secondLog.data() == [person("C")])
    }
  }

  @Test(arguments: Backing.allCases)
  func `of two setters the later one counts for both`(backing: Backing) async throws {
    try await backing.withStoppableManager { manager, stop in
      let first = DataProvider<Person>(dataModelManager: manager)
      let second = DataProvider<Person>(dataModelManager: manager)
      let secondLog = DelegateLog()
      second.delegate = secondLog
      let gate = stop()
      first.setData(person("A"))
      second.setData(person("B"))
      #expect(first.data == person("A"))
      gate.open()
      await manager.drain()
      #expect(first.data == person("B"))
      #expect(second.data == person("B"))
      #expect(secondLog.calls.isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func `a callback queued when the provider sets something is dropped`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      let log = DelegateLog()
      provider.delegate = log
      provider.setData(person("A"))
      await manager.drain()
      let isOpen = Event()
      manager.consistencyManager.deliverer.enqueue { isOpen.wait() }
      manager.updateModel(person("B"))
      await manager.consistencyManager.processed()
      if case .store(let bridge) = manager.backing { await bridge.passed() }
      await manager.consistencyManager.processed()
      #expect(provider.data == person("B"))
      provider.setData(person("C"))
      isOpen.signal()
      await manager.drain()
      #expect(log.calls.isEmpty)
      #expect(provider.data == person("C"))
    }
  }

  @Test(arguments: Backing.allCases)
  func `an update of a root that the provider has left calls no delegate`(
    backing: Backing
  ) async throws {
    try await backing.withStoppableManager { manager, stop in
      let provider = DataProvider<Person>(dataModelManager: manager)
      let log = DelegateLog()
      provider.delegate = log
      provider.setData(person("A"))
      await manager.drain()
      let gate = stop()
      manager.updateModel(person("B"))
      let bob = Person(id: 2, name: "Bob")
      provider.setData(bob)
      gate.open()
      await manager.drain()
      #expect(provider.data == bob)
      #expect(log.calls.isEmpty)
      manager.updateModel(person("C"))
      await manager.drain()
      #expect(log.calls.isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func `cache writes come in the order of the calls`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      for number in 0..<500 { provider.setData(person("\(number)")) }
      await manager.drain()
      #expect(provider.data == person("499"))
      let reader = DataProvider<Person>(dataModelManager: manager)
      let found = try await reader.fetchDataFromCache(withCacheKey: "Person:1")
      #expect(found == person("499"))
    }
  }

  @Test func `a failed write is shown no longer, and the delegate is called`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let events = EventLog()
      manager.delegate = events
      let provider = DataProvider<Loop>(dataModelManager: manager)
      let log = DelegateLog()
      provider.delegate = log
      let good = Loop(id: 1, children: [Loop(id: 2)])
      provider.setData(good)
      await manager.drain()
      let write = provider.setData(
        Loop(id: 1, children: [Loop(id: 3, children: [Loop(id: 1)])]), context: "cyclic")
      await #expect(throws: ModelError.self) { try await write.committed() }
      #expect(provider.data == good)
      await manager.drain()
      #expect(log.contexts == ["cyclic"])
      #expect(events.failedWrites == [["Loop:1"]])
      provider.setData(Loop(id: 1))
      let result1 = try await provider.setData(Loop(id: 1)).committed()
      #expect(result1 == nil)
      #expect(log.calls.count == 1)
      await manager.close()
    }
  }

  @Test func `an impossible tree is refused in memory too`() async throws {
    let manager = DataModelManager()
    let events = EventLog()
    manager.delegate = events
    let provider = DataProvider<Loop>(dataModelManager: manager)
    let good = Loop(id: 1)
    provider.setData(good)
    await manager.drain()
    let write = provider.setData(Loop(id: 1, children: [Loop(id: 1)]))
    await #expect(throws: (any Error).self) { try await write.committed() }
    #expect(provider.data == good)
    await manager.drain()
    #expect(events.mistakes == 1)
  }
}

/// A model that can hold itself.
struct Loop: Model, Codable, Equatable {
  var id: Int
  var children: [Loop] = []
  var modelIdentifier: String? { "Loop:\(id)" }
}
