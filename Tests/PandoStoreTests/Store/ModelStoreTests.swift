import PandoModels
import PandoStore
import Testing

@Suite(.overBothBackings) struct ModelStoreTests {
  private let ada = Person(id: 1, name: "Ada")
  private let bob = Person(id: 2, name: "Bob")

  @Test func `a tree is read back as it was written`() throws {
    let store = try ModelStore.forTest()
    let message = Message(
      id: 1, text: "Hello", author: ada, image: Image(id: 7, url: "a.png"), readers: [bob, ada])
    try store.write { try $0.set(message) }
    #expect(try store.read { try $0.get("Message:1", as: Message.self) } == message)
    #expect(try store.read { try $0.get("Person:2", as: Person.self) } == bob)
    #expect(try store.verify().problems == [])
  }

  @Test func `one changed child is one record written and shows in every tree`() throws {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      for id in 0..<10 { try transaction.set(Message(id: id, text: "\(id)", author: ada)) }
    }
    var online = ada
    online.isOnline = true
    let commit = try store.commit { [online] in try $0.set(online) }
    #expect(commit.changeSet?.updated == ["Person:1"])
    #expect(commit.changeSet?.commitNumber.value == 2)
    for id in 0..<10 {
      let message = try store.read { try $0.get("Message:\(id)", as: Message.self) }
      #expect(message?.author == online)
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `a delete takes parents that require the child and leaves the others without it`()
    throws
  {
    let store = try ModelStore.forTest()
    let image = Image(id: 7, url: "a.png")
    try store.write { transaction in
      try transaction.set(Message(id: 1, text: "1", author: ada, image: image, readers: [bob]))
      try transaction.set(Message(id: 2, text: "2", author: bob, image: image, readers: [ada]))
    }
    let deletion = try store.write { try $0.deleteIfPresent("Person:1") }
    #expect(deletion?.deleted == ["Person:1", "Message:1"])
    #expect(deletion?.updated == ["Message:2"])
    let second = try store.read { try $0.get("Message:2", as: Message.self) }
    #expect(second?.readers == [])
    try store.write { try $0.deleteIfPresent("Image:7") }
    #expect(try store.read { try $0.get("Message:2", as: Message.self) }?.image == nil)
    #expect(try store.verify().problems == [])
  }

  @Test func `children of what is deleted stay until they are pruned, unless they were asked for`()
    throws
  {
    let store = try ModelStore.forTest()
    func identifiers() throws -> Set<String> { try store.read { try Set($0.identifiers()) } }
    try store.write { transaction in
      try transaction.set(ada)
      try transaction.append([Image(id: 9, url: "listed")], toCollection: "images")
      try transaction.set(
        Message(id: 1, text: "1", author: ada, image: Image(id: 7, url: "a"), readers: [bob]))
      try transaction.deleteIfPresent("Message:1")
      try transaction.removeCollection("images")
    }
    #expect(try identifiers() == ["Person:1", "Person:2", "Image:7", "Image:9"])
    #expect(try store.write { try $0.prune() } == 2)
    #expect(try identifiers() == ["Person:1", "Image:9"], "set as a root, and listed once")
  }

  @Test func `fields flow between projections of a node`() throws {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.set(ada)
      try transaction.set(FullProfile(id: 1, name: "Ada Lovelace", age: 36))
    }
    #expect(
      try store.read { try $0.get("Person:1", as: Person.self) }
        == Person(id: 1, name: "Ada Lovelace"))
    try store.write { try $0.set(Person(id: 1, name: "A.L.", isOnline: true)) }
    #expect(
      try store.read { try $0.get("Person:1", as: FullProfile.self) }
        == FullProfile(id: 1, name: "A.L.", age: 36))
    #expect(try store.verify().problems == [])
  }

  @Test func `a closure that throws leaves nothing`() throws {
    struct Stop: Error {}
    let store = try ModelStore.forTest()
    #expect(throws: Stop.self) {
      try store.write { transaction in
        try transaction.set(ada)
        throw Stop()
      }
    }
    #expect(try store.read { try $0.count() } == 0)
    #expect(try store.read { try $0.commitNumber.value } == 0)
  }

  @Test func `a collection lists nodes in order and loses deleted ones`() throws {
    let store = try ModelStore.forTest()
    let people = (0..<500).map { Person(id: $0, name: "\($0)") }
    try store.write { try $0.append(people, toCollection: "contacts") }
    try store.write { transaction in
      try transaction.moveElement(from: 0, to: 499, inCollection: "contacts")
      try transaction.insert([bob], at: 1, inCollection: "contacts")
    }
    let commit = try store.commit { try $0.deleteIfPresent("Person:2") }
    #expect(
      commit.changeSet?.change(ofCollection: "contacts")
        == .changes([.delete(index: 2), .delete(index: 1)]))
    let left = try store.read { try $0.collection("contacts", as: Person.self) }
    #expect(left?.map(\.id) == [1] + Array(3..<500) + [0])
    try store.write { try $0.append([people[400]], toCollection: "contacts") }
    let later = try store.commit { try $0.deleteIfPresent("Person:400") }
    #expect(
      later.changeSet?.change(ofCollection: "contacts")
        == .changes([.delete(index: 499), .delete(index: 398)]))
    let rest = try store.read { try $0.collection("contacts", as: Person.self) }
    #expect(rest?.map(\.id) == [1] + (3..<500).filter { $0 != 400 } + [0])
    #expect(try store.verify().problems == [])
  }

  @Test func `a dump loads into an equal store`() throws {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.set(Message(id: 1, text: "Hello", author: ada, readers: [bob]))
      try transaction.append([ada, bob], toCollection: "contacts")
      try transaction.setProperty("note", to: [1, 2, 3])
    }
    var lines: [String] = []
    try store.dump { lines.append($0) }
    let copy = try ModelStore.forTest()
    let source = LineSource(lines)
    try copy.load { source.next() }
    var again: [String] = []
    try copy.dump { again.append($0) }
    #expect(again == lines)
    #expect(try copy.verify().problems == [])
  }
}
