import Dispatch
import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

@Suite struct DataProviderTests {
  private let ada = Person(id: 1, name: "Ada")

  @Test(arguments: Backing.allCases)
  func `a set value is shown at once, and everywhere soon`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let first = DataProvider<Person>(dataModelManager: manager)
      let second = DataProvider<Person>(dataModelManager: manager)
      first.setData(ada)
      #expect(first.data == ada)
      second.setData(ada)
      var changed = ada
      changed.isOnline = true
      first.setData(changed)
      #expect(first.data == changed)
      #expect(second.data != nil)
      await manager.drain()
      #expect(first.data == changed)
      #expect(second.data == changed)
    }
  }

  @Test(arguments: Backing.allCases)
  func `nil clears this provider only`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let first = DataProvider<Person>(dataModelManager: manager)
      let second = DataProvider<Person>(dataModelManager: manager)
      first.setData(ada)
      second.setData(ada)
      first.setData(nil)
      #expect(first.data == nil)
      await manager.drain()
      #expect(first.data == nil)
      #expect(second.data == ada)
      manager.updateModel(Person(id: 1, name: "Ada L."))
      await manager.drain()
      #expect(first.data == nil)
      #expect(second.data?.name == "Ada L.")
    }
  }

  @Test(arguments: Backing.allCases)
  func `clearing ends when nothing is listened to any more`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Person>(dataModelManager: manager)
      try await provider.setData(nil).committed()
      provider.setData(ada)
      await manager.drain()
      #expect(manager.liveNodeCount == 1)
      let gate = Gate(stopping: manager)
      let clearing = provider.setData(nil)
      #expect(provider.data == nil)
      #expect(manager.liveNodeCount == 1)
      gate.open()
      try await clearing.committed()
      #expect(manager.liveNodeCount == 0)
      provider.listen(to: "Person:2")
      await manager.drain()
      #expect(manager.liveNodeCount == 1)
      try await provider.setData(nil).committed()
      #expect(manager.liveNodeCount == 0)
    }
  }

  @Test(arguments: Backing.allCases)
  func `the setter's own delegate is not called, others are with the context`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let own = DelegateLog()
      let other = DelegateLog()
      let first = DataProvider<Message>(dataModelManager: manager)
      let second = DataProvider<Person>(dataModelManager: manager)
      first.delegate = own
      second.delegate = other
      second.setData(ada)
      await manager.drain()
      let message = Message(id: 1, text: "Hello", author: Person(id: 1, name: "Ada L."))
      first.setData(message, context: "from the network")
      await manager.drain()
      #expect(own.calls.isEmpty)
      #expect(other.contexts == ["from the network"])
      #expect(other.data() == [message.author])
      #expect(second.data == message.author)
    }
  }

  @Test(arguments: Backing.lasting)
  func `a fetched model is listened to like a set one`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let message = Message(id: 1, text: "Hello", author: ada)
      manager.updateModel(message)
      let provider = DataProvider<Message>(dataModelManager: manager)
      let fetched = try await provider.fetchDataFromCache(withCacheKey: "Message:1")
      #expect(fetched == message)
      #expect(provider.data == message)
      manager.updateModel(Person(id: 1, name: "Ada L."))
      await manager.drain()
      #expect(provider.data?.author.name == "Ada L.")
    }
  }

  @Test(arguments: [false, true])
  func `a delegate may call everything, on a concurrent queue and on an executor`(
    onExecutor: Bool
  ) async {
    let queue = DispatchQueue(label: "delivery", attributes: .concurrent)
    let manager = DataModelManager(
      deliveringOn: onExecutor ? .executor(globalConcurrentExecutor) : .queue(queue))
    let first = DataProvider<Person>(dataModelManager: manager)
    let second = DataProvider<Person>(dataModelManager: manager)
    let runningCount = Locked(0)
    let callCount = Locked(0)
    let log = DelegateLog {
      let running = runningCount.withLock { count -> Int in
        count += 1
        return count
      }
      #expect(running == 1, "one after another, and none inside of another")
      // Each call of the first ones leads to another.
      let call = callCount.withLock { count -> Int in
        count += 1
        return count
      }
      if call <= 20 {
        second.isPaused = true
        first.setData(Person(id: 1, name: "from call \(call)"))
        second.isPaused = false
        manager.updateModel(Person(id: 2, name: "\(call)"))
        let shown = manager.snapshot { $0.data(of: first)?.id }
        #expect(shown == 1)
      }
      runningCount.withLock { $0 -= 1 }
    }
    second.delegate = log
    first.setData(ada)
    second.setData(ada)
    for number in 0..<100 { manager.updateModel(Person(id: 1, name: "\(number)")) }
    // A drain waits for the calls that are on their way; each of the first 20 leads to more.
    for _ in 0...20 { await manager.drain() }
    manager.updateModel(Person(id: 1, name: "last"))
    await manager.drain()
    #expect(second.data?.name == "last")
    #expect(runningCount.withLock { $0 } == 0)
  }
}
