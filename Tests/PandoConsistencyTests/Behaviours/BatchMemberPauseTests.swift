import PandoConsistency
import PandoModels
import Testing

/// Members of a batch that have a pause of their own.
@Suite struct BatchMemberPauseTests {
  private let manager = ConsistencyManager()
  private let ann = Person(id: 1, name: "Ann")

  @Test
  func `a member paused by itself misses the batch's call, and has one of its own at its end`()
    async
  {
    let first = Listener(ann)
    let second = Listener(Team(id: 1, lead: ann))
    let third = Listener(Person(id: 2, name: "Bea"))
    let delegate = BatchDelegate()
    let batch = BatchListener(listeners: [first, second, third], consistencyManager: manager)
    batch.delegate = delegate
    manager.pauseListener(first)
    manager.updateModel(Person(id: 1, name: "Anna"), context: "a")
    await manager.drain()
    #expect(first.calls.isEmpty && second.calls.count == 1)
    #expect(
      delegate.calls.map { $0.listeners.map { ObjectIdentifier($0) } } == [
        [ObjectIdentifier(second)]
      ])
    manager.resumeListener(first)
    await manager.drain()
    #expect(first.calls.map { $0.context as? String } == ["a"])
    #expect(second.calls.count == 1)
    #expect(delegate.calls.count == 2)
    #expect(
      delegate.calls.last?.listeners.map { ObjectIdentifier($0) } == [ObjectIdentifier(first)])
    #expect(delegate.calls.last?.context as? String == "a")
  }

  @Test func `a pause of a member and one of its batch end each by itself`() {
    let first = Listener(ann)
    let second = Listener(ann)
    let batch = BatchListener(listeners: [first, second], consistencyManager: manager)
    manager.pauseListener(first)
    #expect(!batch.isPaused && !manager.isPaused(second))
    batch.isPaused = true
    batch.isPaused = false
    #expect(manager.isPaused(first) && !manager.isPaused(second))
    batch.isPaused = true
    manager.resumeListener(first)
    #expect(manager.isPaused(first))
    batch.isPaused = false
    #expect(!manager.isPaused(first))
  }
}
