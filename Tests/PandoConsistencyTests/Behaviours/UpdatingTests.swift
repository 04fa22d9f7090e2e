import Dispatch
import PandoConsistency
import PandoFixtures
import PandoModels
import PandoSystem
import Testing

@Suite struct UpdatingTests {
  let manager = ConsistencyManager()
  let ann = Person(id: 1, name: "Ann")
  let anna = Person(id: 1, name: "Anna")
  let bea = Person(id: 2, name: "Bea")

  @Test func `every place in every tree that holds an identifier of the update is replaced`() async
  {
    let team = Listener(Team(id: 1, lead: ann, members: [bea, ann], roles: ["a": ann]))
    let company = Listener(
      Company(
        id: 1, board: Company.Board(chair: ann, teams: [Team(id: 2, lead: bea, deputy: ann)])))
    let person = Listener(ann)
    for listener in [team, company, person] { manager.addListener(listener) }
    manager.updateModel(anna)
    await manager.drain()
    #expect(
      team.shown() == Team(id: 1, lead: anna, members: [bea, anna], roles: ["a": anna]))
    #expect(
      company.shown()
        == Company(
          id: 1, board: Company.Board(chair: anna, teams: [Team(id: 2, lead: bea, deputy: anna)])))
    #expect(person.shown() == anna)
  }

  // The next update once began from the tree that was read before the delivery of the first.
  @Test func `an update delivered while the next one reads the tree is not lost`() async {
    let queue = DispatchQueue(label: "delivery")
    let manager = ConsistencyManager(deliveringOn: .queue(queue))
    let listener = Listener(Team(id: 1, lead: ann, deputy: bea))
    let workedOut = Event()
    manager.addListener(listener)
    await manager.drain()
    queue.suspend()
    manager.updateModel(anna)
    manager.enqueue { _ in workedOut.signal() }
    workedOut.wait()
    let isFirst = Locked(true)
    listener.onRead {
      guard isFirst.withLock({ exchange(&$0, with: false) }) else { return }
      queue.resume()
      queue.sync {}
    }
    let beate = Person(id: 2, name: "Beate")
    manager.updateModel(beate)
    await manager.drain()
    #expect(listener.calls.count == 2)
    #expect(listener.shown() == Team(id: 1, lead: anna, deputy: beate))
  }

  @Test func `a listener whose root is a child of the update is updated`() async {
    let listener = Listener(ann)
    manager.addListener(listener)
    manager.updateModel(
      Company(id: 1, board: Company.Board(teams: [Team(id: 1, lead: bea, members: [anna])])))
    await manager.drain()
    #expect(listener.shown() == anna)
  }

  @Test func `a replacement stands as it is, and several nodes are replaced in one go`() async {
    let listener = Listener(Team(id: 1, lead: ann, deputy: bea))
    let other = Listener(Team(id: 2, lead: bea, deputy: ann))
    manager.addListener(listener)
    manager.addListener(other)
    let new = Team(id: 1, title: "new", lead: anna, deputy: Person(id: 2, name: "Beatrice"))
    manager.updateModel(new)
    await manager.drain()
    #expect(listener.shown() == new)
    #expect(
      other.shown() == Team(id: 2, lead: Person(id: 2, name: "Beatrice"), deputy: anna))
    #expect(listener.calls.count == 1)
    #expect(other.calls.count == 1)
  }

  @Test func `an update that changes nothing in a tree calls no listener`() async {
    let listener = Listener(Team(id: 1, lead: ann))
    manager.addListener(listener)
    manager.updateModel(Team(id: 1, lead: ann))
    manager.updateModel(ann)
    manager.updateModel(bea)
    manager.deleteModel(bea)
    await manager.drain()
    #expect(listener.calls.isEmpty)
  }

  @Test func `updates arrive in the order they were posted, even if the first is far larger`() async
  {
    let listener = Listener(ann)
    manager.addListener(listener)
    manager.updateModel(
      Team(id: 1, lead: anna, members: (10..<20_000).map { Person(id: $0, name: "x") }))
    for number in 0..<100 { manager.updateModel(Person(id: 1, name: "\(number)")) }
    await manager.drain()
    let names = listener.calls.map { ($0.model as? Person)?.name }
    #expect(names == ["Anna"] + (0..<100).map { "\($0)" })
  }

  @Test func `two quick updates of different nodes are both in the tree`() async {
    let gate = Event()
    let blocker = Listener(Person(id: 9, name: "x"))
    blocker.onCall { _ in gate.wait() }
    let listener = Listener(Team(id: 1, lead: ann, deputy: bea))
    manager.addListener(blocker)
    manager.addListener(listener)
    manager.updateModel(Person(id: 9, name: "y"))
    manager.updateModel(anna)
    // Worked out while the listener still shows the oldest tree.
    manager.updateModel(Person(id: 2, name: "Beatrice"))
    gate.signal()
    await manager.drain()
    #expect(listener.calls.count == 2)
    #expect(
      listener.calls.first?.model as? Team == Team(id: 1, lead: anna, deputy: bea))
    #expect(
      listener.shown() == Team(id: 1, lead: anna, deputy: Person(id: 2, name: "Beatrice")))
  }

  @Test func `all models are read before the first listener is called`() async {
    let events = Recorder<String>()
    let listeners = (0..<50).map { Listener(Team(id: $0, lead: ann)) }
    for listener in listeners { manager.addListener(listener) }
    await manager.drain()
    for (number, listener) in listeners.enumerated() {
      listener.onRead { events.append("read \(number)") }
      listener.onCall { _ in events.append("told \(number)") }
    }
    manager.updateModel(anna)
    await manager.drain()
    #expect(listeners.allSatisfy { $0.shown(as: Team.self)?.lead == anna })
    #expect(Array(events.values.prefix(50)) == (0..<50).map { "read \($0)" })
    #expect(
      events.values.filter { $0.hasPrefix("told") } == (0..<50).map { "told \($0)" })
  }

  @Test func `a delivery for a root that the listener has left is dropped`() async {
    let gate = Event(), entered = Event()
    let blocker = Listener(ann), listener = Listener(ann)
    blocker.onCall { _ in
      entered.signal()
      gate.wait()
    }
    manager.addListener(blocker)
    manager.addListener(listener)
    manager.updateModel(anna)
    await wait(for: entered)
    listener.model = bea
    manager.addListener(listener, to: bea)
    gate.signal()
    manager.updateModel(Person(id: 2, name: "Beatrice"))
    await manager.drain()
    #expect(listener.calls.map { ($0.model as? Person)?.name } == ["Beatrice"])
  }

  @Test func `every called listener gets the context unchanged`() async {
    final class Token: Sendable {}
    let token = Token()
    let listeners = [Listener(ann), Listener(Team(id: 1, lead: ann))]
    for listener in listeners { manager.addListener(listener) }
    manager.updateModel(anna, context: token)
    manager.updateModel(ann)
    await manager.drain()
    for listener in listeners {
      #expect(listener.calls.first?.context as? Token === token)
      #expect(listener.calls.last?.context == nil)
    }
  }

  @Test func `a batch of models is one update with one callback per listener`() async {
    let listener = Listener(Team(id: 1, lead: ann, deputy: bea))
    manager.addListener(listener)
    let beatrice = Person(id: 2, name: "Beatrice")
    manager.updateModels([anna, beatrice, Person(id: 3, name: "x")])
    await manager.drain()
    #expect(listener.calls.count == 1)
    #expect(listener.shown() == Team(id: 1, lead: anna, deputy: beatrice))
    #expect(
      listener.calls.first?.updates
        == ModelUpdates(changedModelIdentifiers: ["team:1", "person:1", "person:2"]))
  }

  @Test func `of two models of one identifier in a batch the later one counts everywhere`() async {
    let team = Listener(Team(id: 1, lead: ann)), person = Listener(ann)
    manager.addListener(team)
    manager.addListener(person)
    manager.updateModels([
      Team(id: 1, title: "new", lead: Person(id: 1, name: "old")), anna,
    ])
    await manager.drain()
    #expect(team.shown() == Team(id: 1, title: "new", lead: anna))
    #expect(person.shown() == anna)
  }

  @Test func `updates listeners get every update and delete`() async {
    let listener = UpdatesListener()
    manager.addUpdatesListener(listener)
    manager.addUpdatesListener(listener)
    let team = Team(id: 1, lead: ann, deputy: bea)
    manager.updateModel(team, context: "set")
    manager.deleteModel(bea, context: "deleted")
    await manager.drain()
    manager.removeUpdatesListener(listener)
    manager.updateModel(anna)
    await manager.drain()
    let updates = listener.updates
    #expect(updates.map { $0.context as? String } == ["set", "deleted"])
    #expect(updates.first?.models.first as? Team == team)
    #expect(updates.first?.changes.map(\.modelIdentifier) == ["person:1", "person:2", "team:1"])
    #expect(updates.first?.models(forIdentifier: "person:2").first as? Person == bea)
    #expect(updates.last?.deletedModelIdentifiers == ["person:2"])
    #expect(updates.last?.models.first as? Person == bea)
  }

  @Test func `an updates listener is called after the listeners, and for no earlier update`()
    async
  {
    let order = Recorder<String>()
    let listener = Listener(ann)
    listener.onCall { _ in order.append("listener") }
    let updates = UpdatesListener { order.append("updates") }
    manager.addListener(listener)
    manager.updateModel(anna)
    manager.addUpdatesListener(updates)
    manager.updateModel(ann)
    await manager.drain()
    #expect(order.values == ["listener", "listener", "updates"])
  }
}
