import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

/// Writes of a type of which a newer program has written records.
@Suite struct SchemaGuardTests {
  private static let migration = Migration(typeName: "Book", version: 2) { $0["isbn"] = "978-0" }

  /// Opens a store as a program does, and closes it.
  private func program(
    _ path: String, _ change: (inout ModelStore.Configuration) -> Void = { _ in },
    _ body: (ModelStore) throws -> Void
  ) throws {
    var configuration = ModelStore.Configuration.forTests
    change(&configuration)
    let store = try ModelStore(path: path, configuration: configuration)
    defer { store.close() }
    try body(store)
  }

  /// Runs a test on a store with a book of version 1 that a newer program has migrated.
  private func afterMigration(_ body: (String) throws -> Void) throws {
    try withTemporaryDirectory { (path: String) throws in
      try program(path) { (store: ModelStore) throws in
        try store.write { try $0.set(First.Book(id: 1, title: "a")) }
      }
      try program(path, { $0.migrations = [Self.migration] }) { (store: ModelStore) throws in
        let book = try store.read { try $0.get("Book:1", as: Second.Book.self) }
        #expect(book == Second.Book(id: 1, title: "a", isbn: "978-0"))
        try store.write { try $0.set(Second.Book(id: 2, title: "b", isbn: "1")) }
      }
      try body(path)
    }
  }

  @Test func `an older program's writes of the type are refused, whatever brings it`() throws {
    try afterMigration { (path: String) throws in
      try program(path) { (store: ModelStore) throws in
        let before = try dump(store)
        let book = First.Book(id: 1, title: "c")
        func expectRefusal(_ write: @escaping @Sendable (inout ModelTransaction) throws -> Void) {
          expectFailure(
            .newerSchema, "Book: the store has schema version 2, and this program has 1"
          ) {
            try store.write(write)
          }
        }
        expectRefusal { try $0.set(book) }
        expectRefusal { try $0.set(First.Book(id: 9, title: "new")) }
        expectRefusal { try $0.setRoot(book) }
        expectRefusal { try $0.set(book, replacing: First.Book(id: 1, title: "a")) }
        expectRefusal { try $0.updateIfPresent(First.Book.self, "Book:1") { $0.title = "c" } }
        expectRefusal { try $0.set(First.Shelf(id: 1, books: [book])) }
        expectRefusal { try $0.setRoot(First.Shelf(id: 1, books: [book])) }
        expectRefusal { try $0.setCollection("books", to: [book]) }
        expectRefusal { try $0.append([First.Shelf(id: 1, books: [book])], toCollection: "s") }
        #expect(try dump(store) == before)
        // A write that goes on without it keeps the rest.
        try store.write { transaction in
          do {
            try transaction.set(book)
          } catch let error as StoreError {
            #expect(error.code == .newerSchema)
          }
          try transaction.set(First.Shelf(id: 2, books: []))
        }
        #expect(try store.read { try $0.get("Shelf:2", as: First.Shelf.self) } != nil)
        #expect(try store.read { try $0.get("Book:1", as: First.Book.self)?.title } == "a")
        try store.write { _ = try $0.deleteIfPresent("Book:2") }
        #expect(try store.verify().problems == [])
      }
      try program(path, { $0.migrations = [Self.migration] }) { (store: ModelStore) throws in
        try store.write {
          _ = try $0.updateIfPresent(Second.Book.self, "Book:1") { $0.title = "d" }
        }
        #expect(try store.read { try $0.get("Book:1", as: Second.Book.self)?.isbn } == "978-0")
      }
    }
  }

