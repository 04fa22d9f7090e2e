import Observation
import PandoConsistency
import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoProviders

@Suite struct CollectionValuesTests {
  private func makeProvider(_ manager: DataModelManager) -> CollectionDataProvider<Contact> {
    CollectionDataProvider(dataModelManager: manager)
  }

  /// A provider that shows the collection of a key.
  private func join(
    _ manager: DataModelManager, _ key: String = "contacts"
  ) async throws -> CollectionDataProvider<Contact> {
    let provider = makeProvider(manager)
    try await provider.fetchDataFromCache(withCacheKey: key)
    return provider
  }

  @Test(arguments: Backing.allCases)
  func `the list at the beginning comes first, then the newest`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let provider = makeProvider(manager)
      var values = provider.values.makeAsyncIterator()
      try await expectNext(&values, [])
      provider.setData(Contact.list(1, 2), cacheKey: "contacts")
      await manager.drain()
      try await expectNext(&values, Contact.list(1, 2))
      for id in 3...20 { provider.append([Contact(id)]) }
      await manager.drain()
      try await expectNext(&values, (1...20).map { Contact($0) })
      var later = provider.values.makeAsyncIterator()
      try await expectNext(&later, provider.data)
    }
  }

  /// The second value was equal to the first one.
  @Test func `a list that is set to the same elements is no new value`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let provider = makeProvider(manager)
      try await provider.setData(Contact.list(1), cacheKey: "contacts").committed()
      let received = Locked<[[Contact]]>([])
      let iterating = Task {
        for try await value in provider.values {
          received.withLock { $0.append(value) }
          if value.count == 2 { return }
        }
      }
      while received.withLock({ $0.isEmpty }) { await Task.yield() }
      try await store.write { transaction in
        try transaction.removeCollection("contacts")
        try transaction.setCollection("contacts", to: Contact.list(1))
      }
      await manager.drain()
      for _ in 0..<1_000 { await Task.yield() }
      provider.append([Contact(2)])
      try await iterating.value
      #expect(received.withLock { $0 } == [Contact.list(1), Contact.list(1, 2)])
      await manager.close()
    }
  }

  @Test func `a long write delays no first value, and nothing shows before its commit`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let provider = makeProvider(manager)
      try await provider.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
      let writer = WriterGate(store)
      provider.append([Contact(3)])
      var values = provider.values.makeAsyncIterator()
      var changes = provider.changes.makeAsyncIterator()
      try await expectNext(&values, Contact.list(1, 2))
      #expect(try await changes.next()?.change == .reset)
      #expect(provider.data == Contact.list(1, 2, 3))
      writer.open()
      try await expectNext(&values, Contact.list(1, 2, 3))
      let change = try await changes.next()
      #expect(change?.change == .changes([.insert(index: 2)]))
      await manager.close()
    }
  }

  @Test(arguments: Backing.allCases)
  func `each change comes as what it does to the list, with its context`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let provider = makeProvider(manager)
      provider.setData(Contact.list(1, 2, 3, 4), cacheKey: "contacts", context: "before")
      let sibling = try await join(manager)
      await manager.drain()
      var changes = sibling.changes.makeAsyncIterator()
      func next() async throws -> CollectionProviderChange<Contact> {
        await manager.drain()
        return try #require(try await changes.next())
      }
      func expect(
        _ expected: CollectionChange, _ context: String?,
        sourceLocation: SourceLocation = #_sourceLocation
      ) async throws {
        let change = try await next()
        #expect(change.change == expected, sourceLocation: sourceLocation)
        #expect(change.context as? String == context, sourceLocation: sourceLocation)
        #expect(change.data == sibling.data, sourceLocation: sourceLocation)
      }
      try await expect(.reset, nil)
      provider.insert(Contact.list(9), at: 1, context: "insert")
      try await expect(.changes([.insert(index: 1)]), "insert")
      sibling.move(from: 0, to: 4, context: "move")
      try await expect(.changes([.move(from: 0, to: 4)]), "move")
      manager.updateModel(Contact(3, "Carl"), context: "elsewhere")
      try await expect(.changes([.update(index: 2)]), "elsewhere")
      manager.deleteModel(Contact(9), context: "delete")
      try await expect(.changes([.delete(index: 0)]), "delete")
      provider.update(Contact(4, "Dan"), at: 2, context: "update")
      try await expect(.changes([.update(index: 2)]), "update")
      provider.setData(Contact.list(4, 3), cacheKey: "contacts", context: "set")
      try await expect(.reset, "set")
    }
  }

  @Test(arguments: Backing.allCases, seeds(4))
  func `observers of any speed are led exactly to the last list`(
    backing: Backing, seed: UInt64
  ) async throws {
    try await backing.withManager { manager in
      let provider = makeProvider(manager)
      provider.setData(Contact.list(1, 2, 3), cacheKey: "contacts")
      let sibling = try await join(manager)
      let ends = try await withThrowingTaskGroup(of: [Contact]?.self) { group in
        for number in 0..<6 {
          let observed = number < 3 ? provider : sibling
          let sequence = observed.changes
          group.addTask {
            var random = SeededGenerator(seed: seed * 100 + UInt64(number))
            var list: [Contact] = []
            for try await change in sequence {
              list = list.applying(change.change, from: change.data) { $0 }
              try #require(list == change.data)
              if Bool.random(using: &random) { await Task.yield() }
            }
            return list
          }
        }
        var random = SeededGenerator(seed: seed)
        for step in 0..<300 {
          edit(manager, step % 2 == 0 ? provider : sibling, &random)
          if Int.random(in: 0..<8, using: &random) == 0 { await Task.yield() }
        }
        await manager.close()
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(ends.count == 6)
      for end in ends { #expect(end == provider.data) }
    }
  }

  /// Does something to a list or its elements.
  private func edit(
    _ manager: DataModelManager, _ provider: CollectionDataProvider<Contact>,
    _ random: inout SeededGenerator
  ) {
    let count = provider.count
    let contact = Contact(
      Int.random(in: 1...12, using: &random), "\(Int.random(in: 0...3, using: &random))")
    let index = Int.random(in: 0...max(0, count - 1), using: &random)
    let other = Int.random(in: 0...max(0, count - 1), using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: provider.insert([contact], at: min(index, count))
    case 2: provider.append([contact, contact])
    case 3 where count > 0: provider.remove(at: index)
    case 4 where count > 0: provider.move(from: index, to: other)
    case 5 where count > 0: provider.update(contact, at: index)
    case 6: manager.deleteModel(contact)
    case 7 where count > 8: provider.setData(Contact.list(1, 2, 3), cacheKey: "contacts")
    default: manager.updateModel(contact)
    }
  }

  @Test(arguments: Backing.allCases)
  func `a provider that goes over to another key is followed there`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let other = makeProvider(manager)
      other.setData(Contact.list(7, 8), cacheKey: "others")
      let provider = makeProvider(manager)
      provider.setData(Contact.list(1, 2), cacheKey: "contacts")
      await manager.drain()
      var changes = provider.changes.makeAsyncIterator()
      #expect(try await changes.next()?.data == Contact.list(1, 2))
      try await provider.fetchDataFromCache(withCacheKey: "others")
      var change = try #require(try await changes.next())
      #expect(change.change == .reset)
      #expect(change.data == Contact.list(7, 8))
      other.append([Contact(9)])
      change = try #require(try await changes.next())
      #expect(change.change == .changes([.insert(index: 2)]))
      #expect(change.data == Contact.list(7, 8, 9))
    }
  }

  @Test(arguments: Backing.allCases)
  func `a paused provider's sequence stands still and takes one exact change at resume`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let provider = makeProvider(manager)
      provider.setData(Contact.list(1, 2, 3), cacheKey: "contacts")
      let paused = try await join(manager)
      await manager.drain()
      var changes = paused.changes.makeAsyncIterator()
      _ = try await changes.next()
      paused.isPaused = true
      let version = paused.observed().version
      provider.append([Contact(4)])
      provider.remove(at: 0, context: "last")
      await manager.drain()
      #expect(paused.observed().version == version)
      paused.isPaused = false
      let change = try #require(try await changes.next())
      #expect(change.change == .changes([.delete(index: 0), .insert(index: 2)]))
      #expect(change.data == Contact.list(2, 3, 4))
      #expect(change.context as? String == "last")
    }
  }

  @Test(arguments: Backing.allCases)
  func `a provider that goes ends its sequences, and so does closing the manager`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      var provider: CollectionDataProvider? = makeProvider(manager)
      let other = try await join(manager)
      var values = try #require(provider).values.makeAsyncIterator()
      var others = other.values.makeAsyncIterator()
      try await expectNext(&values, [])
      try await expectNext(&others, [])
      provider?.setData(Contact.list(1), cacheKey: "contacts")
      await manager.drain()
      #expect(manager.observed.count == 2)
      provider = nil
      try await expectNext(&values, Contact.list(1))
      try await expectEnd(&values)
      #expect(manager.observed.count == 1)
      await manager.close()
      try await expectNext(&others, Contact.list(1))
      try await expectEnd(&others)
    }
  }

  @Test func `an element that can't be decoded any more leaves, and the observation goes on`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let provider = makeProvider(manager)
      try await provider.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
      var values = provider.values.makeAsyncIterator()
      try await expectNext(&values, Contact.list(1, 2))
      try await store.write { transaction in
        try transaction.set(TreeNode("Contact:2", type: "Contact", fields: ["id": "two"]))
      }
      try await expectNext(&values, Contact.list(1))
      try await store.write { try $0.set(Contact(2, "Bob")) }
      try await expectNext(&values, [Contact(1), Contact(2, "Bob")])
      await manager.close()
    }
  }

  // Was: one merged change was read after the failure, so a write that showed and was undone passed.
  @Test func `a write that fails is in no sequence`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let provider = CollectionDataProvider<Brittle>(dataModelManager: manager)
      try await provider.setData([Brittle(1), Brittle(2)], cacheKey: "list").committed()
      await manager.drain()
      let state = provider.observed()
      let values = Task {
        var lists: [[Int]] = []
        for try await list in provider.values { lists.append(list.map(\.id)) }
        return lists
      }
      let changes = Task {
        var all: [CollectionChange] = []
        for try await change in provider.changes { all.append(change.change) }
        return all
      }
      while state.waiterCount < 2 { await Task.yield() }
      let version = state.version
      // Both edits are made before the first one fails.
      let writer = WriterGate(store)
      let failing = [
        provider.insert([Brittle(3, "fails")], at: 0), provider.update(Brittle(2, "fails"), at: 2),
      ]
      #expect(provider.data.map(\.id) == [3, 1, 2])
      writer.open()
      for write in failing {
        await #expect(throws: Brittle.Failure.self) { try await write.committed() }
      }
      await manager.drain()
      #expect(provider.data == [Brittle(1), Brittle(2)])
      #expect(state.version == version)
      try await provider.append([Brittle(4)]).committed()
      await manager.close()
      #expect(try await values.value == [[1, 2], [1, 2, 4]])
      #expect(try await changes.value == [.reset, .changes([.insert(index: 2)])])
    }
  }

  @Test func `ten thousand observed providers of one key all get the last list`() async throws {
    let manager = DataModelManager()
    let first = makeProvider(manager)
    first.setData(Contact.list(1), cacheKey: "contacts")
    await manager.drain()
    let count = 10_000
    let total = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<count {
        let provider = makeProvider(manager)
        provider.fetchDataFromCache(withCacheKey: "contacts") { _, _ in }
        group.addTask {
          for try await value in provider.values where value.count == 2 { return 1 }
          return 0
        }
      }
      first.append([Contact(2)])
      return try await group.reduce(0, +)
    }
    #expect(total == count)
  }

  @Test func `callbacks that wait for a blocked queue delay no sequence`() async throws {
    try await Backing.store.withManager(limits: .init(undeliveredCallbacksMaximum: 3)) { manager in
      let provider = makeProvider(manager)
      try await provider.setData(Contact.list(0), cacheKey: "contacts").committed()
      let sibling = try await join(manager)
      await manager.drain()
      var values = sibling.values.makeAsyncIterator()
      try await expectNext(&values, Contact.list(0))
      let resumed = Event()
      let isOpen = Event()
      manager.consistencyManager.deliverer.enqueue { isOpen.wait() }
      for id in 1...10 { try await provider.append([Contact(id)]).committed() }
      withObservationTracking {
        #expect(sibling.isPaused)
      } onChange: {
        resumed.signal()
      }
      try await expectNext(&values, (0...10).map { Contact($0) })
      isOpen.signal()
      resumed.wait()
      await manager.drain()
      #expect(sibling.count == 11)
      provider.append([Contact(11)])
      try await expectNext(&values, (0...11).map { Contact($0) })
    }
  }
}
