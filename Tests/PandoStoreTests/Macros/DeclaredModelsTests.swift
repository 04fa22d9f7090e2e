import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import PandoStore
import PandoSystem
import Testing

@Model private struct Maker {
  @Key var id: Int
}

@Model private struct Item: SchemaVersioned {
  @Key var id: Int
  @Indexed var name: String
  @Unique var code: String
  @Restrict var maker: Maker?
  static let schemaVersion = 3
}

/// Declarations of types are in force once the types are given at the opening.
@Suite struct DeclaredModelsTests {
  @Test func `indexes, uniqueness, rules and versions are in force from the opening on`() throws {
    try withTemporaryDirectory { path in
      try ModelStore(path: path, models: [Item.self]).close()
      // Another opening, which was not given the type, writes an untyped tree.
      let store = try ModelStore(path: path)
      defer { store.close() }
      #expect(try store.read { try $0.indexes(ofType: "Item").count } == 2)
      #expect(try store.read { try $0.deletionRules(ofType: "Item") } == [.restrict("maker")])
      let fields: TreeValue = [
        "id": 1, "name": "a", "code": "c",
        "maker": .node(TreeNode("Maker:1", type: "Maker", fields: ["id": 1])),
      ]
      try store.write { try $0.set(TreeNode("Item:1", type: "Item", fields: fields)) }
      let taken = #expect(throws: StoreError.self) {
        try store.write { try $0.set(TreeNode("Item:2", type: "Item", fields: fields)) }
      }
      #expect(taken?.code == .valueTaken)
      let restricted = #expect(throws: StoreError.self) {
        try store.write { try $0.delete(Maker.key(1)) }
      }
      #expect(restricted?.code == .restricted)
    }
  }

  @Test func `a second opening changes nothing`() throws {
    try withTemporaryDirectory { path in
      let first = try ModelStore(path: path, models: [Item.self, Maker.self])
      try first.write { try $0.insert(Item(id: 1, name: "a", code: "c")) }
      let number = try first.read { try $0.commitNumber }
      let writes = first.counters.flushes
      first.close()
      #expect(writes > 1)
      let second = try ModelStore(path: path, models: [Item.self, Maker.self])
      defer { second.close() }
      #expect(try second.read { try $0.commitNumber } == number)
      #expect(second.counters.flushes == 0)
    }
  }

  @Test func `a store in memory and a read-only one take models too`() throws {
    let memory = try ModelStore.inMemory(models: [Item.self])
    #expect(try memory.read { try $0.indexes(ofType: "Item").count } == 2)
    try withTemporaryDirectory { path in
      try ModelStore(path: path).close()
      var configuration = ModelStore.Configuration()
      configuration.isReadOnly = true
      let store = try ModelStore(path: path, models: [Item.self], configuration: configuration)
      defer { store.close() }
      #expect(try store.read { try $0.indexes(ofType: "Item").isEmpty })
    }
  }

  @Test func `stored models that break a uniqueness fail the opening`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path)
      try store.write { transaction in
        for id in 1...2 { try transaction.set(Item(id: id, name: "a", code: "c")) }
      }
      store.close()
      let error = #expect(throws: StoreError.self) {
        try ModelStore(path: path, models: [Item.self])
      }
      #expect(error?.code == .valueTaken)
      // Nothing holds the folder.
      try ModelStore(path: path).close()
    }
  }

  @Test func `a type that the store was not given is reported once`() throws {
    let events = Locked<[String]>([])
    var configuration = ModelStore.Configuration()
    configuration.events = { event in
      if case .missingIndexes(let name, let fields) = event {
        events.withLock { $0.append("\(name): \(fields.joined(separator: "; "))") }
      }
    }
    let store = try ModelStore.inMemory(configuration: configuration)
    for id in 1...2 { try store.write { try $0.set(Item(id: id, name: "a", code: "\(id)")) } }
    #expect(events.withLock { $0 } == ["Item: name; code"])
    let given = try ModelStore.inMemory(models: [Item.self], configuration: configuration)
    try given.write { try $0.set(Item(id: 1, name: "a", code: "c")) }
    #expect(events.withLock { $0.count } == 1)
  }
}
