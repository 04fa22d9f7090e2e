import PandoConsistency
import PandoFixtures
import PandoModels
import PandoRecords
import Testing

/// The calls of the manager's delegate.
@Suite struct MistakeTests {
  let manager = ConsistencyManager()
  let delegate = ManagerDelegate()
  let ann = Person(id: 1, name: "Ann")
  let anna = Person(id: 1, name: "Anna")

  init() { manager.delegate = delegate }

  @Test func `the delegate gets every replacement, with the context`() async {
    let listener = Listener(Team(id: 1, lead: ann, deputy: Person(id: 2, name: "Bea")))
    manager.addListener(listener)
    manager.updateModel(anna, context: 7)
    manager.deleteModel(Person(id: 2, name: "Bea"))
    await manager.drain()
    let told = delegate.replacements.values
    #expect(
      told.map(\.old.modelIdentifier) == ["person:1", "team:1", "person:2", "team:1"])
    #expect(told.first?.new as? Person == anna)
    #expect(told.first?.context as? Int == 7)
    #expect(told[2].new == nil)
    #expect(delegate.codes.isEmpty)
  }

  @Test func `a cyclic model is refused`() async {
    let listener = Listener(ann)
    manager.addListener(listener)
    let folder = Folder(name: "a", content: [Folder(name: "b", content: [Folder(name: "a")])])
    manager.updateModels([anna, folder])
    await manager.drain()
    #expect(listener.calls.isEmpty)
    #expect(delegate.codes == [.cyclicModel])
    #expect(delegate.mistakes.values.first?.identifier == "a")
  }

  @Test func `a model that contains itself without end is refused`() async {
    let ring = Ring(identifier: nil)
    let named = Ring(identifier: "ring")
    manager.updateModel(ring)
    manager.updateModel(named)
    let listener = Listener(ring)
    manager.addListener(listener)
    manager.updateModel(anna)
    await manager.drain()
    #expect(delegate.codes == [.nestingTooDeep, .cyclicModel])
    #expect(listener.calls.isEmpty)
  }

  @Test func `a model at the limit of nesting is taken, one level more is refused`() async {
    func tower(_ levels: Int) -> Folder {
      (0..<levels).reduce(Folder(name: "top")) { inner, level in
        Folder(name: "\(level)", content: [inner])
      }
    }
    let listener = Listener(Folder(name: "top"))
    manager.addListener(listener)
    var deep = tower(RecordLimits.maximumNodeDepth - 1)
    manager.addListener(Listener(deep))
    manager.updateModel(deep)
    await manager.drain()
    #expect(delegate.codes.isEmpty)
    deep = tower(RecordLimits.maximumNodeDepth)
    manager.updateModel(deep)
    await manager.drain()
    #expect(delegate.codes == [.nestingTooDeep])
  }

  @Test func `an empty identifier is refused`() async {
    manager.updateModel(Folder(name: "a", content: [Folder(name: "")]))
    await manager.drain()
    manager.deleteModel(Folder(name: ""))
    await manager.drain()
    #expect(delegate.codes == [.emptyIdentifier, .missingIdentifier])
  }

  @Test func `a callback that never returns does not silence the delegate`() async {
    let gate = Event()
    let reported = Event()
    let listener = Listener(ann)
    listener.onCall { _ in gate.wait() }
    manager.addListener(listener)
    manager.updateModel(anna)
    manager.deleteModel(Company.Board())
    manager.reportQueueReached { reported.signal() }
    await wait(for: reported)
    #expect(delegate.codes == [.missingIdentifier])
    gate.signal()
  }

  @Test func `clearing removes all listeners and cancels what is queued`() async {
    let gate = Event()
    let listener = Listener(ann), updates = UpdatesListener()
    manager.addListener(listener)
    manager.addUpdatesListener(updates)
    manager.enqueue { _ in gate.wait() }
    manager.updateModel(anna)
    manager.clearListenersAndCancelAllTasks()
    gate.signal()
    await manager.drain()
    #expect(listener.calls.isEmpty)
    #expect(updates.updates.isEmpty)
    #expect(
      manager.registeredCounts == RegisteredCounts(nodes: 0, trees: 0, holders: 0, listeners: 0))
    manager.addListener(listener)
    manager.updateModel(anna)
    await manager.drain()
    #expect(listener.calls.count == 1)
  }

  @Test func `the completion of clearing comes when nothing is left, behind a call under way`()
    async
  {
    let begun = Event(), gate = Event(), cleared = Event()
    let listener = Listener(ann), other = Listener(ann)
    let order = Recorder<String>()
    listener.onCall { _ in
      begun.signal()
      gate.wait()
      order.append("call")
    }
    manager.addListener(listener)
    manager.addListener(other)
    manager.updateModel(anna)
    await wait(for: begun)
    let counts = Recorder<RegisteredCounts>()
    manager.clearListenersAndCancelAllTasks { [manager] in
      counts.append(manager.registeredCounts)
      order.append("cleared")
      cleared.signal()
    }
    gate.signal()
    await wait(for: cleared)
    #expect(order.values == ["call", "cleared"])
    #expect(other.calls.isEmpty)
    #expect(counts.values == [RegisteredCounts(nodes: 0, trees: 0, holders: 0, listeners: 0)])
  }
}

private struct Folder: Model, Codable, Equatable {
  var name: String
  var content: [Folder] = []
  var modelIdentifier: String? { name }
}

/// Its only child is itself.
private final class Ring: Model {
  let identifier: String?
  init(identifier: String?) { self.identifier = identifier }
  var modelIdentifier: String? { identifier }
  func isEqual(to other: any SimpleModel) -> Bool { (other as? Ring) === self }
  func map(_ transform: (any Model) -> (any Model)?) -> Self? {
    transform(self) == nil ? nil : self
  }
  func forEach(_ visit: (any Model) -> Void) { visit(self) }
}
