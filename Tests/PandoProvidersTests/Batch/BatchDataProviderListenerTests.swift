import Dispatch
import Observation
import PandoConsistency
import PandoFixtures
import PandoModels
import PandoSystem
import Testing

@testable import PandoProviders

@Suite struct BatchDataProviderListenerTests {
  private final class Log: BatchDataProviderListenerDelegate, DataProviderDelegate {
    struct Call: Sendable, Equatable {
      var members: [ObjectIdentifier] = []
      var single: ObjectIdentifier?
      var context: String?
    }

    private let log = Locked<[Call]>([])

    var calls: [Call] { log.withLock { $0 } }

    func batchDataProviderListenerHasUpdatedDataProviders(
      _ batchListener: BatchDataProviderListener, dataProviders: [any AnyDataProvider],
      context: (any Sendable)?
    ) {
      let call = Call(
        members: dataProviders.map { ObjectIdentifier($0) }, context: context as? String)
      log.withLock { $0.append(call) }
    }

    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: (any Sendable)?) {
      let call = Call(single: ObjectIdentifier(dataProvider), context: context as? String)
      log.withLock { $0.append(call) }
    }
  }

  private struct Rig {
    let first: DataProvider<Person>
    let second: DataProvider<Message>
    let third: DataProvider<Person>
    let batch: BatchDataProviderListener
    let log = Log()

    init(_ manager: DataModelManager) async {
      first = DataProvider(dataModelManager: manager)
      second = DataProvider(dataModelManager: manager)
      third = DataProvider(dataModelManager: manager)
      let ada = Person(id: 1, name: "Ada")
      first.setData(ada)
      second.setData(Message(id: 1, text: "", author: ada))
      third.setData(Person(id: 2, name: "Bob"))
      batch = BatchDataProviderListener(
        dataProviders: [first, second, third], dataModelManager: manager)
      batch.delegate = log
      first.delegate = log
      second.delegate = log
      third.delegate = log
      await manager.drain()
    }

    func single(_ provider: AnyObject, _ context: String) -> Log.Call {
      Log.Call(single: ObjectIdentifier(provider), context: context)
    }

    func batched(_ providers: [any AnyDataProvider], _ context: String) -> Log.Call {
      Log.Call(members: providers.map { ObjectIdentifier($0) }, context: context)
    }
  }

  private func ada(_ name: String) -> Person { Person(id: 1, name: name) }

  @Test(arguments: Backing.allCases)
  func `affected members are called in order, then the batch once`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let rig = await Rig(manager)
      manager.updateModel(ada("B"), context: "one")
      manager.updateModel(Person(id: 2, name: "C"), context: "two")
      await manager.drain()
      #expect(
        rig.log.calls == [
          rig.single(rig.first, "one"), rig.single(rig.second, "one"),
          rig.batched([rig.first, rig.second], "one"),
          rig.single(rig.third, "two"), rig.batched([rig.third], "two"),
        ])
    }
  }

  @Test func `a pause that ends while it begins leaves no member paused`() async throws {
    let manager = DataModelManager()
    let rig = await Rig(manager)
    withObservationTracking {
      _ = rig.first.isPaused
    } onChange: {
      rig.batch.isPaused = false
    }
    rig.batch.isPaused = true
    #expect(!rig.batch.isPaused)
    #expect(!rig.first.isPaused && !rig.second.isPaused && !rig.third.isPaused)
  }

  @Test func `members are paused as their batch after calls of many threads`() async throws {
    let manager = DataModelManager()
    let rig = await Rig(manager)
    await blocking {
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for number in 0..<1_000 { rig.batch.isPaused = (number + thread).isMultiple(of: 2) }
      }
    }
    let isPaused = rig.batch.isPaused
    #expect(
      [rig.first.isPaused, rig.second.isPaused, rig.third.isPaused].allSatisfy { $0 == isPaused })
  }

  @Test func `a member can belong to one batch only`() async throws {
    let manager = DataModelManager()
    let events = EventLog()
    manager.delegate = events
    let rig = await Rig(manager)
    let other = BatchDataProviderListener(
      dataProviders: [rig.first], dataModelManager: manager)
    #expect(other.dataProviders.isEmpty)
    #expect(rig.batch.dataProviders.count == 3)
    await manager.drain()
    #expect(events.mistakes == 1)
  }

  @Test(arguments: Backing.allCases)
  func `all members carry the time of the change`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let rig = await Rig(manager)
      let isOpen = Event()
      manager.consistencyManager.deliverer.enqueue { isOpen.wait() }
      manager.updateModel(ada("B"))
      await manager.consistencyManager.processed()
      isOpen.signal()
      await manager.drain()
      let time = try #require(rig.first.lastUpdated)
      #expect(rig.second.lastUpdated == time)
      #expect(rig.third.lastUpdated != time)
      rig.first.setData(ada("C"))
      let set = try #require(rig.first.lastUpdated)
      await manager.drain()
      #expect(rig.first.lastUpdated == set)
      #expect(rig.second.lastUpdated == set)
    }
  }

  @Test(arguments: Backing.allCases)
  func `a batch is paused as a whole, and called once at resuming`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let rig = await Rig(manager)
      rig.batch.isPaused = true
      #expect(rig.first.isPaused && rig.third.isPaused)
      manager.updateModel(ada("B"), context: "one")
      manager.updateModel(Person(id: 2, name: "C"), context: "two")
      manager.updateModel(ada("D"), context: "three")
      await manager.drain()
      #expect(rig.log.calls.isEmpty)
      #expect(rig.second.data?.author.name == "Ada")
      rig.batch.isPaused = false
      #expect(rig.second.data?.author.name == "D")
      await manager.drain()
      #expect(
        rig.log.calls == [
          rig.single(rig.first, "three"), rig.single(rig.second, "three"),
          rig.single(rig.third, "two"),
          rig.batched([rig.first, rig.second, rig.third], "three"),
        ])
    }
  }

  @Test func `a paused batch that ends lets its members go on`() async throws {
    let manager = DataModelManager()
    let provider = DataProvider<Person>(dataModelManager: manager)
    provider.setData(ada("A"))
    do {
      let batch = BatchDataProviderListener(dataProviders: [provider], dataModelManager: manager)
      batch.isPaused = true
      #expect(provider.isPaused)
    }
    #expect(!provider.isPaused)
  }

  @Test func `a batch retains no member`() async throws {
    let manager = DataModelManager()
    weak var gone: DataProvider<Person>?
    let batch: BatchDataProviderListener
    do {
      let provider = DataProvider<Person>(dataModelManager: manager)
      gone = provider
      batch = BatchDataProviderListener(dataProviders: [provider], dataModelManager: manager)
    }
    #expect(gone == nil)
    #expect(batch.dataProviders.isEmpty)
  }
}
