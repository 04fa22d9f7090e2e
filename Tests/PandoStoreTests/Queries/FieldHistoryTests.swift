import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

/// Indexes, unique values and filters over records of before a field was renamed or came.
@Suite struct FieldHistoryTests {
  /// Runs a test on a store that a program of the first form has filled, in a program of its own.
  private static func afterFirst(
    indexes: [any Queryable.Type] = [],
    names: @escaping @Sendable (Int) -> String = { "name \($0)" },
    _ body: (ModelStore, String) throws -> Void
  ) throws {
    try withTemporaryDirectory { path in
      try program(path) { store in
        try store.addIndexes(of: indexes)
        try store.write { transaction in
          for id in 0..<200 { try transaction.set(First.book(id, names(id))) }
        }
      }
      try program(path) { try body($0, path) }
    }
  }

  /// Opens a store as a program does, and closes it.
  private static func program(_ path: String, _ body: (ModelStore) throws -> Void) throws {
    let store = try ModelStore(path: path)
    defer { store.close() }
    try body(store)
  }

  private static func expectSame(_ query: Query<GrownBook>, _ store: ModelStore) throws -> [Int] {
    let all = try store.read { snapshot in
      var all: [GrownBook] = []
      try snapshot.forEachModel(of: GrownBook.self) {
        all.append($0)
        return true
      }
      return all
    }
    let found = try store.read { try $0.find(query).entities }
    #expect(try found == query.apply(to: all).entities)
    return found.map(\.id)
  }

  @Test func `an index shows former names and defaults, and answers queries`() throws {
    try Self.afterFirst { store, path in
      try store.addIndexes(of: [GrownBook.self])
      func expectAnswers() throws {
        for (query, field) in [
          (Query(filter: \GrownBook.title == "name 77"), "title"),
          (Query(filter: \.language == "de"), "language"),
          (Query(filter: \.author.name == "writer 3"), "author.name"),
          (Query(filter: \.address.city == "town 1"), "address.city"),
          (Query(filter: .contains(\.labels, \.text, "l1")), "labels[].text"),
          (Query(filter: \.rank == 7, order: [.ascending(\.title)], limit: 4), "rank, title"),
        ] {
          _ = try Self.expectSame(query, store)
          let plan = try store.explain(query)
          #expect("\(plan.access)".contains(field) && plan.reason == nil, "\(plan)")
        }
        _ = try Self.expectSame(Query(filter: \.language == "en"), store)
        _ = try Self.expectSame(
          Query(order: [.ascending(\.language), .descending(\.title)], limit: 3), store)
        _ = try Self.expectSame(Query(filter: \.rank < 8, order: [.ascending(\.rank)]), store)
        #expect(try store.verify().problems == [])
      }
      try expectAnswers()
      try store.write { try $0.updateIfPresent(GrownBook.self, "Book:77") { $0.language = "de" } }
      try expectAnswers()
      // A record of the first form from a program that knows no type.
      let old: TreeValue = [
        "id": .integer(900), "name": .string("name 900"), "labels": .array([]),
        "writer": .reference(identifier: "Writer:1", typeName: "Writer"),
        "place": ["town": "town 1"],
      ]
      try store.write { try $0.set(TreeNode("Book:900", type: "Book", fields: old)) }
      #expect(try Self.expectSame(Query(filter: \.title == "name 900"), store) == [900])
      try expectAnswers()
      let counts = try store.answer(.count.grouped(by: \.language), to: Query<GrownBook>.all)
      #expect(counts == ["de": 1, "en": 200])
      #expect(try store.answer(.max(\.rank), to: Query<GrownBook>.all) == 7)
    }
  }

  @Test func `an index of a child's field follows a child of the former form`() throws {
    try Self.afterFirst { store, path in
      try store.addIndexes(of: [GrownBook.self])
      let query = Query(filter: \GrownBook.author.name == "Ada")
      #expect(try Self.expectSame(query, store) == [])
      let old: TreeValue = ["id": .integer(2), "full": "Ada"]
      try store.write { try $0.set(TreeNode("Writer:2", type: "Writer", fields: old)) }
      #expect(try Self.expectSame(query, store).count == 40)
      try store.write { try $0.set(GrownWriter(id: 3, name: "Ada")) }
      #expect(try Self.expectSame(query, store).count == 80)
      #expect(try store.verify().problems == [])
    }
  }

