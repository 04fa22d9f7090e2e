import DataProviders
import ModelCore
import StoreEngine
import Testing

/// An element that leaves one place and comes in at another.
@Suite struct CollectionMovingTests {
  @Test func `I9: a move by a sibling is told as a move`() {
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

  @Test func `I9: what moved while a provider was paused is told as a move`() {
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

  @Test func `I9: a move in a store is told as a move, also one made of a removal and an insert`()
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
}
