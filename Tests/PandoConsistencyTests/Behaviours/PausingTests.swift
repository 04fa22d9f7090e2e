import PandoConsistency
import PandoFixtures
import PandoModels
import Testing

@Suite struct PausingTests {
  let manager = ConsistencyManager()
  let ann = Person(id: 1, name: "Ann")
  let anna = Person(id: 1, name: "Anna")
  let bea = Person(id: 2, name: "Bea")

  /// The calls that a listener gets at resume for changes made while it was paused.
  func calls(_ tree: any Model, _ change: (ConsistencyManager) -> Void) async -> [Listener.Call] {
    let listener = Listener(tree)
    manager.addListener(listener)
    manager.pauseListener(listener)
    change(manager)
    await manager.drain()
    #expect(listener.calls.isEmpty)
    manager.resumeListener(listener)
    await manager.drain()
    defer { manager.removeListener(listener) }
    return listener.calls
  }

  @Test func `a paused listener stands still, and its state reads right at once`() async {
    let listener = Listener(ann)
    manager.addListener(listener)
    #expect(!manager.isPaused(listener))
    manager.pauseListener(listener)
    #expect(manager.isPaused(listener))
    manager.pauseListener(listener)
    manager.updateModel(anna)
    await manager.drain()
    #expect(listener.calls.isEmpty)
    #expect(listener.shown() == ann)
    manager.resumeListener(listener)
    #expect(!manager.isPaused(listener))
    await manager.drain()
    #expect(listener.shown() == anna)
  }

  @Test func `registering does not resume`() async {
    let listener = Listener(ann)
    manager.pauseListener(listener)
    manager.addListener(listener)
    manager.updateModel(anna)
    manager.addListener(listener, to: ann)
    await manager.drain()
    #expect(manager.isPaused(listener))
    #expect(listener.calls.isEmpty)
    manager.resumeListener(listener)
    await manager.drain()
    #expect(listener.calls.count == 1)
    #expect(listener.shown() == anna)
  }

  @Test func `an update posted before a listener is paused waits as well`() async {
    let gate = Event(), entered = Event()
    let blocker = Listener(ann), listener = Listener(ann)
    blocker.onCall { _ in
      entered.signal()
      gate.wait()
    }
    manager.addListener(blocker)
    manager.addListener(listener)
    manager.updateModel(anna, context: 1)
    await wait(for: entered)
    manager.pauseListener(listener)
    manager.updateModel(Person(id: 1, name: "Anja"), context: 2)
    gate.signal()
    await manager.drain()
    #expect(listener.calls.isEmpty)
    manager.resumeListener(listener)
    await manager.drain()
    #expect(listener.calls.map { $0.context as? Int } == [2])
    #expect(listener.shown() == Person(id: 1, name: "Anja"))
  }

