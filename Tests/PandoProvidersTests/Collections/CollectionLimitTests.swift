import PandoFixtures
import PandoModels
import PandoProviders
import PandoSystem
import Testing

/// Long queues, batches, and several providers at one time.
@Suite struct CollectionLimitTests {
  private final class Events: DataModelManagerDelegate {
    private let events = Locked<[DataModelEvent]>([])

    var all: [DataModelEvent] { events.withLock { $0 } }

    func dataModelManager(_ manager: DataModelManager, hasEvent event: DataModelEvent) {
      events.withLock { $0.append(event) }
    }
  }

  @Test(arguments: [Backing.memory, .store])
  func `a provider with too many undelivered callbacks is paused, and catches up with one`(
    backing: Backing
  ) async throws {
    try await backing.withManager(limits: .init(undeliveredCallbacksMaximum: 3)) { manager in
      let events = Events()
      manager.delegate = events
      let first = ListFollower<Contact>(manager)
      let second = ListFollower<Contact>(manager)
      try await first.provider.setData(Contact.list(0), cacheKey: "contacts").committed()
      try await second.provider.fetchDataFromCache(withCacheKey: "contacts")
      await manager.drain()
      let (entered, gate) = (Event(), Event())
      second.onCall { _ in
        entered.signal()
        gate.wait()
      }
      first.provider.append(Contact.list(1))
      entered.wait()
      for id in 2..<10 { try await first.provider.append([Contact(id)]).committed() }
      #expect(second.provider.isPaused)
      #expect(first.provider.count == 10)
      #expect(second.provider.count == 5)
      second.onCall(nil)
      gate.signal()
      await manager.drain()
      #expect(!second.provider.isPaused)
      #expect(second.ids == Array(0..<10))
      let insertions = (5..<10).map { CollectionChangeInformation.insert(index: $0) }
      #expect(
        second.takeChanges() == [
          .changes([.insert(index: 1)]), .changes([.insert(index: 2)]),
          .changes([.insert(index: 3)]), .changes([.insert(index: 4)]), .changes(insertions),
        ])
      #expect(
        events.all.contains { event in
          if case .tooManyCallbacks(limit: 3, modelType: "Contact") = event { true } else { false }
        })
    }
  }

  private final class BatchLog: BatchDataProviderListenerDelegate {
    struct Call: Sendable {
      let members: [ObjectIdentifier]
      let context: String?
    }

    private let calls = Locked<[Call]>([])

    func take() -> [Call] { calls.withLock { calls in exchange(&calls, with: []) } }

    func batchDataProviderListenerHasUpdatedDataProviders(
      _ batchListener: BatchDataProviderListener, dataProviders: [any AnyDataProvider],
      context: (any Sendable)?
    ) {
      let members = dataProviders.map { ObjectIdentifier($0) }
      calls.withLock { $0.append(Call(members: members, context: context as? String)) }
    }
  }

  @Test(arguments: Backing.allCases)
  func `members of a batch are called, then the batch once`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let lists = (0..<3).map { _ in ListFollower<Contact>(manager) }
      for (index, list) in lists.enumerated() {
        list.provider.setData(Contact.list(index, 9), cacheKey: "list \(index)")
      }
      await manager.drain()
      let batch = BatchDataProviderListener(
        dataProviders: lists.map(\.provider), dataModelManager: manager)
      let log = BatchLog()
      batch.delegate = log
      manager.updateModels([Contact(0, "a"), Contact(1, "b")], context: "two")
      await manager.drain()
      let calls = log.take()
      #expect(calls.map(\.context) == ["two"])
      #expect(
        calls.first?.members
          == [ObjectIdentifier(lists[0].provider), ObjectIdentifier(lists[1].provider)])
      for list in lists[..<2] { #expect(list.takeChanges() == [.changes([.update(index: 0)])]) }
      #expect(lists[2].takeChanges().isEmpty)
      #expect(lists[0].provider.lastUpdated == lists[1].provider.lastUpdated)
      batch.isPaused = true
      manager.updateModel(Contact(9, "c"), context: "nine")
      manager.deleteModel(Contact(1), context: "last")
      await manager.drain()
      #expect(lists[1].ids == [1, 9])
      batch.isPaused = false
      await manager.drain()
      #expect(lists[1].ids == [9])
      #expect(lists[1].takeChanges() == [.changes([.delete(index: 0), .update(index: 0)])])
      #expect(log.take().map(\.members.count) == [3])
    }
  }

  @Test func `a snapshot shows several lists at one moment, as they are committed`() async throws {
    try await Backing.store.withManager { manager in
      let contacts = CollectionDataProvider<Contact>(dataModelManager: manager)
      let teams = CollectionDataProvider<Team>(dataModelManager: manager)
      try await contacts.setData(Contact.list(1), cacheKey: "contacts").committed()
      try await teams.setData([Team(id: 1, lead: Contact(1))], cacheKey: "teams").committed()
      try onThreads(2) { thread in
        for round in 0..<200 {
          if thread == 0 {
            manager.updateModel(Contact(1, "\(round)"))
          } else {
            manager.snapshot { snapshot in
              let name = snapshot.data(of: contacts)[0].name
              #expect(snapshot.data(of: teams)[0].lead.name == name)
            }
          }
        }
      }
    }
  }

  @Test func `over a custom cache too, a deleted model leaves the collections that are shown`()
    async throws
  {
    let cache = DictionaryCache()
    let manager = DataModelManager(cacheDelegate: cache)
    let list = ListFollower<Contact>(manager)
    list.provider.setData(Contact.list(1, 2, 3), cacheKey: "contacts")
    let other = ListFollower<Contact>(manager)
    other.provider.setData(Contact.list(3), cacheKey: "others")
    await manager.drain()
    let before = cache.calls.count
    try await manager.deleteModel(Contact(2)).committed()
    #expect(list.ids == [1, 3])
    #expect(
      cache.calls.dropFirst(before) == ["delete Contact:2", "set collection contacts"])
    let cached = try await cache.collection(forKey: "contacts", as: Contact.self, context: nil)
    #expect(cached == Contact.list(1, 3))
  }

  @Test(arguments: [false, true])
  func `over a custom cache a deletion changes the shown lists only, and keeps parents in it`(
    isTeamShown: Bool
  ) async throws {
    let cache = DictionaryCache()
    try await cache.setCollection(Contact.list(1, 2), forKey: "shown", context: nil)
    try await cache.setCollection(Contact.list(1), forKey: "unseen", context: nil)
    let stored = Team(id: 1, lead: Contact(1))
    cache["Team:1"] = stored
    let manager = DataModelManager(cacheDelegate: cache)
    let list = ListFollower<Contact>(manager)
    try await list.provider.fetchDataFromCache(withCacheKey: "shown")
    let team = DataProvider<Team>(dataModelManager: manager)
    if isTeamShown {
      #expect(try await team.fetchDataFromCache(withCacheKey: "Team:1") == stored)
    }
    let before = cache.calls.count
    try await manager.deleteModel(Contact(1)).committed()
    await manager.drain()
    #expect(cache.calls.dropFirst(before) == ["delete Contact:1", "set collection shown"])
    #expect(list.ids == [2])
    let unseen = try await cache.collection(forKey: "unseen", as: Contact.self, context: nil)
    #expect(unseen == Contact.list(1))
    #expect(cache["Team:1"] as? Team == stored)
    #expect(team.data == nil)
  }
}
