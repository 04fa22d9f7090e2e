import PandoConsistency
import PandoFixtures
import PandoModels
import PandoStore
import Testing

@testable import PandoProviders

@Suite struct ProviderValuesTests {

  private func person(_ age: Int) -> FullProfile { FullProfile(id: 1, name: "Ada", age: age) }

  /// Waits until so many observers wait for the next state of a provider.
  private func waiters(_ count: Int, of provider: DataProvider<FullProfile>) async {
    let state = provider.holder.observed()
    while state.waiterCount < count { await Task.yield() }
  }

  @Test(arguments: Backing.allCases)
  func `the model at the beginning comes first, then the newest`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<FullProfile>(dataModelManager: manager)
      var values = provider.values.makeAsyncIterator()
      try await expectNext(&values, nil)
      provider.setData(person(1))
      try await expectNext(&values, person(1))
      for age in 2...20 { manager.updateModel(person(age)) }
      await manager.drain()
      try await expectNext(&values, person(20))
      var later = provider.values.makeAsyncIterator()
      try await expectNext(&later, person(20))
      manager.deleteModel(person(20))
      try await expectNext(&values, nil)
    }
  }

  @Test(arguments: Backing.allCases)
  func `a provider that goes ends its sequences, after the last model`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      var provider: DataProvider? = DataProvider<FullProfile>(dataModelManager: manager)
      let sequence = try #require(provider).values
      var values = sequence.makeAsyncIterator()
      _ = try await values.next()
      provider?.setData(person(1))
      await manager.drain()
      #expect(manager.observed.count == 1)
      provider = nil
      try await expectNext(&values, person(1))
      try await expectEnd(&values)
      try await expectEnd(&values)
      #expect(manager.observed.count == 0)
    }
  }

  @Test(arguments: Backing.allCases)
  func `closing the manager ends all sequences`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<FullProfile>(dataModelManager: manager)
      let other = DataProvider<FullProfile>(dataModelManager: manager)
      let observer = Task {
        var last: FullProfile?
        for try await value in provider.values { last = value }
        return last
      }
      provider.setData(person(1))
      await waiters(1, of: provider)
      await manager.close()
      #expect(try await observer.value == person(1))
      var late = other.values.makeAsyncIterator()
      try await expectNext(&late, nil)
      try await expectEnd(&late)
    }
  }

  @Test func `a long write delays no first value, and nothing shows before its commit`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<FullProfile>(dataModelManager: manager)
      try await provider.setData(person(1)).committed()
      let writer = WriterGate(store)
      provider.setData(person(2))
      #expect(provider.data == person(2))
      var values = provider.values.makeAsyncIterator()
      var changes = provider.changes.makeAsyncIterator()
      try await expectNext(&values, person(1))
      #expect(try await changes.next()?.data == person(1))
      writer.open()
      try await expectNext(&values, person(2))
      #expect(try await changes.next()?.data == person(2))
      await manager.close()
    }
  }

  @Test func `a write that fails is in no sequence`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<Brittle>(dataModelManager: manager)
      try await provider.setData(Brittle(1, "old")).committed()
      await manager.drain()
      let state = provider.holder.observed()
      let observer = Task {
        var texts: [String?] = []
        for try await value in provider.values { texts.append(value?.text) }
        return texts
      }
      while state.waiterCount < 1 { await Task.yield() }
      let version = state.version
      let writer = WriterGate(store)
      let failing = provider.setData(Brittle(1, "fails"))
      #expect(provider.data?.text == "fails")
      let alsoFailing = manager.updateModel(Brittle(1, "fails"))
      writer.open()
      await #expect(throws: Brittle.Failure.self) { try await failing.committed() }
      await #expect(throws: Brittle.Failure.self) { try await alsoFailing.committed() }
      await manager.drain()
      #expect(provider.data?.text == "old")
      #expect(state.version == version)
      try await provider.setData(Brittle(1, "good")).committed()
      await manager.close()
      #expect(try await observer.value == ["old", "good"])
    }
  }

  @Test(arguments: Backing.allCases)
  func `observers that begin at any time see each later commit or a newer one`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<FullProfile>(dataModelManager: manager)
      let last = 300
      provider.setData(person(0))
      try await withThrowingTaskGroup(of: Int.self) { group in
        group.addTask {
          for age in 1...last {
            manager.updateModel(person(age))
            if age % 4 == 0 { await Task.yield() }
          }
          return last
        }
        for _ in 0..<100 {
          group.addTask {
            var ages = [-1]
            for try await value in provider.values {
              guard let age = value?.age else { continue }
              // Neither an older one nor the same again.
              try #require(age > ages[ages.count - 1])
              ages.append(age)
              if age == last { break }
            }
            return ages[ages.count - 1]
          }
        }
        for try await end in group { #expect(end == last) }
      }
    }
  }

  @Test func `ten thousand observers use no reader slot and all get the last value`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<FullProfile>(dataModelManager: manager)
      try await provider.setData(person(1)).committed()
      let slots = try store.statistics().readerCount
      let count = 10_000
      let total = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<count {
          group.addTask {
            for try await value in provider.values where value?.age == 2 { return 1 }
            return 0
          }
        }
        await waiters(count, of: provider)
        #expect(try store.statistics().readerCount == slots)
        manager.updateModel(person(2))
        return try await group.reduce(0, +)
      }
      #expect(total == count)
      #expect(provider.holder.observed().waiterCount == 0)
      await manager.close()
    }
  }

  @Test func `ten thousand observed providers all get the last value`() async throws {
    let manager = DataModelManager()
    let providers = (0..<10_000).map { _ in DataProvider<FullProfile>(dataModelManager: manager) }
    let total = try await withThrowingTaskGroup(of: Int.self) { group in
      for provider in providers {
        provider.listen(to: "Person:1")
        group.addTask {
          for try await value in provider.values where value?.age == 2 { return 1 }
          return 0
        }
      }
      await manager.drain()
      manager.updateModel(person(2))
      return try await group.reduce(0, +)
    }
    #expect(total == providers.count)
    #expect(manager.observed.count == providers.count)
  }

  @Test func `cancelling an observer frees what it held`() async throws {
    let manager = DataModelManager()
    let provider = DataProvider<FullProfile>(dataModelManager: manager)
    let observer = Task {
      var count = 0
      for try await _ in provider.values { count += 1 }
      return count
    }
    await waiters(1, of: provider)
    observer.cancel()
    #expect(try await observer.value == 1)
    #expect(provider.holder.observed().waiterCount == 0)
  }

  @Test func `cancelling the writing task fails no observer`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<FullProfile>(dataModelManager: manager)
      var values = provider.values.makeAsyncIterator()
      _ = try await values.next()
      let writer = WriterGate(store)
      let writing = Task { try await provider.setData(person(1)).committed() }
      writing.cancel()
      writer.open()
      try await expectNext(&values, person(1))
      _ = await writing.result
      manager.updateModel(person(2))
      try await expectNext(&values, person(2))
      await manager.close()
    }
  }

  @Test func `a model that can't be read any more ends the observation by an error`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<FullProfile>(dataModelManager: manager)
      let other = DataProvider<Person>(dataModelManager: manager)
      try await provider.setData(person(1)).committed()
      try await other.setData(Person(id: 2, name: "Grace")).committed()
      var values = provider.values.makeAsyncIterator()
      var others = other.values.makeAsyncIterator()
      _ = try await values.next()
      _ = try await others.next()
      try await store.write { transaction in
        try transaction.set(TreeNode("Person:1", type: "FullProfile", fields: ["age": "old"]))
      }
      await #expect(throws: ModelError.self) { try await values.next() }
      try await expectEnd(&values)
      other.setData(Person(id: 2, name: "Grace H."))
      #expect(try await others.next()??.name == "Grace H.")
      await manager.close()
    }
  }

  @Test(arguments: Backing.allCases)
  func `a paused provider's sequence stands still and takes the newest model at resume`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<FullProfile>(dataModelManager: manager)
      provider.setData(person(1))
      await manager.drain()
      var values = provider.values.makeAsyncIterator()
      _ = try await values.next()
      provider.isPaused = true
      manager.updateModel(person(2))
      manager.updateModel(person(3))
      await manager.drain()
      #expect(provider.holder.observed().version == 1)
      provider.isPaused = false
      try await expectNext(&values, person(3))
    }
  }

  @Test(arguments: Backing.allCases)
  func `changes carry the context of the last commit`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<FullProfile>(dataModelManager: manager)
      provider.setData(person(1), context: "first")
      await manager.drain()
      var changes = provider.changes.makeAsyncIterator()
      var change = try await changes.next()
      #expect(change?.data == person(1))
      #expect(change?.context == nil)
      provider.setData(person(2), context: "own")
      change = try await changes.next()
      #expect(change?.data == person(2))
      #expect(change?.context as? String == "own")
      manager.updateModel(person(3), context: "a")
      manager.updateModel(person(4), context: "b")
      await manager.drain()
      change = try await changes.next()
      #expect(change?.data == person(4))
      #expect(change?.context as? String == "b")
    }
  }

  @Test(arguments: Backing.allCases)
  func `a commit that leaves the model as it is does not come`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<FullProfile>(dataModelManager: manager)
      provider.setData(person(1))
      await manager.drain()
      var changes = provider.changes.makeAsyncIterator()
      _ = try await changes.next()
      provider.setData(person(1), context: "same")
      manager.updateModel(person(1), context: "same")
      manager.updateModel(Person(id: 2, name: "Grace"), context: "other")
      await manager.drain()
      manager.updateModel(person(2), context: "new")
      #expect(try await changes.next()?.context as? String == "new")
    }
  }

  @Test(arguments: Backing.allCases)
  func `clearing a provider is shown to its observers`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<FullProfile>(dataModelManager: manager)
      provider.setData(person(1))
      await manager.drain()
      var values = provider.values.makeAsyncIterator()
      try await expectNext(&values, person(1))
      provider.setData(nil)
      try await expectNext(&values, nil)
      manager.updateModel(person(2))
      await manager.drain()
      provider.setData(person(3))
      try await expectNext(&values, person(3))
    }
  }

  @Test(arguments: Backing.lasting)
  func `a fetched model and what becomes of it is shown to observers`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      manager.updateModel(person(1))
      await manager.drain()
      let provider = DataProvider<FullProfile>(dataModelManager: manager)
      var values = provider.values.makeAsyncIterator()
      try await expectNext(&values, nil)
      try await provider.fetchDataFromCache(withCacheKey: "Person:1")
      try await expectNext(&values, person(1))
      manager.updateModel(person(2))
      try await expectNext(&values, person(2))
    }
  }

  @Test func `callbacks that wait for a blocked queue delay no sequence`() async throws {
    let manager = DataModelManager(limits: .init(undeliveredCallbacksMaximum: 3))
    let provider = DataProvider<FullProfile>(dataModelManager: manager)
    provider.setData(person(0))
    await manager.drain()
    var values = provider.values.makeAsyncIterator()
    try await expectNext(&values, person(0))
    let isOpen = Event()
    manager.consistencyManager.deliverer.enqueue { isOpen.wait() }
    for age in 1...10 { manager.updateModel(person(age)) }
    await manager.consistencyManager.processed()
    #expect(provider.isPaused)
    try await expectNext(&values, person(10))
    isOpen.signal()
    await manager.drain()
    manager.updateModel(person(11))
    try await expectNext(&values, person(11))
  }
}
