import PandoFixtures
import PandoModels
import Testing

@testable import PandoStore

/// Nodes are found by the type of their records, also while a transaction is changing them.
@Suite struct TypeListingTests {
  @Test(.overBothBackings, arguments: seeds(2))
  func `lists by type follow every change`(seed: UInt64) throws {
    let store = try ModelStore.forTest()
    var random = SeededGenerator(seed: seed)
    // Numbers beyond one block of 2 048.
    try store.write { transaction in
      for id in 0..<2_000 { try transaction.set(TreeNode("first:\(id)", type: "First")) }
    }
    var expected: [String: Set<String>] = ["Even": [], "Odd": []]
    for step in 0..<40 {
      let ids = (0..<20).map { _ in Int.random(in: 0..<200, using: &random) }
      let deletes = Bool.random(using: &random)
      try store.write { [expected] transaction in
        var expected = expected
        for id in ids {
          let name = id % 2 == 0 ? "Even" : "Odd"
          if deletes {
            try transaction.deleteIfPresent("\(id)")
            expected[name]?.remove("\(id)")
          } else {
            try transaction.set(TreeNode("\(id)", type: name))
            expected[name]?.insert("\(id)")
          }
          let found = try Self.identifiers(ofType: name, in: transaction.snapshot)
          #expect(found == expected[name], "seed \(seed), step \(step), inside")
        }
      }
      for id in ids {
        let name = id % 2 == 0 ? "Even" : "Odd"
        if deletes { expected[name]?.remove("\(id)") } else { expected[name]?.insert("\(id)") }
      }
      for (name, ids) in expected {
        let found = try store.read { try Self.identifiers(ofType: name, in: $0) }
        #expect(found == ids, "seed \(seed), step \(step)")
      }
    }
    #expect(try store.verify().problems == [])
    try store.write { transaction in
      try transaction.removeAll()
      #expect(try Self.identifiers(ofType: "First", in: transaction.snapshot).isEmpty)
    }
    #expect(try store.verify().problems == [])
  }

  private static func identifiers(
    ofType name: String, in snapshot: ModelSnapshot
  ) throws -> Set<String> {
    guard let type = try snapshot.reader.directory.number(ofTypeNamed: name, in: snapshot.reader)
    else { return [] }
    var nodes: [UInt64] = []
    var listed = try snapshot.reader.nodes(ofType: type)
    while let node = try listed.next(snapshot.reader) { nodes.append(node) }
    #expect(nodes == nodes.sorted())
    return try Set(nodes.map { try snapshot.reader.identifier(of: $0) })
  }

  @Test(.overBothBackings)
  func `a node is one row with all its records, and a tree's nodes have numbers in a row`()
    throws
  {
    let store = try ModelStore.forTest()
    let ada = Person(id: 1, name: "Ada")
    let bob = Person(id: 2, name: "Bob")
    try store.write { try $0.set(Message(id: 1, text: "Hello", author: ada, readers: [bob])) }
    try store.write { try $0.set(FullProfile(id: 1, name: "Ada", age: 36)) }
    try store.core.read { reader in
      let tables = reader.tables
      let counts = try [tables.nodes, tables.identifiers, tables.parents]
        .map { try reader.snapshot.count(of: $0) }
      #expect(counts == [3, 3, 2], "a row of nodes and of identifiers each, and one for each edge")
      let numbers = try ["Message:1", "Person:1", "Person:2"].map { try reader.node($0) }
      #expect(numbers == [1, 2, 3])
      let records = try numbers.map { try reader.nodeRow($0 ?? 0)?.recordCount }
      #expect(records == [1, 2, 1])
    }
  }

  @Test func `a store of an earlier format is refused and left as it is`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      try store.editRows { transaction, tables in
        var row = try transaction.value(StoreState.key, in: tables.meta)
        row[4] = 1
        try transaction.put(row, StoreState.key, in: tables.meta)
      }
      store.close()
      expectFailure(.unknownFormat, "has format version 1, this library reads version 2") {
        _ = try ModelStore(path: path, configuration: .forTests)
      }
    }
  }
}
