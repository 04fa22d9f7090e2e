import PandoConsistency
import PandoModels
import PandoProviders
import Testing

@Suite struct CollectionPausingTests {
  let manager = DataModelManager()

  private func join(_ key: String = "contacts") -> ListFollower<Contact> {
    let follower = ListFollower<Contact>(manager)
    follower.provider.fetchDataFromCache(withCacheKey: key) { _, _ in }
    return follower
  }

  private func pair(_ ids: Int...) -> (ListFollower<Contact>, ListFollower<Contact>) {
    let first = ListFollower<Contact>(manager)
    first.provider.setData(ids.map { Contact($0) }, cacheKey: "contacts")
    let second = join()
    manager.settle()
    return (first, second)
  }

  @Test func `a paused sibling keeps old data and gets the exact changes once, at resume`() {
    let (first, paused) = pair(1, 2, 3, 4)
    paused.provider.isPaused = true
    first.provider.append([Contact(5)])
    first.provider.remove(at: 1)
    first.provider.insert([Contact(6)], at: 0, context: "insert")
    manager.publish(Contact(4, "Dan"), context: "last")
    #expect(paused.ids == [1, 2, 3, 4])
    #expect(paused.provider.data[3].name == "")
    #expect(paused.takeCalls().isEmpty)
    paused.provider.isPaused = false
    #expect(paused.provider.data == first.provider.data)
    manager.settle()
    let calls = paused.takeCalls()
    #expect(
      calls.map(\.change) == [
        .changes([
          .delete(index: 1), .insert(index: 0), .insert(index: 4), .update(index: 3),
        ])
      ])
    #expect(calls.first?.context as? String == "last")
  }

  @Test func `a list that is the same after a pause calls no delegate`() {
    let (first, paused) = pair(1, 2)
    paused.provider.isPaused = true
    first.provider.append([Contact(3)])
    first.provider.setData(Contact.list(8, 9), cacheKey: "contacts")
    manager.publish(Contact(8, "x"))
    first.provider.setData(Contact.list(1, 2), cacheKey: "contacts")
    manager.settle()
    paused.provider.isPaused = false
    manager.settle()
    #expect(paused.takeCalls().isEmpty)
    #expect(paused.ids == [1, 2])
  }

  @Test func `a list set during a pause is reported as its differences`() {
    let (first, paused) = pair(1, 2, 3)
    paused.provider.isPaused = true
    first.provider.setData([Contact(3), Contact(1, "Ada"), Contact(4)], cacheKey: "contacts")
    paused.provider.isPaused = false
    manager.settle()
    let change = paused.takeChanges().first
    #expect(
      change
        == .changes([
          .delete(index: 1), .move(from: 1, to: 0), .insert(index: 2), .update(index: 1),
        ])
        || change
          == .changes([
            .delete(index: 1), .move(from: 0, to: 1), .insert(index: 2), .update(index: 1),
          ])
    )
  }

  @Test func `a pause reports the edit of a provider that was released`() {
    let paused: ListFollower<Contact>
    do {
      let (first, second) = pair(1)
      paused = second
      paused.provider.isPaused = true
      first.provider.append([Contact(2)])
    }
    manager.settle()
    paused.provider.isPaused = false
    manager.settle()
    #expect(paused.ids == [1, 2])
    #expect(paused.takeChanges() == [.changes([.insert(index: 1)])])
  }

  @Test func `a paused provider sees its own changes at once, made where it sees them`() {
    let (first, paused) = pair(1, 2, 3)
    paused.provider.isPaused = true
    first.provider.insert([Contact(9)], at: 0)
    let write = paused.provider.remove(at: 1)
    #expect(write.change == .changes([.delete(index: 1)]))
    #expect(paused.ids == [1, 3])
    #expect(first.ids == [9, 1, 3])
    paused.provider.isPaused = false
    manager.settle()
    #expect(paused.takeChanges() == [.changes([.insert(index: 0)])])
  }

  @Test func `pausing twice is once, and the state reads right at once`() {
    let (first, paused) = pair(1)
    paused.provider.isPaused = true
    first.provider.append([Contact(2)])
    paused.provider.isPaused = true
    #expect(paused.provider.isPaused)
    #expect(paused.ids == [1])
    paused.provider.isPaused = false
    #expect(!paused.provider.isPaused)
    paused.provider.isPaused = false
    manager.settle()
    #expect(paused.takeChanges() == [.changes([.insert(index: 1)])])
  }

  @Test func `a change during a pause on the delivery queue is reported at resume, once`() {
    let (first, paused) = pair(1)
    manager.onDelivery { [manager] in
      // Queued behind this call, so not told before the pause.
      manager.consistencyManager.enqueue { _ in }
      paused.provider.isPaused = true
      first.provider.append([Contact(2)])
      #expect(paused.takeCalls().isEmpty)
      paused.provider.isPaused = false
      #expect(paused.ids == [1, 2])
    }
    manager.settle()
    #expect(paused.takeChanges() == [.changes([.insert(index: 1)])])
  }

  @Test func `a pause that begins before the report of the last one continues it`() {
    let (first, paused) = pair(1)
    paused.provider.isPaused = true
    first.provider.append([Contact(2)])
    manager.settle()
    let gate = Gate(stopping: manager)
    paused.provider.isPaused = false
    #expect(paused.ids == [1, 2])
    let write = paused.provider.append([Contact(7)])
    #expect(write.change == .changes([.insert(index: 1)]))
    paused.provider.isPaused = true
    first.provider.insert([Contact(3)], at: 0)
    #expect(paused.ids == [1, 2, 7])
    gate.open()
    manager.settle()
    #expect(paused.takeCalls().isEmpty)
    paused.provider.isPaused = false
    manager.settle()
    #expect(paused.ids == [3, 1, 2, 7])
    #expect(paused.takeChanges() == [.changes([.insert(index: 0), .insert(index: 2)])])
  }

  @Test func `an element deleted while paused stays until resume`() {
    let (_, paused) = pair(1, 2)
    paused.provider.isPaused = true
    manager.erase("Contact:1")
    #expect(paused.ids == [1, 2])
    paused.provider.isPaused = false
    #expect(paused.ids == [2])
    manager.settle()
    #expect(paused.takeChanges() == [.changes([.delete(index: 0)])])
  }

  @Test func `a paused provider is not retained`() {
    weak var provider: CollectionDataProvider<Contact>?
    do {
      let (first, paused) = pair(1)
      paused.provider.isPaused = true
      first.provider.append([Contact(2)])
      provider = paused.provider
    }
    manager.settle()
    #expect(provider == nil)
  }

  @Test func `a provider that is paused when it goes over to another key shows what it set`() {
    let (first, paused) = pair(1)
    first.provider.setData(Contact.list(7), cacheKey: "others")
    paused.provider.isPaused = true
    paused.provider.setData(Contact.list(8), cacheKey: "others")
    #expect(paused.ids == [8])
    first.provider.append([Contact(9)])
    #expect(paused.ids == [8])
    paused.provider.isPaused = false
    #expect(paused.ids == [8, 9])
  }
}