  @Test func `a unique field counts former names and defaults`() throws {
    try Self.afterFirst(names: { $0 == 9 ? "name 8" : "name \($0)" }) { store, path in
      let error = #expect(throws: StoreError.self) { try store.addIndexes(of: [UniqueBook.self]) }
      #expect(error?.code == .valueTaken)
      try store.write { try $0.deleteIfPresent("Book:9") }
      #expect(try store.addIndexes(of: [UniqueBook.self]) == 1)
      let taken = #expect(throws: StoreError.self) {
        try store.write { try $0.set(UniqueBook(id: 900, title: "name 8")) }
      }
      #expect(taken?.code == .valueTaken)
      let old = #expect(throws: StoreError.self) {
        try store.write {
          try $0.set(
            TreeNode("Book:900", type: "Book", fields: ["id": .integer(900), "name": "name 8"]))
        }
      }
      #expect(old?.code == .valueTaken)
      try store.write { try $0.set(UniqueBook(id: 8, title: "other")) }
      try store.write { try $0.set(UniqueBook(id: 900, title: "name 8")) }
      #expect(try store.verify().problems == [])
    }
  }

  @Test func `a unique index that was made by name counts them from the first write on`() throws {
    try Self.afterFirst { store, path in
      try store.write { try $0.addIndex(on: ["title"], ofType: "Book", unique: true) }
      try store.write { try $0.set(UniqueBook(id: 900, title: "new")) }
      let taken = #expect(throws: StoreError.self) {
        try store.write { try $0.set(UniqueBook(id: 901, title: "name 8")) }
      }
      #expect(taken?.code == .valueTaken)
      #expect(try store.verify().problems == [])
    }
  }

  @Test func `records that share a value as the type reads them do not stop its writes`() throws {
    try Self.afterFirst(names: { $0 == 9 ? "name 8" : "name \($0)" }) { store, path in
      try store.write { try $0.addIndex(on: ["title"], ofType: "Book", unique: true) }
      try store.write { try $0.set(UniqueBook(id: 9, title: "name 9")) }
      let error = try store.read { try $0.get("Book:9", as: UniqueBook.self)?.title }
      #expect(error == "name 9")
      try store.addIndexes(of: [UniqueBook.self])
      #expect(throws: StoreError.self) {
        try store.write { try $0.set(UniqueBook(id: 901, title: "name 8")) }
      }
    }
  }

  @Test func `explain says why an index can't be used`() throws {
    try Self.afterFirst(indexes: [First.Book.self]) { store, path in
      // By a program that does not know the type.
      try store.write { try $0.addIndex(on: "language", ofType: "Book") }
      let query = Query(filter: \GrownBook.title == "name 7")
      #expect(
        try store.explain(query).reason
          == "the store lacks the index on title that Book declares; addIndexes(of:) makes it")
      let byLanguage = Query(filter: \GrownBook.language == "en")
      #expect(
        try store.explain(byLanguage).description
          == "Book: scan (200 in all); the index on language was made for other former names or "
          + "defaults of language than Book declares; addIndexes(of:) makes it anew")
      #expect(try Self.expectSame(byLanguage, store).count == 200)
      try store.addIndexes(of: [GrownBook.self])
      #expect(try store.explain(query).reason == nil)
      #expect(try store.explain(byLanguage).reason == nil)
    }
  }

  @Test
  func `indexes that a type no longer declares are marked, and dropped where that is asked for`()
    throws
  {
    try Self.afterFirst(indexes: [First.Book.self]) { store, path in
      func undeclared() throws -> [String] {
        try store.read { try $0.indexes() }.filter(\.isUndeclared).map(\.field)
      }
      #expect(try undeclared() == [])
      try store.addIndexes(of: [UniqueBook.self])
      #expect(try undeclared() == ["name"])
      #expect(try store.addIndexes(of: [UniqueBook.self], droppingUndeclared: true) == 0)
      #expect(try store.read { try $0.indexes() }.map(\.field) == ["title"])
      #expect(try store.verify().problems == [])
    }
  }

  @Test func `a program of the first form leaves rows of the second form alone`() throws {
    try Self.afterFirst(indexes: [First.Book.self]) { store, path in
      try store.addIndexes(of: [GrownBook.self])
      store.close()
      try Self.program(path) { (store) throws in
        try store.addIndexes(of: [First.Book.self])
        try store.write { try $0.set(First.book(7, "changed")) }
        #expect(try store.verify().problems == [])
      }
      try Self.program(path) { (store) throws in
        let query = Query(filter: \GrownBook.title == "changed")
        #expect(try Self.expectSame(query, store) == [7])
        #expect(try store.explain(query).access != .scan)
        #expect(try store.addIndexes(of: [GrownBook.self]) == 0)
      }
    }
  }

  @Test func `a changed default makes the rows anew`() throws {
    try Self.afterFirst { store, path in
      try store.addIndexes(of: [GrownBook.self])
      let count = try store.read { try $0.indexes().count }
      #expect(try store.addIndexes(of: [GrownBook.self]) == 0)
      store.close()
      try Self.program(path) { (store) throws in
        #expect(try store.addIndexes(of: [GermanBook.self]) == 1)
        let german = Query(filter: \GermanBook.language == "de")
        #expect(try store.read { try $0.find(german).entities.count } == 200)
        #expect(try store.explain(german).reason == nil)
        #expect(try store.read { try $0.indexes().count } == count)
        #expect(try store.verify().problems == [])
      }
      // The other type still finds what it reads.
      try Self.program(path) { (store) throws in
        #expect(try Self.expectSame(Query(filter: \.language == "en"), store).count == 200)
      }
    }
  }

  @Test func `a dump keeps what the rows were made for`() throws {
    try Self.afterFirst { store, path in
      try store.addIndexes(of: [GrownBook.self])
      let lines = Locked<[String]>([])
      try store.dump { line in lines.withLock { $0.append(line) } }
      let copy = try ModelStore.temporary()
      defer { copy.close() }
      lines.withLock { $0.reverse() }
      try copy.load { lines.withLock { $0.popLast() } }
      #expect(try copy.addIndexes(of: [GrownBook.self]) == 0)
      #expect(try copy.verify().problems == [])
      #expect(try Self.expectSame(Query(filter: \.title == "name 7"), copy) == [7])
    }
  }

  @Test func `a projection's value flows into a field that a record has under its former name`()
    throws
  {
    try Self.afterFirst { store, path in
      try store.addIndexes(of: [GrownBook.self])
      try store.write { try $0.set(Cover(id: 7, title: "new", language: "de")) }
      let book = try store.read { try $0.get("Book:7", as: GrownBook.self) }
      #expect(book?.title == "new" && book?.language == "de" && book?.address.city == "town 7")
      #expect(try Self.expectSame(Query(filter: \.title == "new"), store) == [7])
      #expect(try store.verify().problems == [])
    }
  }

  @Test func `a deletion rule holds for the former name of its field`() throws {
    try Self.afterFirst { store, path in
      try store.write { try $0.set(RuledBook(id: 900, author: GrownWriter(id: 9, name: "n"))) }
      let error = #expect(throws: StoreError.self) {
        try store.write { try $0.deleteIfPresent("Writer:1") }
      }
      #expect(error?.code == .restricted)
    }
  }
}

