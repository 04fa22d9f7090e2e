import PandoModels
import PandoProviders
import PandoStore
import Testing

/// An element that leaves one place and comes in at another.
@Suite struct CollectionMovingTests {
  @Test func `a move by a sibling is reported as a move`() {
    let manager = DataModelManager()
    let (first, second) = (ListFollower<Contact>(manager), ListFollower<Contact>(manager))
    first.provider.setData(Contact.list(1, 2, 3), cacheKey: "contacts")
    second.provider.fetchDataFromCache(withCacheKey: "contacts") { _, _ in }
    manager.settle()
    _ = second.takeCalls()
    first.provider.move(from: 2, to: 0)
    manager.settle()
    #expect(second.takeChanges() == [.changes([.move(from: 2, to: 0)])])
    #expect(second.ids == [3, 1, 2])
  }

  @Test func `an element that moved during a pause is reported as moved`() {
    let manager = DataModelManager()
    let (first, second) = (ListFollower<Contact>(manager), ListFollower<Contact>(manager))
    first.provider.setData(Contact.list(1, 2, 3, 4), cacheKey: "contacts")
    second.provider.fetchDataFromCache(withCacheKey: "contacts") { _, _ in }
    manager.settle()
    _ = second.takeCalls()
    second.provider.isPaused = true
    first.provider.remove(at: 0)
    first.provider.append([Contact(1)])
    manager.settle()
    second.provider.isPaused = false
    manager.settle()
    #expect(second.takeChanges() == [.changes([.move(from: 0, to: 3)])])
    #expect(second.ids == [2, 3, 4, 1])
  }

  @Test func `a move in a store, or a removal and an insertion, is reported as a move`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let follower = ListFollower<Contact>(manager)
      try await follower.provider.setData(Contact.list(1, 2, 3), cacheKey: "contacts").committed()
      try await store.write { try $0.moveElement(from: 0, to: 2, inCollection: "contacts") }
      await manager.drain()
      #expect(follower.takeChanges() == [.changes([.move(from: 0, to: 2)])])
      try await store.write { transaction in
        try transaction.removeElements(in: 0..<1, fromCollection: "contacts")
        try transaction.append([Contact(2)], toCollection: "contacts")
      }
      await manager.drain()
      #expect(follower.takeChanges() == [.changes([.move(from: 0, to: 2)])])
      #expect(follower.ids == [3, 1, 2])
      await manager.close()
    }
  }

  /// Was: beside an equal element the moved one was taken for its own neighbour.
  ///
  /// Found by `fuzz-operations`.
  @Test
  func `among equal elements each move arrives where it is shown, on disk and in a cache`()
    async throws
  {
    let lists = (1...4).flatMap { count in
      (0..<(1 << count)).map { bits in (0..<count).map { bits >> $0 & 1 } }
    }
    let cache = DictionaryCache()
    try await withStore { store in
      for isOnDisk in [true, false] {
        let manager =
          isOnDisk
          ? try DataModelManager(store: store) : DataModelManager(cacheDelegate: cache)
        let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
        for list in lists {
          for (from, to) in list.indices.flatMap({ from in list.indices.map { (from, $0) } }) {
            provider.setData(list.map { Contact($0) }, cacheKey: "contacts")
            var expected = list
            expected.insert(expected.remove(at: from), at: to)
            try await provider.move(from: from, to: to).committed()
            let stored =
              await isOnDisk
              ? try store.read { try $0.collection("contacts", as: Contact.self) }
              : try await cache.collection(forKey: "contacts", as: Contact.self, context: nil)
            #expect(stored?.map(\.id) == expected, "\(list) from \(from) to \(to)")
            #expect(provider.data.map(\.id) == expected)
          }
        }
        await manager.close()
      }
    }
  }
}
