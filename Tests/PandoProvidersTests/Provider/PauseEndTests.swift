import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

/// Calls of delegates when a pause ends.
@Suite struct PauseEndTests {
  /// Whose pause ends.
  enum Pause: CaseIterable, Sendable {
    case tree, list, batchOfTree, batchOfList
  }

  /// How often a delegate was called before the end of a pause, on the delivery queue, has returned.
  private func callsBeforeReturn(_ pause: Pause, _ manager: DataModelManager) async -> Int {
    let log = DelegateLog()
    let tree = DataProvider<Contact>(dataModelManager: manager)
    let list = ListFollower<Contact>(manager)
    tree.setData(Contact(1))
    list.provider.setData(Contact.list(1, 2), cacheKey: "contacts")
    await manager.drain()
    tree.delegate = log
    _ = list.takeCalls()
    let batch: BatchDataProviderListener? =
      switch pause {
      case .tree, .list: nil
      case .batchOfTree:
        BatchDataProviderListener(dataProviders: [tree], dataModelManager: manager)
      case .batchOfList:
        BatchDataProviderListener(dataProviders: [list.provider], dataModelManager: manager)
      }
    let setPaused: @Sendable (Bool) -> Void = { isPaused in
      switch pause {
      case .tree: tree.isPaused = isPaused
      case .list: list.provider.isPaused = isPaused
      case .batchOfTree, .batchOfList: batch?.isPaused = isPaused
      }
    }
    setPaused(true)
    manager.updateModel(Contact(1, "Ada"))
    await manager.drain()
    let isTree = pause == .tree || pause == .batchOfTree
    // Those that stand still have not been told, and the other one has.
    let calls: @Sendable () -> Int = { isTree ? log.calls.count : list.takeCalls().count }
    #expect(calls() == 0)
    let before = Locked(0)
    manager.onDelivery {
      setPaused(false)
      before.withLock { $0 = calls() }
    }
    return before.withLock { $0 }
  }

  @Test(arguments: [Backing.memory, .cache])
  func `without a store the end of every pause is reported at the same time`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      var counts: [Int] = []
      for pause in Pause.allCases { counts.append(await callsBeforeReturn(pause, manager)) }
      #expect(Set(counts).count == 1, "\(counts)")
    }
  }

  /// Two providers of one key, of which the second one stands still while the first one edits and
  /// nothing can be committed.
  private func calls(
    _ edit: (CollectionDataProvider<Contact>) -> Void, showing ids: [Int]
  ) async throws -> [ListFollower<Contact>.Call] {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let first = CollectionDataProvider<Contact>(dataModelManager: manager)
      let second = ListFollower<Contact>(manager)
      try await first.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
      try await second.provider.fetchDataFromCache(withCacheKey: "contacts")
      second.provider.isPaused = true
      let gate = Gate(stopping: store)
      edit(first)
      second.provider.isPaused = false
      #expect(second.ids == ids)
      gate.open()
      await manager.drain()
      #expect(second.ids == ids)
      await manager.close()
      return second.takeCalls()
    }
  }

  @Test func `over a store the end of a pause tells once of the writes on their way`()
    async throws
  {
    let calls = try await calls(
      { list in
        list.append([Contact(3)], context: "first")
        list.append([Contact(4)], context: "last")
      }, showing: [1, 2, 3, 4])
    #expect(calls.map(\.change) == [.changes([.insert(index: 2), .insert(index: 3)])])
    #expect(calls.map { $0.context as? String } == ["last"])
  }

  @Test func `over a store a failed write that the end of a pause reported is undone`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let first = CollectionDataProvider<Contact>(dataModelManager: manager)
      let second = ListFollower<Contact>(manager)
      try await first.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
      try await second.provider.fetchDataFromCache(withCacheKey: "contacts")
      second.provider.isPaused = true
      let gate = Gate(stopping: store)
      let deletion = manager.deleteModel(Contact(2))
      let write = first.update(Contact(2, "Bob"), at: 1)
      second.provider.isPaused = false
      manager.settle()
      #expect(second.takeChanges() == [.changes([.update(index: 1)])])
      gate.open()
      try await deletion.committed()
      await #expect(throws: DataProviderError.self) { try await write.committed() }
      await manager.drain()
      #expect(second.takeChanges() == [.changes([.delete(index: 1)])])
      #expect(second.ids == [1])
      await manager.close()
    }
  }

  @Test func `over a store the end of a pause tells nothing of writes that cancel out`()
    async throws
  {
    let calls = try await calls(
      { list in
        list.append([Contact(3)])
        list.remove(at: 2)
      }, showing: [1, 2])
    #expect(calls.isEmpty)
  }
}
