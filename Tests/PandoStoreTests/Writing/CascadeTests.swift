import PandoModels
import PandoStore
import Testing

/// The effect of a delete on records that hold the node in several ways.
@Suite(.overBothBackings) struct CascadeTests {
  private let ada = Person(id: 1, name: "Ada")

  @Test func `the count of a type follows a delete inside the same write`() throws {
    // Was: the old count, until the flush met the type in some other way.
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.set(ada)
      try transaction.set(Person(id: 2, name: "Bob"))
    }
    try store.write { transaction in
      try transaction.deleteIfPresent("Person:1")
      #expect(try transaction.snapshot.count(ofType: "Person") == 1)
      try? transaction.nested { inner in
        try inner.deleteIfPresent("Person:2")
        #expect(try inner.snapshot.count(ofType: "Person") == 0)
        #expect(try inner.snapshot.typeNames() == [])
        throw CancellationError()
      }
      #expect(try transaction.snapshot.count(ofType: "Person") == 1)
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `two identifiers that Unicode calls equivalent are two updated parents`() throws {
    // Was: the second one was missing in the result of the delete.
    let composed = "caf\u{E9}"
    let decomposed = "cafe\u{301}"
    let store = try ModelStore.forTest()
    let child = TreeNode("child", type: "Leaf")
    try store.write { transaction in
      for parent in [composed, decomposed] {
        try transaction.set(TreeNode(parent, type: "Box", fields: ["a": .node(child)]))
      }
    }
    let deletion = try store.write { try $0.deleteIfPresent("child") }
    let updated = try #require(deletion?.updated)
    #expect(updated.map { Array($0.utf8) } == [composed, decomposed].map { Array($0.utf8) })
  }

  @Test func `updated parents come in the order the store first saw them, whatever their types`()
    throws
  {
    let store = try ModelStore.forTest()
    let child = TreeNode("child", type: "Leaf")
    try store.write { transaction in
      for (name, type) in [("a", "One"), ("b", "Two"), ("c", "One")] {
        try transaction.set(TreeNode(name, type: type, fields: ["x": .node(child)]))
      }
    }
    let deletion = try store.write { try $0.deleteIfPresent("child") }
    #expect(deletion?.updated == ["a", "b", "c"])
  }

  @Test func `a list whose elements all go with one node stays, empty`() throws {
    let store = try ModelStore.forTest()
    let company = TreeNode("company", type: "Company")
    let people = (0..<20).map { number in
      TreeNode(
        "person:\(number)", type: "Person", fields: ["employer": .required(.node(company))])
    }
    let entries = people.map { TreeValue.object(["who": .required(.node($0))]) }
    let list = TreeNode("list", type: "List", fields: ["entries": .array(entries)])
    let owner = TreeNode(
      "owner", type: "Owner",
      fields: ["list": .required(.node(list)), "first": .required(.node(people[0]))])
    try store.write { try $0.set(owner) }
    let deletion = try #require(try store.write { try $0.deleteIfPresent("company") })
    #expect(deletion.deleted.count == 22)
    #expect(deletion.deleted.first == "company")
    #expect(deletion.deleted.last == "owner")
    #expect(deletion.updated == ["list"])
    let rest = try store.read { try $0.tree("list") }
    #expect(rest == TreeNode("list", type: "List", fields: ["entries": .array([])]))
    #expect(try store.verify().problems == [])
  }

  @Test func `positional changes of one collection in one write keep their order`() throws {
    let store = try ModelStore.forTest()
    try store.write { try $0.setCollection("notes", to: [Note(text: "0")]) }
    let commit = try store.commit { transaction in
      for text in ["1", "2"] {
        try transaction.append([Note(text: text)], toCollection: "notes")
      }
      try transaction.moveElement(from: 2, to: 0, inCollection: "notes")
      try transaction.append([Note(text: "x")], toCollection: "new")
      try transaction.removeElements(in: 1..<2, fromCollection: "notes")
    }
    #expect(
      commit.changeSet?.change(ofCollection: "notes")
        == .changes([
          .insert(index: 1), .insert(index: 2), .move(from: 2, to: 0), .delete(index: 1),
        ]))
    #expect(commit.changeSet?.change(ofCollection: "new") == .changes([.insert(index: 0)]))
  }
}
