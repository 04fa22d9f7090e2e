import PandoFixtures
import PandoLMDB
import PandoModels
import Testing

@testable import PandoStore

@Suite struct IndexTests {
  private static func book(_ id: Int, _ title: String? = nil, year: Int64 = 2000) -> TreeNode {
    TreeNode(
      "book:\(id)", type: "Book",
      fields: [
        "title": title.map { .string($0) } ?? .null, "year": .integer(year),
        "place": ["shelf": .integer(Int64(id % 3))],
      ])
  }

  private static let title = ModelIndex(typeName: "Book", field: "title")
  private static let shelf = ModelIndex(typeName: "Book", field: "place.shelf")

  private static func check(_ store: ModelStore, _ indexes: [ModelIndex] = [title]) throws {
    try store.read { snapshot in
      for index in indexes { try IndexReference(index: index).check(snapshot) }
    }
    #expect(try store.verify().problems == [])
  }

  private static func makeStore() throws -> ModelStore {
    let store = try ModelStore.forTest()
    try store.write { try $0.addIndex(on: "title", ofType: "Book") }
    return store
  }

  @Test(.overBothBackings) func `an index is made from the records there are, listed, and dropped`()
    throws
  {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      for id in 0..<50 { try transaction.set(Self.book(id, id % 7 == 0 ? nil : "t\(id % 10)")) }
    }
    let number = try store.read { try $0.commitNumber.value }
    #expect(try store.write { try $0.addIndex(on: "title", ofType: "Book") })
    #expect(try store.write { try !$0.addIndex(on: "title", ofType: "Book") }, "it is there")
    #expect(try store.write { try $0.addIndex(on: "place.shelf", ofType: "Book") })
    #expect(try store.write { try $0.addIndex(on: "name", ofType: "Nobody") })
    #expect(try store.read { try $0.commitNumber.value } == number, "no model has changed")
    let nobody = ModelIndex(typeName: "Nobody", field: "name")
    #expect(try store.read { try $0.indexes() } == [Self.shelf, Self.title, nobody])
    #expect(try store.read { try $0.indexes(ofType: "Book") } == [Self.shelf, Self.title])
    try Self.check(store, [Self.title, Self.shelf, nobody])
    #expect(try store.write { try $0.dropIndex(on: "title", ofType: "Book") })
    #expect(try store.write { try !$0.dropIndex(on: "title", ofType: "Book") })
    #expect(try store.write { try !$0.dropIndex(on: "title", ofType: "Unknown") })
    #expect(try store.read { try $0.indexes() } == [Self.shelf, nobody])
    try Self.check(store, [Self.shelf])
    #expect(try store.write { try $0.addIndex(on: "title", ofType: "Book") })
    try Self.check(store, [Self.title, Self.shelf])
  }

  @Test(.overBothBackings) func `every way of writing keeps the rows`() throws {
    let store = try Self.makeStore()
    try store.write { try $0.set(Self.book(1, "one")) }
    try Self.check(store)
    try store.write { try $0.set(Self.book(1, "two")) }
    try Self.check(store)
    try store.write { try $0.merge(TreeNode("book:1", type: "Book", fields: ["title": "three"])) }
    try Self.check(store)
    // A record of another type of the node: fields of the same name flow.
    try store.write { try $0.set(TreeNode("book:1", type: "Card", fields: ["title": "four"])) }
    try Self.check(store)
    #expect(try store.read { try $0.tree("book:1", as: "Book")?["title"] } == "four")
    try store.write { try $0.append([.node(Self.book(2, "five"))], toCollection: "books") }
    try Self.check(store)
    // The cascade takes the owner along, and the record that holds it optionally loses it.
    let owner = TreeNode(
      "book:3", type: "Book", fields: ["title": .required(.node(TreeNode("t", type: "Title")))])
    try store.write { try $0.set(owner) }
    try Self.check(store)
    try store.write { try $0.deleteIfPresent("t") }
    #expect(try store.read { try !$0.contains("book:3") })
    try Self.check(store)
    let holder = TreeNode(
      "book:4", type: "Book", fields: ["title": .node(TreeNode("t", type: "Title"))])
    try store.write { try $0.set(holder) }
    try store.write { try $0.deleteIfPresent("t") }
    #expect(try store.read { try $0.tree("book:4")?["title"] } == .null)
    try Self.check(store)
    try store.write { transaction in
      try transaction.set(TreeNode("shelf", type: "Shelf", fields: ["b": .node(Self.book(5, "x"))]))
      try transaction.set(TreeNode("shelf", type: "Shelf"))
      #expect(try transaction.prune() == 1)
    }
    try Self.check(store)
    try store.write { try $0.deleteIfPresent("book:1") }
    try Self.check(store)
    try store.write { try $0.removeAll() }
    #expect(try store.read { try $0.indexes() } == [Self.title])
    try Self.check(store)
    try store.write { try $0.set(Self.book(1, "again")) }
    try Self.check(store)
  }

  @Test(.overBothBackings) func `an undone write leaves the rows as they were`() throws {
    struct Thrown: Error {}
    let store = try Self.makeStore()
    try store.write { try $0.set(Self.book(1, "one")) }
    #expect(throws: Thrown.self) {
      try store.write { transaction in
        try transaction.set(Self.book(1, "two"))
        try transaction.addIndex(on: "year", ofType: "Book")
        throw Thrown()
      }
    }
    try Self.check(store)
    #expect(try store.read { try $0.indexes() } == [Self.title])
    try store.write { transaction in
      try? transaction.nested { inner in
        try inner.set(Self.book(2, "three"))
        try inner.addIndex(on: "year", ofType: "Book")
        try inner.dropIndex(on: "title", ofType: "Book")
        throw Thrown()
      }
      try transaction.set(Self.book(3, "four"))
    }
    #expect(try store.read { try $0.indexes() } == [Self.title])
    try Self.check(store)
  }

  @Test(.overBothBackings)
  func `a migration and a load keep the rows, and a dump names the indexes`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      try store.write { transaction in
        for id in 0..<20 { try transaction.set(Self.book(id, "t\(id % 4)")) }
        try transaction.addIndex(on: "title", ofType: "Book")
        try transaction.addIndex(on: "place.shelf", ofType: "Book")
      }
      store.close()
      var configuration = ModelStore.Configuration.forTests
      configuration.migrations = [
        Migration(typeName: "Book", version: 1) {
          $0.fields["title"] = .string("m\($0.identifier)")
        }
      ]
      let migrated = try ModelStore(path: path, configuration: configuration)
      try Self.check(migrated, [Self.title, Self.shelf])
      var lines: [String] = []
      try migrated.dump { lines.append($0) }
      #expect(lines[1] == #"{"indexes":["place.shelf","title"],"schemaVersion":1,"type":"Book"}"#)
      let copy = try ModelStore.forTest()
      let source = LineSource(lines)
      try copy.load { source.next() }
      try Self.check(copy, [Self.title, Self.shelf])
      var again: [String] = []
      try copy.dump { again.append($0) }
      #expect(again == lines)
      migrated.close()
    }
  }

  @Test func `another process keeps the rows of an index that this one has made`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      defer { store.close() }
      let other = try ChildProcess("PandoStoreTestProcess", ["write-versions", path])
      // It is at work, or has not begun, when the index comes.
      try store.write { try $0.addIndex(on: "text", ofType: "Part") }
      try store.write { try $0.addIndex(on: "version", ofType: "Root") }
      #expect(other.wait() == 0)
      try Self.check(
        store,
        [
          ModelIndex(typeName: "Part", field: "text"),
          ModelIndex(typeName: "Root", field: "version"),
        ])
      #expect(try store.read { try $0.count(ofType: "Part") } == 20)
    }
  }

  @Test(arguments: seeds(3))
  func `after random writes the rows are those of the records`(seed: UInt64) throws {
    try withTemporaryDirectory { path in
      var run = try ModelRun(path: path, seed: seed, usesModels: false)
      var operations = OperationMaker(seed: seed, usesModels: false)
      let indexes = ["Doc.title", "Card.title", "Person.name", "Badge.number", "Image.name"].map {
        let parts = $0.split(separator: ".").map(String.init)
        return ModelIndex(typeName: parts[0], field: parts[1])
      }
      var present: Set<ModelIndex> = []
      for step in 0..<60 {
        run.step = step
        let index = operations.trees.pick(indexes)
        if step % 5 == 0 {
          if present.remove(index) != nil {
            try run.store.write { try $0.dropIndex(on: index.field, ofType: index.typeName) }
          } else {
            try run.store.write { try $0.addIndex(on: index.field, ofType: index.typeName) }
            present.insert(index)
          }
        }
        try run.perform(run.plan(&operations), isThrown: operations.trees.chance(10))
        try run.store.read { snapshot in
          for index in present { try IndexReference(index: index).check(snapshot, run.place) }
        }
        if step == 30 { try run.reopen() }
      }
      try run.checkDump()
      try run.store.read { snapshot in
        let listed = Set(try snapshot.indexes())
        try #require(listed == present)
        for index in present { try IndexReference(index: index).check(snapshot, run.place) }
      }
    }
  }

  @Test(.overBothBackings) func `the name of a field has 1 to 400 bytes`() throws {
    let store = try ModelStore.forTest()
    expectFailure(.invalidIndex, "has 1 to 400 bytes, this one has 0") {
      try store.write { _ = try $0.addIndex(on: "", ofType: "Book") }
    }
    let long = String(repeating: "f", count: 401)
    expectFailure(.invalidIndex, "this one has 401") {
      try store.write { _ = try $0.addIndex(on: long, ofType: "Book") }
    }
    expectFailure(model: .badTypeName, "can't be empty") {
      try store.write { _ = try $0.addIndex(on: "title", ofType: "") }
    }
    #expect(try store.read { try $0.indexes() } == [])
    #expect(try store.write { try $0.addIndex(on: String(long.dropLast()), ofType: "Book") })
    try store.write { try $0.set(Self.book(1)) }
    #expect(try store.verify().problems == [])
  }

  /// Damage of the rows, and what `verify` says of it.
  private static let damages:
    [(String, @Sendable (inout WriteTransaction, StoreTables) throws -> Void)] = [
      (
        "it has 1 rows for 2 records",
        { try $0.remove(row("one", 1), in: $1.indexRows) }
      ),
      (
        "the row of book:1 does not show its value",
        {
          try $0.remove(row("one", 1), in: $1.indexRows)
          try $0.put([], row("ones", 1), in: $1.indexRows)
        }
      ),
      (
        "a row refers to node 7, which has no record",
        { try $0.put([], row("one", 7), in: $1.indexRows) }
      ),
      ("a row has 5 bytes", { try $0.put([], [0, 0, 0, 1, 0x50], in: $1.indexRows) }),
      ("1 rows belong to no index", { try $0.put([], [0, 0, 0, 9, 0x10], in: $1.indexRows) }),
      (
        "a declaration is malformed",
        { try $0.put([1], [0, 0, 0, 1] + Array("year".utf8), in: $1.indexes) }
      ),
      (
        "its number 1 is taken",
        { try $0.put([1, 0, 0, 0], [0, 0, 0, 1] + Array("year".utf8), in: $1.indexes) }
      ),
    ]

  private static func row(_ title: String, _ node: UInt8) -> [UInt8] {
    [0, 0, 0, 1, 0x50] + Array(title.utf8) + [0, 1, 0, 0, 0, 0, 0, node]
  }

  @Test(.overBothBackings, arguments: damages.indices)
  func `verify finds damage of an index`(number: Int) throws {
    let (reason, damage) = Self.damages[number]
    let store = try Self.makeStore()
    try store.write { try $0.set(Self.book(1, "one")) }
    try store.write { try $0.set(Self.book(2, "two")) }
    try Self.check(store)
    try store.editRows(damage)
    let problems = try store.verify().problems
    #expect(problems.contains { $0.description.contains(reason) }, "\(problems)")
  }
}
