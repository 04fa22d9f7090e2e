import PandoFixtures
import PandoModels
import PandoStore
import Testing

/// A dump that is broken leaves nothing behind.
@Suite(.overBothBackings) struct DumpTests {
  /// A store with all that a dump has lines for.
  private func makeStore() throws -> ModelStore {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.set(Person(id: 1, name: "Ada"))
      try transaction.set(FullProfile(id: 1, name: "Ada L.", age: 36))
      try transaction.set(Message(id: 1, text: "Hi", author: Person(id: 2, name: "Bob")))
      try transaction.setCollection(
        "people", to: [Person(id: 1, name: "A"), Person(id: 2, name: "B")])
      try transaction.setProperty("note", to: [1, 2])
    }
    try store.write { try $0.set(Person(id: 3, name: "C")) }
    return store
  }

  private func dump(_ store: ModelStore) throws -> [String] {
    var lines: [String] = []
    try store.dump { lines.append($0) }
    return lines
  }

  private func expectRefused(_ lines: [String], _ text: String) throws {
    let copy = try ModelStore.forTest()
    let source = LineSource(lines)
    expectFailure(.invalidDump, text) { try copy.load { source.next() } }
    #expect(try copy.read { try $0.count() } == 0)
    #expect(try copy.read { try $0.commitNumber.value } == 0)
    #expect(try copy.read { try $0.collectionKeys() } == [])
    #expect(try copy.read { try $0.property("note") } == nil)
    #expect(try copy.verify().problems == [])
    // The same store takes a good dump afterwards.
    let good = LineSource(try dump(makeStore()))
    try copy.load { good.next() }
    #expect(try copy.verify().problems == [])
  }

  @Test func `a node with records of several types is loaded with all of them`() throws {
    // Was: each record got a node of its own, and all but one were lost.
    let store = try makeStore()
    let lines = try dump(store)
    let source = LineSource(lines)
    let copy = try ModelStore.forTest()
    let report = try copy.load { source.next() }
    #expect(report.nodeCount == 4)
    #expect(report.collectionCount == 1)
    #expect(try copy.read { try $0.typeNames(of: "Person:1") } == ["FullProfile", "Person"])
    #expect(try copy.read { try $0.commitNumber.value } == 2)
    #expect(try dump(copy) == lines)
    #expect(try copy.verify().problems == [])
    let next = try copy.commit { try $0.deleteIfPresent("Person:3") }
    #expect(next.changeSet?.commitNumber.value == 3)
    #expect(try copy.read { try $0.changes(since: CommitNumber(value: 2)) }.count == 1)
    expectFailure(.changesExpired, "begins at commit 3") {
      _ = try copy.read { try $0.changes(since: CommitNumber(value: 1)) }
    }
  }

  @Test func `the record that is shown without a type stays the same`() throws {
    // Was: types were numbered by their names, and of two records of one commit the other was shown.
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.set(TreeNode("a", type: "Zebra", fields: ["stripes": 1]))
      try transaction.set(TreeNode("a", type: "Antelope", fields: ["horns": 2]))
    }
    #expect(try store.read { try $0.tree("a") }?.typeName == "Zebra")
    let source = LineSource(try dump(store))
    let copy = try ModelStore.forTest()
    try copy.load { source.next() }
    #expect(try copy.read { try $0.tree("a") }?.typeName == "Zebra")
  }

  @Test func `a dump that was cut off at any line is refused`() throws {
    let lines = try dump(makeStore())
    for count in 1..<lines.count {
      try expectRefused(
        Array(lines[..<count]), "the dump ends here, before its last line; it is incomplete")
    }
    try expectRefused([], "line 0: the dump ends here")
  }

  @Test func `a line that is missing or comes twice is refused`() throws {
    let lines = try dump(makeStore())
    for (index, line) in lines.enumerated().dropLast() where !line.contains("\"type\"") {
      let isProperty = line.contains("\"property\"")
      var short = lines
      short.remove(at: index)
      if !isProperty { try expectRefused(short, "") }
      var long = lines
      long.insert(line, at: index)
      if !isProperty { try expectRefused(long, "line \(index + 2)") }
    }
    try expectRefused(lines + lines, "line \(lines.count + 1): it comes after the last line")
  }

  @Test func `a line that is no JSON is refused with its line and column`() throws {
    // Was: each line was parsed by itself, so that the error said line 1.
    var lines = try dump(makeStore())
    lines[4] = "{\"node\": x}"
    try expectRefused(lines, "line 5: column 10: ")
  }

  @Test func `a line of JSON that is no line of a dump is refused`() throws {
    let lines = try dump(makeStore())
    for wrong in ["{}", "[]", "7", "{\"node\":\"a\"}", "{\"collection\":\"c\",\"elements\":[]}"] {
      var changed = lines
      changed.insert(wrong, at: 1)
      try expectRefused(changed, "line 2: it is no line of a dump; nothing was loaded")
    }
  }

  @Test func `lines that contradict each other are refused`() throws {
    let lines = try dump(makeStore())
    func changed(_ old: String, _ new: String) -> [String] {
      lines.map { $0.replacing(old, with: new) }
    }
    try expectRefused(changed("\"format\":1", "\"format\":2"), "of another format than 1")
    try expectRefused(changed("[\"Person\",2,", "[\"Person\",9,"), "is newer than commit 2")
    try expectRefused(changed("\"nodes\":4", "\"nodes\":5"), "5 nodes and 1 collections")
    try expectRefused(
      changed("[\"Person:2\",\"Person\"]", "[\"Person:9\",\"Person\"]"), "Person:9")
    try expectRefused(changed("\"continues\":false", "\"continues\":true"), "do not follow")
    try expectRefused(changed("\"node\":\"Person:3\"", "\"node\":\"\""), "line ")
  }

  @Test func `nodes that contain each other are refused`() throws {
    // Was: loaded, because each line alone is sound.
    let store = try ModelStore.forTest()
    try store.write { transaction in
      for (child, parent) in [("a", "b"), ("b", "c")] {
        let child = TreeValue.node(TreeNode(child, type: "Box", fields: ["n": 1]))
        try transaction.merge(TreeNode(parent, type: "Box", fields: ["child": child]))
      }
    }
    let lines = try dump(store)
    try expectRefused(
      lines.map { line in
        guard line.contains("\"node\":\"a\"") else { return line }
        return line.replacing("\"n\":1", with: "\"n\":{\"$reference\":[\"c\",\"Box\"]}")
      }, "would contain itself")
  }

  @Test func `a store that is not new takes no dump`() throws {
    let lines = try dump(makeStore())
    let used = try makeStore()
    let before = try dump(used)
    expectFailure(.invalidDump, "is not new") {
      let source = LineSource(lines)
      try used.load { source.next() }
    }
    #expect(try dump(used) == before)
    // Was: accepted after a removal, and the commit numbers went back while the log stayed.
    try used.write { try $0.removeAll() }
    expectFailure(.invalidDump, "is not new") {
      let source = LineSource(lines)
      try used.load { source.next() }
    }
    #expect(try used.read { try $0.commitNumber.value } == 3)
    #expect(try used.verify().problems == [])
  }

  @Test func `an error of the source leaves nothing`() throws {
    struct Broken: Error {}
    let source = LineSource(Array(try dump(makeStore()).prefix(6)))
    let copy = try ModelStore.forTest()
    #expect(throws: Broken.self) {
      try copy.load {
        guard let line = source.next() else { throw Broken() }
        return line
      }
    }
    #expect(try copy.read { try $0.count() } == 0)
    #expect(try copy.verify().problems == [])
  }
}
