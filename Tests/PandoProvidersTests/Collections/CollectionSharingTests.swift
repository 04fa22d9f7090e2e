import PandoFixtures
import PandoModels
import PandoProviders
import PandoSystem
import Testing

/// Providers of one cache key.
@Suite struct CollectionSharingTests {
  let manager = DataModelManager()

  /// Two providers of one key that have been told of all that happened.
  private func pair(_ ids: Int...) -> (ListFollower<Contact>, ListFollower<Contact>) {
    let first = ListFollower<Contact>(manager)
    let second = ListFollower<Contact>(manager)
    first.provider.setData(ids.map { Contact($0) }, cacheKey: "contacts")
    second.provider.fetchDataFromCache(withCacheKey: "contacts") { _, _ in }
    manager.settle()
    _ = first.takeCalls()
    _ = second.takeCalls()
    return (first, second)
  }

  @Test func `a change is in all providers of the key before the call returns`() {
    let (first, second) = pair(1, 2)
    first.provider.append([Contact(3)])
    #expect(second.provider.data == Contact.list(1, 2, 3))
    second.provider.remove(at: 0)
    #expect(first.provider.data == Contact.list(2, 3))
    CollectionDataProvider.append([Contact(4)], cacheKey: "contacts", dataModelManager: manager)
    #expect(first.ids == [2, 3, 4])
    #expect(second.ids == [2, 3, 4])
    second.provider.setData(Contact.list(9), cacheKey: "contacts")
    #expect(first.ids == [9])
  }

  @Test func `siblings get the exact positions with the context, and the editor gets none`() {
    let (first, second) = pair(1, 2, 3)
    first.provider.insert(Contact.list(4, 5), at: 1, context: "insert")
    first.provider.update(Contact(4, "Ada"), at: 1)
    first.provider.move(from: 0, to: 4)
    first.provider.remove(at: 1..<3)
    first.provider.append([Contact(6)])
    first.provider.setData(Contact.list(7), cacheKey: "contacts", context: 7)
    manager.settle()
    let calls = second.takeCalls()
    #expect(
      calls.map(\.change) == [
        .changes([.insert(index: 1), .insert(index: 2)]), .changes([.update(index: 1)]),
        .changes([.move(from: 0, to: 4)]), .changes([.delete(index: 2), .delete(index: 1)]),
        .changes([.insert(index: 3)]), .reset,
      ])
    #expect(calls.first?.context as? String == "insert")
    #expect(calls.last?.context as? Int == 7)
    #expect(first.takeCalls().isEmpty)
  }

  @Test func `an edit on the delivery queue calls the siblings before it returns`() {
    let (first, second) = pair(1)
    let third = ListFollower<Contact>(manager)
    third.provider.fetchDataFromCache(withCacheKey: "contacts") { _, _ in }
    manager.settle()
    // What the second does in its call is told to the third after what made it do so.
    second.onCall { call in
      guard call.change == .changes([.insert(index: 1)]) else { return }
      second.provider.insert([Contact(3)], at: 0)
    }
    manager.onDelivery {
      first.provider.append([Contact(2)])
      #expect(second.takeChanges() == [.changes([.insert(index: 1)])])
      #expect(
        third.takeChanges() == [.changes([.insert(index: 1)]), .changes([.insert(index: 0)])])
      // What comes behind its own call is told behind it.
      #expect(first.takeChanges().isEmpty)
    }
    manager.settle()
    #expect(first.takeChanges() == [.changes([.insert(index: 0)])])
    second.onCall(nil)
    #expect(first.ids == [3, 1, 2])
  }

  @Test func `equal data calls no delegate`() {
    let (first, second) = pair(1, 2)
    first.provider.setData(Contact.list(1, 2), cacheKey: "contacts")
    first.provider.update(Contact(2), at: 1)
    first.provider.append([])
    first.provider.move(from: 1, to: 1)
    CollectionDataProvider.setData(
      Contact.list(1, 2), cacheKey: "contacts", dataModelManager: manager)
    manager.settle()
    #expect(second.takeChanges().isEmpty)
    #expect(first.takeChanges().isEmpty)
  }

  @Test func `providers with different keys, or none, don't share`() {
    let (first, _) = pair(1)
    let other = ListFollower<Contact>(manager)
    other.provider.setData(Contact.list(1), cacheKey: "others")
    let own = ListFollower<Contact>(manager)
    own.provider.setData(Contact.list(1), cacheKey: nil)
    first.provider.append([Contact(2)])
    manager.settle()
    #expect(other.ids == [1])
    #expect(own.ids == [1])
    #expect(other.takeCalls().isEmpty && own.takeCalls().isEmpty)
  }

  @Test func `a provider that goes over to another key leaves the first`() {
    let (first, second) = pair(1)
    second.provider.setData(Contact.list(5), cacheKey: "others")
    #expect(first.ids == [1])
    first.provider.append([Contact(2)])
    manager.settle()
    #expect(second.takeCalls().isEmpty)
    #expect(second.provider.cacheKey == "others")
    second.provider.setData(Contact.list(6), cacheKey: nil)
    #expect(second.provider.cacheKey == nil)
  }

  @Test func `one cache key with two element types is refused`() throws {
    let (first, _) = pair(1)
    let notes = CollectionDataProvider<Jotting>(dataModelManager: manager)
    notes.setData([Jotting(text: "a")], cacheKey: nil)
    let refused = [
      notes.setData([], cacheKey: "contacts"),
      CollectionDataProvider.append(
        [Jotting(text: "b")], cacheKey: "contacts", dataModelManager: manager),
      CollectionDataProvider<Jotting>.remove(
        at: 0, cacheKey: "contacts", dataModelManager: manager),
    ]
    for write in refused {
      #expect(try #require(write.error as? DataProviderError).code == .typeCollision)
    }
    let answer = Locked<(any Error)?>(nil)
    let answered = Event()
    notes.fetchDataFromCache(withCacheKey: "contacts") { models, error in
      #expect(models == nil)
      answer.withLock { $0 = error }
      answered.signal()
    }
    answered.wait()
    #expect(answer.withLock { $0 as? DataProviderError }?.code == .typeCollision)
    #expect(notes.data == [Jotting(text: "a")])
    #expect(first.ids == [1])
  }

  @Test func `a key is free for another type once no provider shows it`() {
    var provider: CollectionDataProvider<Contact>? = CollectionDataProvider(
      dataModelManager: manager)
    provider?.setData(Contact.list(1), cacheKey: "contacts")
    provider = nil
    let notes = CollectionDataProvider<Jotting>(dataModelManager: manager)
    #expect(notes.setData([Jotting(text: "a")], cacheKey: "contacts").error == nil)
  }

  @Test func `a delegate and a provider are not retained`() {
    weak var provider: CollectionDataProvider<Contact>?
    weak var delegate: ListFollower<Contact>?
    let (_, second) = pair(1)
    do {
      let follower = ListFollower<Contact>(manager)
      follower.provider.setData(Contact.list(1, 2), cacheKey: "contacts")
      provider = follower.provider
      delegate = follower
      manager.settle()
    }
    manager.settle()
    #expect(provider == nil)
    #expect(delegate == nil)
    #expect(second.ids == [1, 2])
  }
}
