import PandoConsistency
import PandoModels
import PandoRecords
import Testing

@Suite struct ProjectionTests {
  let manager = ConsistencyManager()
  let ann = Person(id: 1, name: "Ann")

  @Test func `another type is merged into the listener's model, in both directions`() async {
    let person = Listener(ann), profile = Listener(Profile(id: 1, name: "Ann", age: 30))
    let team = Listener(Team(id: 1, lead: ann))
    for listener in [person, profile, team] { manager.addListener(listener) }
    manager.updateModel(Profile(id: 1, name: "Anna", age: 31))
    await manager.drain()
    #expect(person.shown() == Person(id: 1, name: "Anna"))
    #expect(profile.shown() == Profile(id: 1, name: "Anna", age: 31))
    #expect(team.shown() == Team(id: 1, lead: Person(id: 1, name: "Anna")))
    manager.updateModel(Person(id: 1, name: "Anja", city: "Basel"))
    await manager.drain()
    #expect(person.shown() == Person(id: 1, name: "Anja", city: "Basel"))
    #expect(profile.shown() == Profile(id: 1, name: "Anja", age: 31))
  }

  @Test func `no listener is called if merging changes nothing`() async {
    let person = Listener(ann)
    manager.addListener(person)
    manager.updateModel(Profile(id: 1, name: "Ann", age: 99))
    await manager.drain()
    #expect(person.calls.isEmpty)
  }

  @Test func `two types in one update are both merged, in order`() async {
    let badge = Listener(Badge(id: 1, name: "Ann", city: "Bern", age: 1))
    manager.addListener(badge)
    manager.updateModels([
      Person(id: 1, name: "first", city: "Basel"), Profile(id: 1, name: "second", age: 2),
    ])
    await manager.drain()
    #expect(badge.shown() == Badge(id: 1, name: "second", city: "Basel", age: 2))
    manager.updateModels([
      Profile(id: 1, name: "third", age: 3), Person(id: 1, name: "fourth", city: "Chur"),
    ])
    await manager.drain()
    #expect(badge.shown() == Badge(id: 1, name: "fourth", city: "Chur", age: 3))
    #expect(badge.calls.count == 2)
  }

  @Test func `a type that was given takes what came after it as another type`() async {
    let person = Listener(ann), team = Listener(Team(id: 1, lead: ann))
    manager.addListener(person)
    manager.addListener(team)
    manager.updateModels([
      Team(id: 1, lead: Person(id: 1, name: "first", city: "Basel")),
      Profile(id: 1, name: "second", age: 2),
    ])
    await manager.drain()
    let result = Person(id: 1, name: "second", city: "Basel")
    #expect(person.shown() == result)
    #expect(team.shown() == Team(id: 1, lead: result))
  }

  @Test func `of two models with the same type the later one counts, and a conflict is reported`()
    async
  {
    let delegate = ManagerDelegate()
    manager.delegate = delegate
    let person = Listener(ann), team = Listener(Team(id: 1, lead: ann))
    manager.addListener(person)
    manager.addListener(team)
    let last = Person(id: 1, name: "last")
    manager.updateModel(
      Team(
        id: 1, lead: Person(id: 1, name: "first"), deputy: Person(id: 1, name: "second"),
        members: [last]))
    await manager.drain()
    #expect(person.shown() == last)
    #expect(team.shown() == Team(id: 1, lead: last, deputy: last, members: [last]))
    #expect(delegate.codes.allSatisfy { $0 == .conflictingContent })
    #expect(delegate.mistakes.values.first?.identifier == "person:1")
  }

  @Test func `types that can't be merged are reported and change nothing`() async {
    let delegate = ManagerDelegate()
    manager.delegate = delegate
    let listener = Listener(Uncoded(name: "a"))
    manager.addListener(listener)
    manager.updateModel(Person(id: 1, name: "b"))
    await manager.drain()
    #expect(listener.calls.isEmpty)
    #expect(delegate.codes == [.mergeFailed])
  }

  @Test func `a generic type plays several projections of one node`() async {
    let brief = Listener(Sheet<Brief>(id: 1, name: "Ann"))
    let full = Listener(Sheet<Full>(id: 1, name: "Ann", age: 30))
    manager.addListener(brief)
    manager.addListener(full)
    manager.updateModel(Sheet<Brief>(id: 1, name: "Anna"))
    await manager.drain()
    #expect(brief.shown() == Sheet<Brief>(id: 1, name: "Anna"))
    #expect(full.shown() == Sheet<Full>(id: 1, name: "Anna", age: 30))
    manager.updateModel(Sheet<Full>(id: 1, name: "Anna", age: 31))
    await manager.drain()
    #expect(brief.shown() == Sheet<Brief>(id: 1, name: "Anna"))
    #expect(brief.calls.count == 1)
    #expect(full.shown() == Sheet<Full>(id: 1, name: "Anna", age: 31))
    #expect(Sheet<Brief>.modelTypeName == "Sheet.Brief")
  }
}

private protocol Projection: SendableMetatype {
  static var hasAge: Bool { get }
}

private enum Brief: Projection {
  static let hasAge = false
}

private enum Full: Projection {
  static let hasAge = true
}

private struct Sheet<Kind: Projection>: Model, Codable, Equatable {
  static var modelTypeName: String { "Sheet.\(Kind.self)" }

  var id: Int
  var name: String
  var age: Int?
  var modelIdentifier: String? { "sheet:\(id)" }

  func merge(_ other: any Model) -> any Model {
    switch other {
    case let other as Self: other
    case let other as Sheet<Brief>: Sheet(id: id, name: other.name, age: age)
    case let other as Sheet<Full>:
      Sheet(id: id, name: other.name, age: Kind.hasAge ? other.age : nil)
    default: self
    }
  }
}

private struct Badge: Model, Codable, Equatable {
  var id: Int
  var name: String
  var city: String
  var age: Int
  var modelIdentifier: String? { "person:\(id)" }
}

/// Has no coding, so nothing can flow into it.
private struct Uncoded: Model, Equatable {
  var name: String
  var modelIdentifier: String? { "person:1" }
  func map(_ transform: (any Model) -> (any Model)?) -> Uncoded? { self }
  func forEach(_ visit: (any Model) -> Void) {}
}