/// The types as the first version of a program had them.
private enum First {
  struct Writer: Model, Codable, Equatable {
    var id: Int
    var full: String
    var modelIdentifier: String? { "Writer:\(id)" }
    static let modelTypeName = "Writer"
  }
  struct Place: Codable, Equatable { var town: String }
  struct Label: Codable, Equatable { var tag: String }
  struct Book: Queryable {
    var id: Int
    var name: String
    var writer: Writer
    var place: Place
    var labels: [Label]
    var modelIdentifier: String? { "Book:\(id)" }
    static let modelTypeName = "Book"
    static let fields: [Field<First.Book>] = [.indexed(\.name)]
  }

  static func book(_ id: Int, _ name: String) -> First.Book {
    First.Book(
      id: id, name: name, writer: Writer(id: id % 5, full: "writer \(id % 5)"),
      place: Place(town: "town \(id % 20)"), labels: [Label(tag: "l\(id % 20)")])
  }
}

private struct GrownWriter: Model, Codable, Equatable {
  static let modelTypeName = "Writer"
  var id: Int
  var name: String
  var modelIdentifier: String? { "Writer:\(id)" }
  static let formerFieldNames = ["name": ["full"]]
}

private struct GrownPlace: Codable, Equatable, FieldHistory {
  var city: String
  static let formerFieldNames = ["city": ["town"]]
}

private struct GrownLabel: Codable, Equatable, FieldHistory {
  var text: String
  static let formerFieldNames = ["text": ["tag"]]
}

private struct GrownBook: Queryable {
  static let modelTypeName = "Book"
  var id: Int
  var title: String
  var language: String
  var rank: Double
  var author: GrownWriter
  var address: GrownPlace
  var labels: [GrownLabel]
  var modelIdentifier: String? { "Book:\(id)" }
  static let formerFieldNames = [
    "title": ["caption", "name"], "author": ["writer"], "address": ["place"],
  ]
  static let fieldDefaults: [String: any Encodable & Sendable] = ["language": "en", "rank": 7]
  static let fields: [Field<GrownBook>] = [
    .indexed(\.title), .indexed(\.language), .field(\.rank), .indexed(\.author.name),
    .indexed(\.address.city), .indexed(.each(\.labels, \.text)),
  ]
  static let indexes: [FieldIndex<GrownBook>] = [.indexed(\.rank, \.title)]
}

/// A book as a shop window shows it.
private struct Cover: Model, Codable, Equatable {
  var id: Int
  var title: String
  var language: String
  var modelIdentifier: String? { "Book:\(id)" }
}

private struct GermanBook: Queryable {
  var id: Int
  var title: String
  var language: String
  var modelIdentifier: String? { "Book:\(id)" }
  static let modelTypeName = "Book"
  static let formerFieldNames = ["title": ["caption", "name"]]
  static let fieldDefaults: [String: any Encodable & Sendable] = ["language": "de"]
  static let fields: [Field<GermanBook>] = [.indexed(\.title), .indexed(\.language)]
}

private struct UniqueBook: Queryable {
  var id: Int
  var title: String
  var modelIdentifier: String? { "Book:\(id)" }
  static let modelTypeName = "Book"
  static let formerFieldNames = ["title": ["name"]]
  static let fields: [Field<UniqueBook>] = [.field(\.title)]
  static let indexes: [FieldIndex<UniqueBook>] = [.unique(\.title)]
}

private struct RuledBook: Model, Codable, Equatable, DeletionRuled {
  var id: Int
  var author: GrownWriter
  var modelIdentifier: String? { "Book:\(id)" }
  static let modelTypeName = "Book"
  static let formerFieldNames = ["author": ["writer"]]
  static let deletionRules: [DeletionRule] = [.restrict("author")]
}