  @Test func `a newer program without a migration leaves its version with its first write`() throws
  {
    try withTemporaryDirectory { (path: String) throws in
      try program(path) { (store: ModelStore) throws in
        try store.write { try $0.set(First.Book(id: 1, title: "a")) }
      }
      try program(path) { (store: ModelStore) throws in
        _ = try store.read { try $0.get("Book:1", as: Second.Book.self) }
      }
      // It has only read.
      try program(path) { (store: ModelStore) throws in
        try store.write { try $0.set(First.Book(id: 1, title: "b")) }
      }
      try program(path) { (store: ModelStore) throws in
        try store.write { try $0.set(Second.Book(id: 2, title: "a", isbn: "1")) }
      }
      var lines: [String] = []
      try program(path) { (store: ModelStore) throws in
        expectFailure(.newerSchema, "Book") {
          try store.write { try $0.set(First.Book(id: 1, title: "c")) }
        }
        lines = try dump(store)
      }
      // The migration still comes.
      try program(path, { $0.migrations = [Self.migration] }) { (store: ModelStore) throws in
        #expect(try store.read { try $0.get("Book:1", as: Second.Book.self)?.isbn } == "978-0")
      }
      try withTemporaryDirectory { (copy: String) throws in
        try program(copy) { (store: ModelStore) throws in
          let rest = Locked(Array(lines.reversed()))
          try store.load { rest.withLock { $0.popLast() } }
          expectFailure(.newerSchema, "Book") {
            try store.write { try $0.set(First.Book(id: 1, title: "c")) }
          }
        }
      }
    }
  }

  @Test func `a type without a version has that of its newest migration`() throws {
    try withTemporaryDirectory { (path: String) throws in
      try program(path, { $0.migrations = [Self.migration] }) { (store: ModelStore) throws in
        try store.write { try $0.set(First.Book(id: 1, title: "a")) }
      }
      try program(path, { $0.migrations = [Self.migration] }) { (store: ModelStore) throws in
        try store.write { try $0.set(First.Book(id: 2, title: "a")) }
      }
      try program(path) { (store: ModelStore) throws in
        expectFailure(.newerSchema, "Book") {
          try store.write { try $0.set(First.Book(id: 3, title: "a")) }
        }
        // A tool names no version.
        try store.write {
          try $0.set(TreeNode("Book:3", type: "Book", fields: ["id": .integer(3), "title": "t"]))
        }
      }
    }
  }

  @Test func `a program may be allowed to write, with an event or without`() throws {
    try afterMigration { (path: String) throws in
      for policy in [ModelStore.Configuration.NewerSchemas.event, .allow] {
        let events = Locked<[String]>([])
        let configure: (inout ModelStore.Configuration) -> Void = {
          $0.newerSchemas = policy
          $0.events = { event in
            guard case .newerSchema(let name, let stored, let own) = event else { return }
            events.withLock { $0.append("\(name) \(stored) \(own)") }
          }
        }
        try program(path, configure) { (store: ModelStore) throws in
          try store.write { transaction in
            for id in 1...3 { try transaction.set(First.Book(id: id, title: "\(policy)")) }
          }
          #expect(
            try store.read { try $0.get("Book:1", as: First.Book.self)?.title } == "\(policy)")
        }
        #expect(events.withLock { $0 } == (policy == .event ? ["Book 2 1"] : []))
      }
      // The store still has the newer version.
      try program(path) { (store: ModelStore) throws in
        expectFailure(.newerSchema, "Book") {
          try store.write { try $0.set(First.Book(id: 1, title: "c")) }
        }
      }
    }
  }

  private func dump(_ store: ModelStore) throws -> [String] {
    let lines = Locked<[String]>([])
    try store.dump { line in lines.withLock { $0.append(line) } }
    return lines.withLock { $0 }
  }
}

/// The types as the first version of a program had them.
private enum First {
  struct Book: Model, Codable, Equatable {
    var id: Int
    var title: String
    var modelIdentifier: String? { "Book:\(id)" }
    static let modelTypeName = "Book"
  }
  struct Shelf: Model, Codable, Equatable {
    var id: Int
    var books: [Book]
    var modelIdentifier: String? { "Shelf:\(id)" }
    static let modelTypeName = "Shelf"
  }
}

private enum Second {
  struct Book: Model, Codable, Equatable, SchemaVersioned {
    var id: Int
    var title: String
    var isbn: String?
    var modelIdentifier: String? { "Book:\(id)" }
    static let modelTypeName = "Book"
    static let schemaVersion = 2
  }
}
