import PandoFixtures
import PandoModels
import PandoProviders
import PandoRecords
import Testing

@Suite struct DataProviderDeletingTests {
  private let ada = Person(id: 1, name: "Ada")
  private let bob = Person(id: 2, name: "Bob")

  @Test(arguments: Backing.allCases)
  func `a deleted root is nil, and shown again when its identifier returns`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      let log = DelegateLog()
      provider.delegate = log
      provider.setData(ada)
      await manager.drain()
      manager.deleteModel(ada, context: "deleted")
      await manager.drain()
      #expect(provider.data == nil)
      #expect(provider.modelIdentifier == "Person:1")
      manager.updateModel(Person(id: 1, name: "Ada L."), context: "back")
      await manager.drain()
      #expect(provider.data?.name == "Ada L.")
      #expect(log.contexts == ["deleted", "back"])
      #expect(log.data(Person.self).map { $0?.name } == [nil, "Ada L."])
    }
  }

  @Test(arguments: Backing.allCases)
  func `an optional child becomes nil, a required one takes its parent along`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Message>(dataModelManager: manager)
      provider.setData(Message(id: 1, text: "Hello", author: ada, reader: bob))
      await manager.drain()
      manager.deleteModel(bob)
      await manager.drain()
      #expect(provider.data == Message(id: 1, text: "Hello", author: ada))
      manager.deleteModel(ada)
      await manager.drain()
      #expect(provider.data == nil)
      let again = Message(id: 1, text: "Again", author: bob)
      manager.updateModel(again)
      await manager.drain()
      #expect(provider.data == again)
    }
  }

  @Test(arguments: Backing.allCases)
  func `only the identifier counts, and without one nothing happens`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let events = EventLog()
      manager.delegate = events
      let provider = DataProvider<Person>(dataModelManager: manager)
      provider.setData(ada)
      await manager.drain()
      let refused = manager.deleteModel(Remark(text: "no identifier"))
      let error = try #require(refused.error as? DataProviderError)
      #expect(error.code == .missingIdentifier)
      await manager.drain()
      #expect(events.refusals.count == 1)
      #expect(provider.data == ada)
      manager.deleteModel(FullProfile(id: 1, name: "", age: 0))
      await manager.drain()
      #expect(provider.data == nil)
    }
  }

  @Test(arguments: Backing.allCases)
  func `a delete in memory only leaves store and cache alone`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      provider.setData(ada)
      await manager.drain()
      manager.deleteModel(ada, updateCache: false)
      await manager.drain()
      #expect(provider.data == nil)
      let reader = DataProvider<Person>(dataModelManager: manager)
      let found = try await reader.fetchDataFromCache(withCacheKey: "Person:1")
      // Memory has no place for what is only to be hidden.
      #expect(found == (backing == .memory ? nil : ada))
    }
  }
}

/// A value inside a node.
struct Remark: Model, Codable, Equatable {
  var text: String
  var modelIdentifier: String? { nil }
}
