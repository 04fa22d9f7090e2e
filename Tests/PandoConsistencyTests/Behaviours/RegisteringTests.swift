import PandoConsistency
import PandoFixtures
import PandoModels
import Testing

@Suite struct RegisteringTests {
  let manager = ConsistencyManager()
  let ann = Person(id: 1, name: "Ann")

  @Test func `a listener is registered for every node of its tree, once each`() async {
    let company = Company(
      id: 1, board: Company.Board(chair: ann, teams: [Team(id: 1, lead: ann)]),
      teams: [Team(id: 1, lead: ann, members: [ann, Person(id: 2, name: "Bea")])])
    let listener = Listener(company)
    manager.addListener(listener)
    await manager.drain()
    #expect(
      manager.registeredCounts == RegisteredCounts(nodes: 4, trees: 1, holders: 1, listeners: 1))
    manager.updateModel(Person(id: 1, name: "Anna"))
    await manager.drain()
    #expect(listener.calls.count == 1)
    #expect(listener.shown(as: Company.self)?.board.chair?.name == "Anna")
    #expect(listener.shown(as: Company.self)?.board.teams.first?.lead.name == "Anna")
    #expect(listener.shown(as: Company.self)?.teams.first?.members.first?.name == "Anna")
  }

  @Test func `a listener is not retained, and nothing of a dead one is left`() async {
    weak var weakListener: Listener?
    do {
      let listener = Listener(Team(id: 1, lead: ann))
      weakListener = listener
      for _ in 0..<10 { manager.addListener(listener) }
      manager.pauseListener(listener)
      await manager.drain()
      #expect(manager.registeredCounts.holders == 1)
    }
    #expect(weakListener == nil)
    manager.cleanMemory()
    await manager.drain()
    #expect(
      manager.registeredCounts == RegisteredCounts(nodes: 0, trees: 0, holders: 0, listeners: 0))
  }

  @Test func `registering ten times is registering once`() async {
    let listener = Listener(ann)
    for _ in 0..<10 { manager.addListener(listener, to: ann) }
    manager.updateModel(Person(id: 1, name: "Anna"))
    await manager.drain()
    #expect(listener.calls.count == 1)
    #expect(manager.registeredCounts.trees == 1)
  }

  @Test func `listeners of one model are called in the order of registration`() async {
    let order = Recorder<Int>()
    let listeners = (0..<100).map { _ in Listener(ann) }
    for number in (0..<100).shuffled() {
      listeners[number].onCall { _ in order.append(number) }
    }
    for listener in listeners { manager.addListener(listener) }
    // Removing and adding shuffles the registry's own lists.
    for number in stride(from: 0, to: 100, by: 3) { manager.removeListener(listeners[number]) }
    for number in stride(from: 0, to: 100, by: 3) { manager.addListener(listeners[number]) }
    manager.updateModel(Person(id: 1, name: "Anna"))
    await manager.drain()
    #expect(order.values == (0..<100).filter { $0 % 3 != 0 } + (0..<100).filter { $0 % 3 == 0 })
  }

  @Test func `a child that an update brings in is listened to from then on`() async {
    let listener = Listener(Team(id: 1, lead: ann))
    manager.addListener(listener)
    manager.updateModel(Team(id: 1, lead: ann, deputy: Person(id: 2, name: "Bea")))
    manager.updateModel(Person(id: 2, name: "Beatrice"))
    await manager.drain()
    #expect(listener.calls.count == 2)
    #expect(listener.shown(as: Team.self)?.deputy?.name == "Beatrice")
  }

  @Test func `a child that an update takes out is heard of no more`() async {
    let bea = Person(id: 2, name: "Bea")
    let listener = Listener(Team(id: 1, lead: ann, deputy: bea))
    manager.addListener(listener)
    manager.updateModel(Team(id: 1, lead: ann))
    manager.updateModel(Person(id: 2, name: "Beatrice"))
    await manager.drain()
    #expect(listener.calls.count == 1)
    #expect(manager.registeredCounts.nodes == 2)
  }

  @Test func `swapping a child many times leaves one registration`() async {
    let listener = Listener(Team(id: 1, lead: ann, deputy: Person(id: 2, name: "Bea")))
    manager.addListener(listener)
    for number in 3..<2_003 {
      manager.updateModel(Team(id: 1, lead: ann, deputy: Person(id: number, name: "x")))
    }
    await manager.drain()
    #expect(
      manager.registeredCounts == RegisteredCounts(nodes: 3, trees: 1, holders: 1, listeners: 1))
  }

  @Test func `a removed listener does not get an update that is being delivered`() async {
    let gate = Event(), entered = Event()
    let first = Listener(ann), second = Listener(ann)
    first.onCall { _ in
      entered.signal()
      gate.wait()
    }
    manager.addListener(first)
    manager.addListener(second)
    manager.updateModel(Person(id: 1, name: "Anna"))
    await wait(for: entered)
    manager.removeListener(second)
    gate.signal()
    await manager.drain()
    #expect(first.calls.count == 1)
    #expect(second.calls.isEmpty)
  }

  @Test func `a removed listener is not paused any more`() async {
    let listener = Listener(ann)
    manager.addListener(listener)
    manager.pauseListener(listener)
    manager.removeListener(listener)
    #expect(!manager.isPaused(listener))
    manager.addListener(listener)
    manager.updateModel(Person(id: 1, name: "Anna"))
    await manager.drain()
    #expect(listener.calls.count == 1)
  }
}
