import PandoConsistency
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoProviders

/// Lists that were changed with `updateCache: false`, where several changes are on their way.
@Suite struct CollectionUnsavedTests {
  private typealias Contacts = CollectionDataProvider<Contact>

  /// A stored list of some of five contacts, of which another projection is live, so that their
  /// commits have to be read.
  private func withList(
    _ ids: [Int], _ body: (DataModelManager, ModelStore, Contacts) async throws -> Void
  ) async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let cards = (1...5).map { _ in DataProvider<ContactCard>(dataModelManager: manager) }
      for (id, card) in zip(1..., cards) { card.listen(to: "Contact:\(id)") }
      let list = Contacts(dataModelManager: manager)
      try await list.setData(ids.map { Contact($0) }, cacheKey: "c").committed()
      try await body(manager, store, list)
      await manager.close()
      withExtendedLifetime(cards) {}
    }
  }

  private func stored(_ store: ModelStore) throws -> [Int]? {
    try store.read { try $0.collection("c", as: Contact.self)?.map(\.id) }
  }

  /// What was set in memory was shown before the insertion that was made first, which then brought its
  /// row in once more; the next difference ended the process.
  @Test func `edits in memory keep their place between those that are read together`()
    async throws
  {
    try await withList([]) { manager, store, list in
      let team = DataProvider<Team>(dataModelManager: manager)
      let gate = WriterGate(store)
      list.insert([Contact(3)], at: 0)
      list.setData(Contact.list(3, 2, 1), cacheKey: "c", updateCache: false)
      manager.updateModels([Contact(1, "new"), Contact(2, "new"), Contact(3, "new")])
      team.setData(
        Team(id: 1, lead: Contact(3), helper: Contact(1), members: [Contact(2)]),
        updateCache: false)
      gate.open()
      await manager.drain()
      #expect(list.data.map(\.id) == [3, 2, 1])
      #expect(try stored(store) == [3])
      try await list.setData(Contact.list(1, 3), cacheKey: "c").committed()
      #expect(list.data == Contact.list(1, 3))
      #expect(try stored(store) == [1, 3])
    }
  }

  /// The failed insertion was carried out again on the set, which has taken over its row.
  ///
  /// So a list had the row twice, and a delegate was notified of one deletion too many.
  @Test func `a set that is shown before an earlier edit has ended in failure ends that edit`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let (list, other) = (ListFollower<Brittle>(manager), ListFollower<Brittle>(manager))
      try await list.provider.setData([Brittle(1)], cacheKey: "c").committed()
      try await other.provider.fetchDataFromCache(withCacheKey: "c")
      let gate = WriterGate(store)
      let failing = list.provider.append([Brittle(2, "fails"), Brittle(3, "fails")])
      let new = [Brittle(3), Brittle(1), Brittle(4)]
      let written = list.provider.setData(new, cacheKey: "c")
      let collection = list.provider.seat.collection
      let set = collection.state.withLock { $0.pending[1].operation }
      await withCheckedContinuation { continuation in
        manager.consistencyManager.enqueue { scope in
          _ = scope.carryOut(set)
          continuation.resume()
        }
      }
      let (pendingCount, rows) = collection.state.withLock { ($0.pending.count, $0.list.rows) }
      #expect(pendingCount == 0 && rows.count == 3 && Set(rows).count == 3)
      gate.open()
      await #expect(throws: Brittle.Failure.self) { try await failing.committed() }
      try await written.committed()
      await manager.drain()
      #expect(list.provider.data == new && other.provider.data == new)
      #expect(list.takeChanges() == [])
      #expect(other.takeChanges() == [.changes([.insert(index: 0), .insert(index: 2)])])
      await manager.close()
    }
  }

  /// It was refused, as nothing shows what comes before it until all is read.
  @Test func `in memory an element is removed that came in just before`() async throws {
    try await withList([1]) { manager, store, list in
      let gate = WriterGate(store)
      list.append([Contact(2), Contact(3)])
      let removal = list.remove(at: 1, updateCache: false)
      list.append([Contact(4)])
      gate.open()
      try await removal.committed()
      await manager.drain()
      #expect(list.data == Contact.list(1, 3, 4))
      #expect(try stored(store) == [1, 2, 3, 4])
    }
  }

  @Test func `in memory nothing is done to an element that was deleted just before`() async throws {
    try await withList([1, 2, 3]) { manager, store, list in
      let events = EventLog()
      manager.delegate = events
      let gate = WriterGate(store)
      manager.updateModel(Contact(1, "new"))
      manager.deleteModel(Contact(2))
      let removal = list.remove(at: 1, updateCache: false)
      let update = list.update(Contact(3, "shown"), at: 1, updateCache: false)
      manager.updateModel(Contact(1, "newer"))
      gate.open()
      await #expect(throws: DataProviderError.self) { try await removal.committed() }
      try await update.committed()
      await manager.drain()
      #expect(list.data == [Contact(1, "newer"), Contact(3, "shown")])
      #expect(try stored(store) == [1, 3])
      #expect(events.failedWrites == [["c"]])
    }
  }

  /// Rows that were shown only stayed, or came twice.
  @Test func `an element only shown goes with its node, also if that returns`() async throws {
    try await withList([1, 2, 3]) { manager, store, list in
      try await list.remove(at: 0, updateCache: false).committed()
      try await list.insert([Contact(1)], at: 0, updateCache: false).committed()
      try await list.append([Contact(4)], updateCache: false).committed()
      let own = Contacts(dataModelManager: manager)
      own.setData(Contact.list(1, 2), cacheKey: nil)
      await manager.drain()
      #expect(list.data == Contact.list(1, 2, 3, 4))
      var gate = WriterGate(store)
      manager.deleteModel(Contact(1))
      manager.updateModels([Contact(1, "new"), Contact(2, "new")])
      gate.open()
      await manager.drain()
      #expect(list.data == [Contact(2, "new"), Contact(3), Contact(4)])
      #expect(own.data == [Contact(2, "new")])
      #expect(try stored(store) == [2, 3])
      gate = WriterGate(store)
      list.append([Contact(5)], updateCache: false)
      manager.deleteModels(Contact.list(4, 5))
      list.append([Contact(4, "new")], updateCache: false)
      manager.updateModels([Contact(5, "new"), Contact(2)])
      list.append([Contact(1)])
      gate.open()
      await manager.drain()
      #expect(list.data == [Contact(2), Contact(3), Contact(4, "new"), Contact(1)])
      #expect(try stored(store) == [2, 3, 1])
    }
  }

  /// It stayed: for the store the node was changed, though it has taken the node out of each list.
  @Test func `an element that is only shown goes if one write deletes and sets its node`()
    async throws
  {
    try await withList([1, 2]) { manager, store, list in
      try await list.remove(at: 0, updateCache: false).committed()
      try await list.insert([Contact(1)], at: 0, updateCache: false).committed()
      try await store.write { transaction in
        try transaction.deleteIfPresent("Contact:1")
        try transaction.set(Contact(1, "new"))
      }
      #expect(list.data == Contact.list(2))
      #expect(try stored(store) == [2])
    }
  }

  /// It came back with what was read.
  @Test func `an element deleted in memory beside edits stays stored and hidden`() async throws {
    try await withList([1, 2]) { manager, store, list in
      let gate = WriterGate(store)
      manager.updateModel(Contact(2, "new"))
      list.append([Contact(3)])
      manager.deleteModel(Contact(1), updateCache: false)
      manager.updateModel(Contact(1, "new"))
      list.append([Contact(4)])
      gate.open()
      await manager.drain()
      #expect(list.data == [Contact(2, "new"), Contact(3), Contact(4)])
      try await list.remove(at: 0).committed()
      #expect(list.data == Contact.list(3, 4))
      #expect(try stored(store) == [1, 3, 4])
    }
  }

  /// What is stored was taken for the row that was removed in memory, so that nothing came in.
  @Test func `a row that is stored only does not stand for one that comes in`() async throws {
    try await withList([1, 2]) { manager, store, list in
      try await list.remove(at: 0, updateCache: false).committed()
      let gate = WriterGate(store)
      manager.updateModel(Contact(2, "new"))
      manager.deleteModel(Contact(1))
      list.append([Contact(1)])
      gate.open()
      await manager.drain()
      #expect(list.data == [Contact(2, "new"), Contact(1)])
      #expect(try stored(store) == [2, 1])
    }
  }

  /// Only the last of them was committed.
  @Test func `edits of a list without a key that are shown with others keep their order`()
    async throws
  {
    try await withList([1]) { manager, store, list in
      let own = Contacts(dataModelManager: manager)
      own.setData(Contact.list(1, 2), cacheKey: nil)
      await manager.drain()
      let gate = WriterGate(store)
      manager.updateModel(Contact(1, "new"))
      own.append([Contact(3)])
      own.remove(at: 0)
      manager.updateModel(Contact(2, "new"))
      gate.open()
      await manager.drain()
      #expect(own.data == [Contact(2, "new"), Contact(3)])
      let other = try await own.append([Contact(4)]).committed()
      #expect(other == nil)
      #expect(own.data == [Contact(2, "new"), Contact(3), Contact(4)])
      var values = own.values.makeAsyncIterator()
      #expect(try await values.next() == own.data)
    }
  }

  /// What the deletion has taken from the stored list was all that counted: the edits failed.
  @Test(arguments: [Backing.cache, .store])
  func `an element that is only shown can be edited after the stored one is deleted`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let list = Contacts(dataModelManager: manager)
      try await list.setData(Contact.list(1, 2, 3), cacheKey: "c").committed()
      var gate = Gate(stopping: manager)
      manager.deleteModel(Contact(3))
      list.setData(Contact.list(1, 2, 3), cacheKey: "c", updateCache: false)
      let update = list.update(Contact(3, "new"), at: 2)
      gate.open()
      try await update.committed()
      #expect(list.data == [Contact(1), Contact(2), Contact(3, "new")])
      try await list.setData(Contact.list(1, 2, 3), cacheKey: "c").committed()
      try await list.append([Contact(4)], updateCache: false).committed()
      gate = Gate(stopping: manager)
      manager.deleteModel(Contact(3))
      let removal = list.remove(at: 2..<4)
      gate.open()
      try await removal.committed()
      #expect(list.data == Contact.list(1, 2))
      let stored = try await manager.collectionFromCache("c", as: Contact.self)
      #expect(stored == Contact.list(1, 2))
    }
  }

  /// Of a list with elements that are not stored each edit was carried out.
  @Test(arguments: [Backing.cache, .store])
  func `an element that is neither shown nor stored any more can't be edited`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let list = Contacts(dataModelManager: manager)
      try await list.setData(Contact.list(1, 2), cacheKey: "c").committed()
      try await list.append(Contact.list(3), updateCache: false).committed()
      let gate = Gate(stopping: manager)
      manager.deleteModels(Contact.list(2, 3))
      let edits = [
        list.update(Contact(2, "new"), at: 1), list.update(Contact(3, "new"), at: 2),
        list.move(from: 1, to: 0), list.remove(at: 2),
      ]
      gate.open()
      for edit in edits {
        let error = await #expect(throws: DataProviderError.self) { try await edit.committed() }
        #expect(error?.code == .superseded)
      }
      #expect(list.data == Contact.list(1))
      try await list.append([Contact(4)]).committed()
      #expect(list.data == Contact.list(1, 4))
      let stored = try await manager.collectionFromCache("c", as: Contact.self)
      #expect(stored == Contact.list(1, 4))
    }
  }

  /// It was shown by the list alone: what the edit brought was taken as it was given.
  @Test(arguments: [false, true], [false, true])
  func `an element that an edit adds goes if it is deleted just after, in memory or not`(
    isWritten: Bool, isSet: Bool
  ) async throws {
    try await withList([2, 3]) { manager, store, list in
      let item = DataProvider<Contact>(dataModelManager: manager)
      item.listen(to: "Contact:1")
      try await list.remove(at: 1, updateCache: false).committed()
      let gate = WriterGate(store)
      manager.updateModel(Contact(2, "new"))
      if isSet {
        list.setData(Contact.list(2, 1), cacheKey: "c")
      } else {
        list.append([Contact(1)])
      }
      manager.deleteModel(Contact(1), updateCache: isWritten)
      manager.updateModel(Contact(2, "newer"))
      gate.open()
      await manager.drain()
      #expect(item.data == nil)
      #expect(list.data == [Contact(2, "newer")])
      #expect(try stored(store) == (isSet ? [2] : [2, 3]) + (isWritten ? [] : [1]))
      try await list.append([Contact(4)]).committed()
      #expect(list.data == [Contact(2, "newer"), Contact(4)])
    }
  }

  /// All others showed what the element had been before.
  @Test(arguments: [false, true])
  func `an element that is only shown can be updated during a read`(isGroup: Bool) async throws {
    try await withList([2]) { manager, store, list in
      let item = DataProvider<Contact>(dataModelManager: manager)
      item.listen(to: "Contact:1")
      if !isGroup { try await list.append([Contact(1)], updateCache: false).committed() }
      let gate = WriterGate(store)
      manager.updateModel(Contact(2, "new"))
      if isGroup { list.append([Contact(1)], updateCache: false) }
      let update = list.update(Contact(1, "new"), at: 1)
      manager.updateModel(Contact(2, "newer"))
      gate.open()
      try await update.committed()
      await manager.drain()
      #expect(item.data == Contact(1, "new"))
      #expect(list.data == [Contact(2, "newer"), Contact(1, "new")])
      #expect(try stored(store) == [2])
    }
  }

  /// It came before what is shown only, where an append of a provider goes behind.
  @Test(arguments: [false, true])
  func `an element appended by others comes after those only shown`(isGroup: Bool) async throws {
    try await withList([1, 2]) { manager, store, list in
      try await list.append([Contact(3)], updateCache: false).committed()
      try await list.move(from: 0, to: 1, updateCache: false).committed()
      try await store.write { transaction in
        try transaction.append([Contact(4)], toCollection: "c")
        guard isGroup else { return }
        try transaction.set(Contact(5))
        try transaction.deleteIfPresent("Contact:5")
        try transaction.set(Contact(5))
      }
      #expect(list.data == Contact.list(2, 1, 3, 4))
      #expect(try stored(store) == [1, 2, 4])
    }
  }

  /// It stayed, or what others had brought in came twice.
  @Test(arguments: [false, true])
  func `an element deleted in memory goes beside changes of others`(
    returns: Bool
  ) async throws {
    try await withList([1, 2, 3]) { manager, store, list in
      let gate = WriterGate(store)
      manager.updateModel(Contact(4, "new"))
      manager.deleteModel(Contact(1), updateCache: false)
      gate.queue { transaction in
        if returns { try transaction.deleteIfPresent("Contact:2") }
        try transaction.set(Contact(2))
        try transaction.append([Contact(returns ? 2 : 5)], toCollection: "c")
      }
      manager.updateModel(Contact(4, "newer"))
      gate.open()
      await manager.drain()
      #expect(list.data == (returns ? Contact.list(3, 2) : Contact.list(2, 3, 5)))
      let second = WriterGate(store)
      manager.updateModel(Contact(4, "newest"))
      list.append([Contact(4, "newest")])
      manager.updateModel(Contact(3, "new"))
      second.open()
      await manager.drain()
      #expect(list.data.map(\.id) == (returns ? [3, 2, 4] : [2, 3, 5, 4]))
      let stored = try stored(store)
      #expect(stored == (returns ? [1, 3, 2, 4] : [1, 2, 3, 5, 4]))
    }
  }

  /// It was shown by the list alone.
  @Test func `an element added by others and then deleted in memory is stored, not shown`()
    async throws
  {
    try await withList([1, 2]) { manager, store, list in
      let gate = WriterGate(store)
      manager.updateModel(Contact(4, "new"))
      gate.queue { try $0.append([Contact(5)], toCollection: "c") }
      manager.deleteModel(Contact(5), updateCache: false)
      manager.updateModel(Contact(4, "newer"))
      gate.open()
      await manager.drain()
      #expect(list.data == Contact.list(1, 2))
      try await list.append([Contact(3)]).committed()
      #expect(list.data == Contact.list(1, 2, 3))
      #expect(try stored(store) == [1, 2, 5, 3])
    }
  }

  /// Of two deletions the last one counted, so that the stored update was taken for one of the element
  /// that had gone by then.
  @Test func `an element deleted twice goes both times`() async throws {
    try await withList([1]) { manager, store, list in
      let gate = WriterGate(store)
      manager.updateModel(Contact(4, "new"))
      list.remove(at: 0, updateCache: false)
      list.append([Contact(2)])
      manager.deleteModel(Contact(1))
      list.update(Contact(2, "new"), at: 0)
      gate.queue { transaction in
        try transaction.set(Contact(1))
        try transaction.deleteIfPresent("Contact:1")
        try transaction.set(Contact(1))
      }
      manager.updateModel(Contact(4, "newer"))
      gate.open()
      await manager.drain()
      #expect(list.data == [Contact(2, "new")])
      let stored = try stored(store)
      #expect(stored == [2])
    }
  }

  /// Only what is stored of the row was looked at.
  @Test func `an element shown in place of a deleted one is updated with the deletion`()
    async throws
  {
    try await withList([1, 2]) { manager, store, list in
      try await list.update(Contact(3), at: 0, updateCache: false).committed()
      let item = DataProvider<Contact>(dataModelManager: manager)
      item.listen(to: "Contact:3")
      await manager.drain()
      let gate = WriterGate(store)
      manager.updateModel(Contact(4, "new"))
      manager.updateModel(Contact(3, "new"))
      manager.deleteModel(Contact(1))
      manager.updateModel(Contact(4, "newer"))
      gate.open()
      await manager.drain()
      #expect(item.data == Contact(3, "new"))
      #expect(list.data == [Contact(3, "new"), Contact(2)])
      let stored = try stored(store)
      #expect(stored == [2])
    }
  }

  /// The move was shown where it was stored: both lists had become the same before it.
  @Test(arguments: [false, true])
  func `a move shows where it was made, though both lists are the same by then`(
    isGroup: Bool
  ) async throws {
    try await withList([1]) { manager, store, list in
      var gate = WriterGate(store)
      list.insert([Contact(2)], at: 0)
      list.move(from: 0, to: 1, updateCache: false)
      list.append([Contact(3)])
      manager.deleteModel(Contact(1))
      manager.updateModel(Contact(2, "new"))
      list.move(from: 2, to: 0)
      if isGroup { manager.updateModel(Contact(2, "newer")) }
      gate.open()
      await manager.drain()
      #expect(list.data.map(\.id) == [3, 2])
      gate = WriterGate(store)
      list.append([Contact(4)])
      gate.open()
      await manager.drain()
      #expect(list.data.map(\.id) == [3, 2, 4])
      let stored = try stored(store)
      #expect(stored == [2, 3, 4])
    }
  }
}
