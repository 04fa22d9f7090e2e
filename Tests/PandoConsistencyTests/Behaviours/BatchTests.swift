import PandoConsistency
import PandoModels
import Testing

@Suite struct BatchTests {
  let manager = ConsistencyManager()
  let ann = Person(id: 1, name: "Ann")
  let anna = Person(id: 1, name: "Anna")
  let bea = Person(id: 2, name: "Bea")

  @Test func `each member gets its own part, then the delegate once, with the affected ones`() async
  {
    let order = Recorder<String>()
    let members = [
      Listener(Team(id: 1, lead: ann, deputy: bea)), Listener(Person(id: 3, name: "x")),
      Listener(bea), Listener(Team(id: 2, lead: ann)),
    ]
    for (number, member) in members.enumerated() {
      member.onCall { _ in order.append("\(number)") }
    }
    let outside = Listener(ann)
    outside.onCall { _ in order.append("outside") }
    let delegate = BatchDelegate { order.append("batch") }
    let batch = BatchListener(listeners: members, consistencyManager: manager)
    batch.delegate = delegate
    manager.addListener(outside)
    manager.updateModels([anna, Person(id: 2, name: "Beatrice")], context: "both")
    await manager.drain()
    #expect(order.values == ["0", "2", "3", "outside", "batch"])
    #expect(delegate.calls.count == 1)
    let call = delegate.calls.first
    #expect(
      call?.listeners.map { ObjectIdentifier($0) }
        == [members[0], members[2], members[3]].map { ObjectIdentifier($0) })
    #expect(
      call?.updates
        == ModelUpdates(changedModelIdentifiers: ["team:1", "person:1", "person:2", "team:2"]))
    #expect(call?.context as? String == "both")
    #expect(
      members[3].calls.map(\.updates)
        == [ModelUpdates(changedModelIdentifiers: ["team:2", "person:1"])])
    #expect(members[1].calls.isEmpty)
  }

  @Test func `a batch is not notified of updates that affect no member`() async {
    let delegate = BatchDelegate()
    let member = Listener(ann)
    let batch = BatchListener(listeners: [member], consistencyManager: manager)
    batch.delegate = delegate
    manager.updateModel(bea)
    manager.updateModel(ann)
    await manager.drain()
    #expect(delegate.calls.isEmpty)
  }

  @Test func `a member belongs to one batch only`() async {
    let mistakes = ManagerDelegate()
    manager.delegate = mistakes
    let member = Listener(ann)
    let first = BatchDelegate(), second = BatchDelegate()
    let batch = BatchListener(listeners: [member], consistencyManager: manager)
    let other = BatchListener(listeners: [member], consistencyManager: manager)
    batch.delegate = first
    other.delegate = second
    manager.updateModel(anna)
    await manager.drain()
    #expect(first.calls.count == 1)
    #expect(second.calls.isEmpty)
    #expect(other.listeners.isEmpty)
    #expect(mistakes.codes == [.memberOfAnotherBatch])
  }

  @Test func `after an update all members carry the same time`() async {
    let members = (0..<20).map { Listener(Team(id: $0, lead: ann)) }
    let batch = BatchListener(listeners: members, consistencyManager: manager)
    #expect(manager.lastUpdated(of: members[0]) == nil)
    manager.updateModel(anna)
    await manager.drain()
    let times = members.map { manager.lastUpdated(of: $0) }
    #expect(times[0] != nil)
    #expect(Set(times).count == 1)
    #expect(batch.listeners.count == 20)
  }

  @Test func `a listener to several models is called once per update, with all models`() async {
    let listener = Listener(BatchUpdateModel(models: [ann, nil, bea, Team(id: 1, lead: ann)]))
    manager.addListener(listener)
    manager.updateModel(
      BatchUpdateModel(models: [anna, Person(id: 2, name: "Beatrice")]), context: "both")
    await manager.drain()
    #expect(listener.calls.count == 1)
    let call = listener.calls.first
    let expected = BatchUpdateModel(
      models: [anna, nil, Person(id: 2, name: "Beatrice"), Team(id: 1, lead: anna)])
    #expect(call?.model?.isEqual(to: expected) == true)
    #expect(
      call?.updates
        == ModelUpdates(changedModelIdentifiers: ["person:1", "person:2", "team:1"]))
    #expect(call?.context as? String == "both")
    manager.updateModel(expected)
    await manager.drain()
    #expect(listener.calls.count == 1)
  }

  @Test func `a model that is deleted leaves an empty place in a batch`() async {
    let batch = BatchUpdateModel(models: [ann, bea])
    let listener = Listener(batch)
    manager.addListener(listener)
    manager.deleteModel(ann)
    await manager.drain()
    let left = BatchUpdateModel(models: [nil, bea])
    #expect(listener.model?.isEqual(to: left) == true)
    #expect(!left.isEqual(to: batch))
    #expect(!left.isEqual(to: BatchUpdateModel(models: [nil])))
    #expect(!left.isEqual(to: BatchUpdateModel(models: [nil, bea], modelIdentifier: "batch")))
    #expect(!left.isEqual(to: bea))
    manager.updateModel(Person(id: 2, name: "Beatrice"))
    await manager.drain()
    #expect(
      listener.model?.isEqual(
        to: BatchUpdateModel(models: [nil, Person(id: 2, name: "Beatrice")])) == true)
  }

  @Test func `a batch with an identifier is a node: an update replaces it`() async {
    let listener = Listener(BatchUpdateModel(models: [ann], modelIdentifier: "batch"))
    manager.addListener(listener)
    let new = BatchUpdateModel(models: [bea, anna], modelIdentifier: "batch")
    manager.updateModel(new)
    await manager.drain()
    #expect(listener.model?.isEqual(to: new) == true)
    manager.updateModel(Person(id: 2, name: "Beatrice"))
    await manager.drain()
    #expect(listener.calls.count == 2)
  }

  @Test func `a batch gives what its members show, and follows a member that moves`() async {
    let first = Listener(ann), second = Listener(nil)
    let batch = BatchListener(listeners: [first, second], consistencyManager: manager)
    let delegate = BatchDelegate()
    batch.delegate = delegate
    #expect(batch.currentModel().isEqual(to: BatchUpdateModel(models: [ann, nil])))
    second.model = bea
    batch.listenerHasUpdatedModel(second)
    let stranger = Listener(bea)
    batch.listenerHasUpdatedModel(stranger)
    manager.updateModel(Person(id: 2, name: "Beatrice"))
    await manager.drain()
    #expect(delegate.calls.map(\.listeners.count) == [1])
    #expect(stranger.calls.isEmpty)
    #expect(
      batch.currentModel().isEqual(
        to: BatchUpdateModel(models: [ann, Person(id: 2, name: "Beatrice")])))
  }
}
