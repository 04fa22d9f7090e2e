import PandoConsistency
import PandoModels
import PandoRecords
import Testing

@Suite struct DeletingTests {
  let manager = ConsistencyManager()
  let ann = Person(id: 1, name: "Ann")
  let bea = Person(id: 2, name: "Bea")

  @Test func `only the identifier counts, not the type`() async {
    let listener = Listener(Team(id: 1, lead: bea, deputy: ann))
    manager.addListener(listener)
    manager.deleteModel(Profile(id: 1, name: "whoever", age: 3))
    await manager.drain()
    #expect(listener.shown() == Team(id: 1, lead: bea))
  }

  @Test func `deleting without identifier does nothing and is reported`() async {
    let delegate = ManagerDelegate()
    manager.delegate = delegate
    let listener = Listener(Company(id: 1, board: Company.Board(chair: ann)))
    manager.addListener(listener)
    manager.deleteModel(Company.Board(chair: ann))
    await manager.drain()
    #expect(listener.calls.isEmpty)
    #expect(delegate.codes == [.missingIdentifier])
  }

  @Test func `an optional child becomes nil, an element is removed`() async {
    let listener = Listener(
      Team(id: 1, lead: bea, deputy: ann, members: [ann, bea, ann], roles: ["a": ann, "b": bea]))
    manager.addListener(listener)
    manager.deleteModel(ann)
    await manager.drain()
    #expect(listener.shown() == Team(id: 1, lead: bea, members: [bea], roles: ["b": bea]))
    #expect(manager.registeredCounts.nodes == 2)
  }

  @Test func `a required child takes its parents along, up to where they can be lost`() async {
    let kept = Team(id: 2, lead: bea)
    let listener = Listener(
      Company(
        id: 1, board: Company.Board(teams: [Team(id: 1, lead: ann), kept]),
        teams: [Team(id: 3, lead: ann)]))
    manager.addListener(listener)
    manager.deleteModel(ann)
    await manager.drain()
    #expect(listener.shown() == Company(id: 1, board: Company.Board(teams: [kept])))
  }

  @Test func `a required child of the root deletes the root`() async {
    let listener = Listener(Team(id: 1, lead: ann))
    manager.addListener(listener)
    manager.deleteModel(ann)
    await manager.drain()
    #expect(listener.calls.count == 1)
    #expect(listener.model == nil)
    #expect(manager.registeredCounts.nodes == 0)
  }

  @Test func `a merge to another type is reported and changes nothing`() async {
    let delegate = ManagerDelegate()
    manager.delegate = delegate
    let listener = Listener(Shifty(name: "a"))
    manager.addListener(listener)
    manager.updateModel(Person(id: 1, name: "b"))
    await manager.drain()
    #expect(listener.calls.isEmpty)
    #expect(delegate.codes == [.wrongType])
    #expect(delegate.mistakes.values.first?.identifier == "person:1")
  }

  @Test func `a map to another type is reported and changes nothing`() async {
    let delegate = ManagerDelegate()
    manager.delegate = delegate
    let listener = Listener(Parent(child: ann))
    manager.addListener(listener)
    manager.updateModel(Person(id: 1, name: "Anna"))
    await manager.drain()
    #expect(listener.calls.isEmpty)
    #expect(delegate.codes == [.wrongType])
  }
}

/// Its merge does not keep the type.
private struct Shifty: Model, Equatable {
  var name: String
  var modelIdentifier: String? { "person:1" }
  func map(_ transform: (any Model) -> (any Model)?) -> Shifty? { self }
  func forEach(_ visit: (any Model) -> Void) {}
  func merge(_ other: any Model) -> any Model { other }
}

/// Its map returns a subclass.
private class Parent: Model, @unchecked Sendable {
  // Sendable because nothing changes.
  let child: Person
  required init(child: Person) { self.child = child }
  var modelIdentifier: String? { "parent" }
  func isEqual(to other: any SimpleModel) -> Bool { (other as? Parent)?.child == child }
  func map(_ transform: (any Model) -> (any Model)?) -> Self? {
    guard let child = transform(child) as? Person else { return nil }
    return Subclass(child: child) as? Self
  }
  func forEach(_ visit: (any Model) -> Void) { visit(child) }
}

private final class Subclass: Parent, @unchecked Sendable {}