  @Test func `resuming is one callback with the newest model, context and the union`() async {
    let calls = await calls(Team(id: 1, lead: ann, deputy: bea)) {
      $0.updateModel(anna, context: 1)
      $0.updateModel(Person(id: 2, name: "Beatrice"), context: 2)
      $0.updateModel(Person(id: 1, name: "Anja"), context: 3)
    }
    #expect(calls.count == 1)
    #expect(
      calls.first?.model as? Team
        == Team(
          id: 1, lead: Person(id: 1, name: "Anja"), deputy: Person(id: 2, name: "Beatrice")))
    #expect(calls.first?.context as? Int == 3)
    #expect(
      calls.first?.updates
        == ModelUpdates(changedModelIdentifiers: ["team:1", "person:1", "person:2"]))
  }

  @Test func `an update after the resume comes by itself`() async {
    let listener = Listener(ann)
    manager.addListener(listener)
    manager.pauseListener(listener)
    manager.updateModel(anna, context: 1)
    manager.resumeListener(listener)
    manager.updateModel(Person(id: 1, name: "Anja"), context: 2)
    await manager.drain()
    #expect(listener.calls.map { $0.context as? Int } == [1, 2])
  }

  @Test func `nothing changed, or changes that cancel out: no callback`() async {
    #expect(await calls(ann) { _ in }.isEmpty)
    let cancelled = await calls(Team(id: 1, lead: ann)) {
      $0.updateModel(anna)
      $0.updateModel(ann)
    }
    #expect(cancelled.isEmpty)
  }

  @Test func `a node that changed and changed back is not changed`() async {
    let calls = await calls(Team(id: 1, lead: ann, deputy: bea)) {
      $0.updateModels([anna, Person(id: 2, name: "Beatrice")])
      $0.updateModel(ann)
    }
    #expect(
      calls.map(\.updates)
        == [ModelUpdates(changedModelIdentifiers: ["team:1", "person:2"])])
  }

  @Test func `a node that was deleted and is back is not deleted`() async {
    let tree = Team(id: 1, lead: ann, deputy: bea)
    let same = await calls(tree) {
      $0.deleteModel(bea)
      $0.updateModel(tree)
    }
    #expect(same.isEmpty)
    let different = await calls(tree) {
      $0.deleteModel(bea)
      $0.updateModel(Team(id: 1, lead: ann, deputy: Person(id: 2, name: "Beatrice")))
    }
    #expect(
      different.map(\.updates)
        == [ModelUpdates(changedModelIdentifiers: ["team:1", "person:2"])])
  }

  @Test func `a node that changed and was then deleted is only deleted`() async {
    let calls = await calls(Team(id: 1, lead: ann, deputy: bea)) {
      $0.updateModel(Person(id: 2, name: "Beatrice"))
      $0.deleteModel(bea)
    }
    #expect(
      calls.map(\.updates)
        == [
          ModelUpdates(
            changedModelIdentifiers: ["team:1"], deletedModelIdentifiers: ["person:2"])
        ])
  }

  @Test func `a root that was deleted and is back is not deleted`() async {
    let same = await calls(ann) {
      $0.deleteModel(ann)
      $0.updateModel(ann)
    }
    #expect(same.isEmpty)
    let different = await calls(ann) {
      $0.deleteModel(ann)
      $0.updateModel(anna)
    }
    #expect(different.map(\.updates) == [ModelUpdates(changedModelIdentifiers: ["person:1"])])
    #expect(different.first?.model as? Person == anna)
  }

  @Test func `deleted while paused: the data stays until resume, then one callback with nil`() async
  {
    let listener = Listener(Team(id: 1, lead: ann))
    manager.addListener(listener)
    manager.pauseListener(listener)
    manager.updateModel(anna)
    manager.deleteModel(ann)
    await manager.drain()
    #expect(listener.shown() == Team(id: 1, lead: ann))
    manager.resumeListener(listener)
    await manager.drain()
    #expect(listener.calls.count == 1)
    #expect(listener.model == nil)
    #expect(
      listener.calls.first?.updates
        == ModelUpdates(deletedModelIdentifiers: ["team:1", "person:1"]))
    #expect(manager.registeredCounts.nodes == 0)
  }

  @Test func `a paused listener is not retained`() async {
    weak var weakListener: Listener?
    do {
      let listener = Listener(ann)
      weakListener = listener
      manager.addListener(listener)
      manager.pauseListener(listener)
      manager.updateModel(anna)
      await manager.drain()
    }
    #expect(weakListener == nil)
  }

  @Test func `a batch is paused as a whole: one callback at resume`() async {
    let members = [Listener(ann), Listener(Team(id: 1, lead: ann)), Listener(bea)]
    let delegate = BatchDelegate()
    let batch = BatchListener(listeners: members, consistencyManager: manager)
    batch.delegate = delegate
    batch.isPaused = true
    #expect(members.allSatisfy { manager.isPaused($0) })
    manager.updateModel(anna, context: 1)
    manager.updateModel(Person(id: 1, name: "Anja"), context: 2)
    await manager.drain()
    #expect(members.map(\.calls.count) == [0, 0, 0])
    batch.isPaused = false
    await manager.drain()
    #expect(members.map(\.calls.count) == [1, 1, 0])
    #expect(delegate.calls.count == 1)
    #expect(
      delegate.calls.first?.listeners.map { ObjectIdentifier($0) }
        == members.prefix(2).map { ObjectIdentifier($0) })
    #expect(delegate.calls.first?.context as? Int == 2)
    #expect(
      delegate.calls.first?.updates
        == ModelUpdates(changedModelIdentifiers: ["person:1", "team:1"]))
  }

  // Updates were counted anew each time the manager had nothing more to do, so that an earlier one
  // could pass for the newest.
  @Test func `a batch tells the newest context, also when the manager had nothing to do before`()
    async
  {
    let members = [Listener(ann), Listener(bea)]
    let delegate = BatchDelegate()
    let batch = BatchListener(listeners: members, consistencyManager: manager)
    batch.delegate = delegate
    batch.isPaused = true
    let gate = Event()
    manager.enqueue { _ in gate.wait() }
    manager.updateModel(Person(id: 1, name: "Anja"), context: 1)
    manager.updateModel(anna, context: 2)
    gate.signal()
    await manager.drain()
    manager.updateModel(Person(id: 2, name: "Beatrice"), context: 3)
    await manager.drain()
    batch.isPaused = false
    await manager.drain()
    #expect(delegate.calls.map { $0.context as? Int } == [3])
  }

  @Test func `a listener with too many calls waiting catches up with one`() async {
    let manager = ConsistencyManager(backlogLimit: 10)
    let delegate = ManagerDelegate()
    manager.delegate = delegate
    let gate = Event(), entered = Event()
    let listener = Listener(ann), other = Listener(bea)
    listener.onCall { call in
      if (call.context as? Int) == 0 {
        entered.signal()
        gate.wait()
      }
    }
    manager.addListener(listener)
    manager.addListener(other)
    manager.updateModel(Person(id: 1, name: "0"), context: 0)
    await wait(for: entered)
    for number in 1..<100 {
      manager.updateModel(Person(id: 1, name: "\(number)"), context: number)
    }
    // Worked out when this has run.
    let processed = Event()
    manager.enqueue { _ in processed.signal() }
    await wait(for: processed)
    gate.signal()
    await manager.drain()
    await manager.drain()
    #expect(listener.calls.map { $0.context as? Int } == Array(0..<11) + [99])
    #expect(listener.shown() == Person(id: 1, name: "99"))
    #expect(delegate.codes == [.backlogLimitReached])
    manager.updateModel(anna, context: 100)
    await manager.drain()
    #expect(listener.calls.last?.context as? Int == 100)
  }
}
