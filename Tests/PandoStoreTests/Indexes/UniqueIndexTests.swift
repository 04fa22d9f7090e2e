import PandoFixtures
import PandoLMDB
import PandoModels
import Testing

@testable import PandoStore

/// Indexes of several fields, and those that allow each value once, in the store itself.
@Suite(.overBothBackings) struct UniqueIndexTests {
  private static func user(_ id: Int, _ email: TreeValue = .null, _ team: Int64 = 0) -> TreeNode {
    TreeNode("user:\(id)", type: "User", fields: ["email": email, "team": .integer(team)])
  }

  private static func makeStore(_ fields: [String] = ["email"]) throws -> ModelStore {
    let store = try ModelStore.forTest()
    try store.write { try $0.addIndex(on: fields, ofType: "User", unique: true) }
    return store
  }

  private static func expectTaken(_ text: String, _ body: () throws -> Void) {
    expectFailure(.valueTaken, text, body)
  }

  @Test func `a taken value is refused, and the error names its holder`() throws {
    let store = try Self.makeStore()
    try store.write { try $0.set(Self.user(1, "ada")) }
    try store.write { try $0.set(Self.user(1, "ada", 2)) }
    Self.expectTaken(#"user:2: email of a User is unique, and "ada" is that of user:1; nothing"#) {
      try store.write { transaction in
        try transaction.set(Self.user(3, "ben"))
        try transaction.set(Self.user(2, "ada"))
      }
    }
    #expect(try store.statistics().nodeCount == 1)
    Self.expectTaken(#""ben""#) {
      try store.write { transaction in
        try transaction.set(Self.user(2, "ben"))
        try transaction.set(Self.user(3, "ben"))
      }
    }
    try store.write { try $0.set(Self.user(2, "ben")) }
    Self.expectTaken("user:2") {
      try store.write {
        try $0.merge(TreeNode("user:2", type: "User", fields: ["email": "ada"]))
      }
    }
    #expect(try store.read { try $0.tree("user:2")?["email"] } == "ben")
    try store.write { try $0.deleteIfPresent("user:1") }
    try store.write { try $0.set(Self.user(2, "ada")) }
    #expect(try store.verify().problems == [])
  }

  @Test func `uniqueness is checked at the end of a write or a nested transaction`() throws {
    let store = try Self.makeStore()
    try store.write { transaction in
      try transaction.set(Self.user(1, "ada"))
      try transaction.set(Self.user(2, "ben"))
    }
    try store.write { transaction in
      try transaction.set(Self.user(1, "ben"))
      try transaction.set(Self.user(2, "ada"))
    }
    #expect(try store.read { try $0.tree("user:1")?["email"] } == "ben")
    try store.write { transaction in
      do {
        try transaction.nested { try $0.set(Self.user(3, "ada")) }
        Issue.record("nothing was thrown")
      } catch let error as StoreError {
        #expect(error.code == .valueTaken)
      }
      try transaction.set(Self.user(4, "cleo"))
    }
    #expect(try store.statistics().nodeCount == 3)
    #expect(try store.verify().problems == [])
  }

  @Test func `null is no value, and long texts are distinguished`() throws {
    let store = try Self.makeStore(["email", "team"])
    let long = String(repeating: "x", count: 600)
    try store.write { transaction in
      for id in 0..<5 { try transaction.set(Self.user(id)) }
      try transaction.set(Self.user(5, .string(long + "1")))
      try transaction.set(Self.user(6, .string(long + "2")))
      try transaction.set(Self.user(7, .string(long + "2"), 1))
      try transaction.set(TreeNode("user:8", type: "User", fields: ["team": 1]))
      try transaction.set(TreeNode("user:9", type: "User", fields: ["team": 1]))
    }
    Self.expectTaken("email, team of a User is unique") {
      try store.write { try $0.set(Self.user(5, .string(long + "2"))) }
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `an index becomes unique only if no value is there twice`() throws {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.set(Self.user(1, "ada"))
      try transaction.set(Self.user(2, "ada"))
      try transaction.addIndex(on: "email", ofType: "User")
    }
    Self.expectTaken(#""ada""#) {
      try store.write { _ = try $0.addIndex(on: ["email"], ofType: "User", unique: true) }
    }
    let plain = ModelIndex(typeName: "User", field: "email")
    #expect(try store.read { try $0.indexes() } == [plain])
    try store.write { try $0.set(Self.user(2, "ben")) }
    #expect(try store.write { try $0.addIndex(on: ["email"], ofType: "User", unique: true) })
    #expect(try store.write { try !$0.addIndex(on: "email", ofType: "User") }, "it is there")
    let unique = ModelIndex(typeName: "User", fields: ["email"], isUnique: true)
    #expect(try store.read { try $0.indexes() } == [unique])
    try store.write { try $0.addIndex(on: ["team", "email"], ofType: "User") }
    try store.write { try $0.dropIndex(on: "email", ofType: "User") }
    try store.write { try $0.dropIndex(on: ["team", "email"], ofType: "User") }
    #expect(try store.verify().problems == [])
  }

  @Test func `a dump and a load keep them`() throws {
    let store = try Self.makeStore()
    let other = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.addIndex(on: ["team", "email"], ofType: "User")
      try transaction.addIndex(on: "team", ofType: "User")
      for id in 0..<20 { try transaction.set(Self.user(id, .string("e\(id)"), Int64(id % 3))) }
    }
    var lines: [String] = []
    try store.dump { lines.append($0) }
    #expect(
      lines.contains {
        $0.contains(#""indexes":[{"unique":["email"]},"team",["team","email"]]"#)
      }, "\(lines.prefix(3))")
    let source = LineSource(lines)
    try other.load { source.next() }
    let indexes = try store.read { try $0.indexes() }
    #expect(try other.read { try $0.indexes() } == indexes)
    #expect(try other.verify().problems == [])
    Self.expectTaken(#""e3""#) { try other.write { try $0.set(Self.user(99, "e3")) } }
  }

  @Test func `verify finds a value that stands twice`() throws {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.addIndex(on: "email", ofType: "User")
      try transaction.set(Self.user(1, "ada"))
      try transaction.set(Self.user(2, "ada"))
    }
    try store.editRows {
      try $0.put([1, 0, 0, 0, 1], [0, 0, 0, 1] + Array("email".utf8), in: $1.indexes)
    }
    let problems = try store.verify().problems
    #expect(
      problems.map(\.description)
        == ["index User.email: it is unique, and user:2 has a value of another one"])
  }

  @Test func `fields of an index are 1 to 8, each once`() throws {
    let store = try ModelStore.forTest()
    func refuse(_ fields: [String], _ text: String) {
      expectFailure(.invalidIndex, text) {
        try store.write { _ = try $0.addIndex(on: fields, ofType: "User") }
      }
    }
    refuse([], "1 to 8 fields, this one has 0")
    refuse((0..<9).map { "f\($0)" }, "this one has 9")
    refuse(["a", ""], "1 to 400 bytes")
    refuse(["a", String(repeating: "b", count: 399)], "these have 401")
    refuse(["a", "b", "a"], "twice")
    let eight = (0..<8).map { "f\($0)" }
    let texts = eight.map { ($0, TreeValue.string(String(repeating: "\u{0}", count: 300))) }
    try store.write { transaction in
      try transaction.addIndex(on: eight, ofType: "User")
      try transaction.set(
        TreeNode("u", type: "User", fields: .object(Dictionary(uniqueKeysWithValues: texts))))
    }
    #expect(try store.verify().problems == [])
  }
}
