import PandoModels
import PandoReplication
import PandoStore
import Testing

/// Indexes of fields with former names, in stores that follow a log.
@Suite struct RenamedFieldTests {
  private struct Shelf: Model, Codable, Equatable {
    var id: Int
    var title: String
    var modelIdentifier: String? { "Shelf:\(id)" }
    static let formerFieldNames = ["title": ["name"]]
  }

  @Test func `an index of a renamed field has the same rows in each replica`() throws {
    try withReplicas(2) { replicas in
      let (first, second) = (replicas[0], replicas[1])
      try first.store.write { transaction in
        try transaction.set(
          TreeNode("Shelf:1", type: "Shelf", fields: ["id": .integer(1), "name": "a"]))
        try transaction.addIndex(on: ["title"], ofType: "Shelf", unique: true)
      }
      // The index counts the former name from here on.
      try first.store.write { try $0.set(Shelf(id: 2, title: "b")) }
      try second.replica.catchUp()
      #expect(try second.dump() == first.dump())
      #expect(try second.store.verify().problems == [])
      // The other store knows no such type, and keeps the values apart all the same.
      let error = #expect(throws: StoreError.self) {
        try second.store.write {
          try $0.set(TreeNode("Shelf:3", type: "Shelf", fields: ["id": .integer(3), "name": "b"]))
        }
      }
      #expect(error?.code == .valueTaken)
      try first.replica.catchUp()
      #expect(try first.store.verify().problems == [])
    }
  }

  @Test func `an index of words has the same rows in each replica`() throws {
    try withReplicas(2) { replicas in
      let (first, second) = (replicas[0], replicas[1])
      try first.store.write { transaction in
        try transaction.addIndex(on: ["words(title)"], ofType: "Shelf")
        try transaction.addIndex(on: ["folded(title)"], ofType: "Shelf")
        for id in 1...50 { try transaction.set(Shelf(id: id, title: "Red Chai \(id % 7)")) }
      }
      try second.replica.catchUp()
      try second.store.write { transaction in
        try transaction.deleteIfPresent("Shelf:7")
        try transaction.set(TreeNode("Shelf:8", type: "Shelf", fields: ["title": "Grün"]))
      }
      try first.replica.catchUp()
      for replica in replicas {
        #expect(
          try replica.store.read { try $0.indexes() }.map(\.field)
            == ["folded(title)", "words(title)"])
        #expect(try replica.store.verify().problems == [])
      }
      #expect(try second.dump() == first.dump())
    }
  }

  @Test func `an index with totals has the same totals in each replica`() throws {
    try withReplicas(2) { replicas in
      let (first, second) = (replicas[0], replicas[1])
      try first.store.write { transaction in
        try transaction.addIndex(on: ["title"], ofType: "Shelf", sums: ["id"])
        for id in 1...200 { try transaction.set(Shelf(id: id, title: "t\(id % 7)")) }
      }
      try second.replica.catchUp()
      try second.store.write { try $0.deleteIfPresent("Shelf:7") }
      try first.replica.catchUp()
      for replica in replicas {
        #expect(try replica.store.read { try $0.indexes() }.map(\.sums) == [["id"]])
        #expect(try replica.store.verify().problems == [])
      }
      #expect(try second.dump() == first.dump())
    }
  }
}
