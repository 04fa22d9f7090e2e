import PandoSystem
import Testing

private protocol Listener: AnyObject, Sendable {
  var name: String { get }
}

private final class Person: Listener {
  let name: String

  init(_ name: String) { self.name = name }
}

private final class Robot: Listener {
  let name = "robot"
}

@Suite struct WeakReferenceTests {
  @Test func `a reference to a class keeps nothing alive`() {
    var person: Person? = Person("Ada")
    let reference = person.map { WeakReference($0) }
    #expect(reference?.object === person)
    person = nil
    #expect(reference?.object == nil)
  }

  @Test func `a reference to a protocol's type keeps nothing alive`() {
    var listener: (any Listener)? = Person("Ada")
    let reference = listener.map { WeakReference<any Listener>($0) }
    #expect(reference?.object?.name == "Ada")
    #expect(reference?.object === listener)
    listener = nil
    #expect(reference?.object == nil)
  }

  @Test func `a reference to any object keeps nothing alive`() {
    var object: (any AnyObject & Sendable)? = Robot()
    let reference = object.map { WeakReference<any AnyObject & Sendable>($0) }
    #expect(reference?.object is Robot)
    object = nil
    #expect(reference?.object == nil)
  }

  @Test func `a list has the objects that are alive, in the order in which they came`() {
    var list = WeakList<any Listener>()
    #expect(list.isEmpty)
    var people = ["Ada", "Bob", "Cleo"].map { Person($0) }
    for person in people { list.append(person) }
    let robot = Robot()
    list.append(robot)
    #expect(list.objects.map(\.name) == ["Ada", "Bob", "Cleo", "robot"])
    people.remove(at: 1)
    #expect(list.objects.map(\.name) == ["Ada", "Cleo", "robot"])
    #expect(list.count == 4)
    list.removeEnded()
    #expect(list.count == 3)
    people = []
    list.append(robot)
    #expect(list.count == 2)
    #expect(list.objects.map(\.name) == ["robot", "robot"])
  }
}
