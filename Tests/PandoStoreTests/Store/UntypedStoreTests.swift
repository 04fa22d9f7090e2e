import PandoModels
import PandoStore
import Testing

@Suite(.overBothBackings) struct UntypedStoreTests {
  private func person(_ id: Int, _ name: String) -> TreeNode {
    TreeNode(
      "Person:\(id)", type: "Person", fields: ["id": .integer(Int64(id)), "name": .string(name)])
  }

  private func message(
    _ id: Int, author: TreeNode, image: TreeNode? = nil, readers: [TreeNode] = []
  )
    -> TreeNode
  {
    TreeNode(
      "Message:\(id)", type: "Message",
      fields: .object([
        "id": .integer(Int64(id)), "author": .required(.node(author)),
        "image": image.map { .node($0) } ?? .null, "readers": .array(readers.map { .node($0) }),
      ]))
  }

  @Test func `an untyped tree is read back as it was written`() throws {
    let store = try ModelStore.forTest()
    let tree = message(
      1, author: person(1, "Ada"), image: TreeNode("Image:1", type: "Image", fields: ["w": 4.5]),
      readers: [person(2, "Bob"), person(1, "Ada")])
    try store.write { try $0.set(tree) }
    #expect(try store.read { try $0.tree("Message:1") } == tree)
    #expect(try store.read { try $0.parents(of: "Person:1") } == ["Message:1"])
    #expect(try store.verify().problems == [])
  }

  @Test func `one changed child is one record written and shows in every tree`() throws {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      for id in 0..<10 { try transaction.set(message(id, author: person(1, "Ada"))) }
    }
    let commit = try store.commit { try $0.set(person(1, "Ada L.")) }
    #expect(commit.changeSet?.updated == ["Person:1"])
    #expect(commit.changeSet?.commitNumber.value == 2)
    for id in 0..<10 {
      let tree = try store.read { try $0.tree("Message:\(id)") }
      #expect(tree?["author"]?["name"] == "Ada L.")
    }
    #expect(
      try store.read { try $0.changes(since: CommitNumber(value: 1)) }.map(\.updated) == [
        ["Person:1"]
      ])
    #expect(try store.verify().problems == [])
  }

  @Test func `a delete takes parents that require the child and leaves the others without it`()
    throws
  {
    let store = try ModelStore.forTest()
    let image = TreeNode("Image:7", type: "Image", fields: ["url": "a.png"])
    let ada = person(1, "Ada")
    let bob = person(2, "Bob")
    try store.write { transaction in
      try transaction.set(message(1, author: ada, image: image, readers: [bob]))
      try transaction.set(message(2, author: bob, image: image, readers: [ada]))
      try transaction.append([.node(ada), .node(bob)], toCollection: "contacts")
    }
    let commit = try store.commit { try $0.deleteIfPresent("Person:1") }
    #expect(commit.result?.deleted == ["Person:1", "Message:1"])
    #expect(commit.result?.updated == ["Message:2"])
    #expect(commit.result?.collections == ["contacts"])
    #expect(commit.changeSet?.change(ofCollection: "contacts") == .changes([.delete(index: 0)]))
    #expect(try store.read { try $0.tree("Message:2") }?["readers"] == [])
    try store.write { try $0.deleteIfPresent("Image:7") }
    #expect(try store.read { try $0.tree("Message:2") }?["image"] == .null)
    #expect(try store.verify().problems == [])
    #expect(try store.read { try $0.count() } == 2)
  }

  @Test func `a dump loads into an equal store`() throws {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.set(message(1, author: person(1, "Ada"), readers: [person(2, "Bob")]))
      try transaction.append(
        [.node(person(1, "Ada")), "a text", .object(["who": .node(person(2, "Bob"))])],
        toCollection: "contacts")
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

  @Test func `a merge leaves the fields that it does not name`() throws {
    let store = try ModelStore.forTest()
    try store.write { try $0.set(message(1, author: person(1, "Ada"))) }
    try store.write {
      try $0.merge(TreeNode("Person:1", type: "Person", fields: ["isOnline": true]))
    }
    let ada = try store.read { try $0.tree("Person:1") }
    #expect(ada?.fields == ["id": 1, "name": "Ada", "isOnline": true])
    #expect(try store.verify().problems == [])
  }

  @Test func `a merge that would close a cycle is refused and changes nothing`() throws {
    let store = try ModelStore.forTest()
    let inner = TreeNode("B", type: "Box", fields: [:])
    try store.write { try $0.set(TreeNode("A", type: "Box", fields: ["inner": .node(inner)])) }
    #expect(throws: StoreError.self) {
      try store.write { transaction in
        try transaction.merge(
          TreeNode(
            "B", type: "Box", fields: ["inner": .reference(identifier: "A", typeName: "Box")]))
      }
    }
    #expect(try store.read { try $0.tree("B") } == inner)
    #expect(try store.verify().problems == [])
  }
}
