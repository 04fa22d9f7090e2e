import Foundation
import PandoManagers
import PandoModels
import PandoStore
import Testing

@testable import PandoManagersFixtures

@Suite struct FilterTests {
  private static let books: [Book] = [
    Book(id: .remote("1"), title: "The first", year: 1980, price: 1, genre: .novel),
    Book(id: .remote("2"), title: "the second", year: 1990, price: 2.5, genre: .poetry),
    Book(id: .local("3"), title: "A third", year: nil, price: .nan, genre: .science),
    Book(id: .remote("4"), title: "The last", year: 2000, price: -1, isLent: true),
  ]

  private func numbers(_ filter: Filter<Book>) throws -> [Int] {
    let found = try Query(filter: filter).apply(to: Self.books).entities
    return Self.books.indices.filter { place in found.contains { $0.id == Self.books[place].id } }
      .map { $0 + 1 }
  }

  @Test func `every operator says what it says`() throws {
    #expect(try numbers(.all) == [1, 2, 3, 4])
    #expect(try numbers(\.year == 1990) == [2])
    #expect(try numbers(\.year != 1990) == [1, 3, 4])
    #expect(try numbers(\.year == nil) == [3])
    #expect(try numbers(\.year != nil) == [1, 2, 4])
    #expect(try numbers(\.year < 1990) == [1], "null is no number")
    #expect(try numbers(\.year <= 1990) == [1, 2])
    #expect(try numbers(\.year > 1990) == [4])
    #expect(try numbers(\.year >= 1990) == [2, 4])
    #expect(try numbers(\.price < 2) == [1, 4], "not-a-number is no number")
    #expect(try numbers(\.price == .nan) == [3])
    #expect(try numbers(\.genre == .poetry) == [2])
    #expect(try numbers(\.isLent == true) == [4])
    #expect(try numbers(\.title ~= "^The") == [1, 4])
    #expect(try numbers(\.title ~= "(?i)^the") == [1, 2, 4])
    #expect(try numbers(\.title ~= "ir") == [1, 3])
    #expect(try numbers(.hasPrefix(\.title, "The ")) == [1, 4])
    #expect(try numbers(\.year >> [1980, 2000, 7]) == [1, 4])
    #expect(try numbers(.isIn(\.year, [1980, 2000, 7])) == [1, 4])
    #expect(try numbers(.matches(\.title, "(?i)^the")) == [1, 2, 4])
    #expect(try numbers(\.id >> [.remote("2"), .local("3"), .local("1")]) == [2, 3])
    #expect(try numbers(\.id == .local("3")) == [3])
    #expect(try numbers(.ids([])) == [])
    #expect(try numbers(\.summary == .requested("x")) == [])
    #expect(try numbers(\.summary == .unrequested) == [1, 2, 3, 4])
  }

  @Test func `operators are combined freely`() throws {
    #expect(try numbers(\.year > 1980 && \.title ~= "^The") == [4])
    #expect(try numbers(\.year > 1980 || \.title ~= "^The") == [1, 2, 4])
    #expect(try numbers(!(\.year > 1980)) == [1, 3])
    #expect(try numbers(!(!(\.year > 1980))) == [2, 4])
    #expect(
      try numbers(
        (\.year > 1980 || \.genre == .science) && !(\.id >> [.remote("2")]) && \.price != 7)
        == [3, 4])
    #expect(
      try numbers(\.year == 1980 || \.year == 1990 || \.year == 2000 && \.isLent == false)
        == [1, 2])
    #expect(try numbers(.all && \.year == 1980) == [1])
    #expect(try numbers(.all || \.year == 1980) == [1, 2, 3, 4])
    #expect(try numbers(!(.all as Filter<Book>)) == [])
    // Fields that are not declared are looked at in the entity.
    #expect(try numbers(\.title.count == 9) == [1])
    let and: Filter<Book> = \.year > 1 && \.year > 2 && \.year > 3
    #expect(and == (\.year > 1 && (\.year > 2 && \.year > 3)))
    #expect(and.hashValue == (\Book.year > 1 && (\Book.year > 2 && \Book.year > 3)).hashValue)
    #expect(and != (\.year > 1 && \.year > 2))
  }

  @Test func `filters by name are those by key path`() throws {
    #expect(try Filter<Book>(field: "year", .greater, .integer(1990)) == (\Book.year > 1990))
    #expect(try Filter<Book>(field: "title", matches: "^x") == (\Book.title ~= "^x"))
    #expect(try Filter<Book>(field: "title", hasPrefix: "x") == .hasPrefix(\.title, "x"))
    #expect(try Filter<Book>(field: "year", in: [.integer(3), .null]) == \Book.year >> [3, nil])
    #expect(try Filter<Book>(field: "id", .equal, .string("2")) == (\Book.id == .remote("2")))
    #expect(try Filter<Book>(field: "year", .equal, .null) == (\Book.year == nil))
    #expect(try QueryOrder<Book>(field: "year", isDescending: true) == .descending(\.year))
  }

  private func expectMistake(
    _ code: QueryError.Code, _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
  ) {
    do {
      try body()
      Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    } catch let error as QueryError {
      #expect(error.code == code, sourceLocation: sourceLocation)
      #expect(error.description == text, sourceLocation: sourceLocation)
    } catch {
      Issue.record("\(error)", sourceLocation: sourceLocation)
    }
  }

  @Test func `mistakes in a query are clear errors`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    func run(_ query: Query<Book>) throws { _ = try query.apply(to: Self.books) }
    func runStored(_ query: Query<Book>) throws {
      _ = try store.read { try $0.find(query) }
    }
    for run in [run, runStored] {
      expectMistake(.negativeLimit, "Book: a query can't have the limit -1") {
        try run(Query(limit: -1))
      }
      expectMistake(.negativeOffset, "Book: a query can't have the offset -5") {
        try run(Query(offset: -5))
      }
      expectMistake(.invalidRegularExpression, "title: \"(\" is no regular expression") {
        try run(Query(filter: \.year == 1 && !(\.title ~= "(")))
      }
      expectMistake(
        .wrongType,
        "year: only texts match patterns and prefixes, and this field of Book holds numbers"
      ) { try run(Query(filter: \.year ~= "19")) }
    }
    expectMistake(
      .unknownField,
      "yaer: Book declares no such field; it has id, added, author, genre, isLent, price, shelf, "
        + "summary, title, year"
    ) { _ = try Filter<Book>(field: "yaer", .equal, .integer(1)) }
    expectMistake(.unknownField, "name: Author declares no such field; it has id") {
      _ = try QueryOrder<Author>(field: "name")
    }
    expectMistake(.wrongType, "year: this field of Book holds numbers and is never \"1990\"") {
      _ = try Filter<Book>(field: "year", .equal, .string("1990"))
    }
    expectMistake(.wrongType, "isLent: this field of Book holds truth values and is never 1") {
      _ = try Filter<Book>(field: "isLent", in: [.bool(true), .integer(1)])
    }
    expectMistake(.invalidRegularExpression, "title: \"[\" is no regular expression") {
      _ = try Filter<Book>(field: "title", matches: "[")
    }
  }
}

@Suite struct QueryTests {
  private static func book(_ id: String, _ title: String, _ year: Int?) -> Book {
    Book(id: .remote(id), title: title, year: year)
  }

  private static let books = [
    book("1", "b", 2000), book("2", "a", 1990), book("3", "b", 1990), book("4", "c", nil),
    book("5", "a", 2000),
  ]

  private func ids(_ query: Query<Book>) throws -> String {
    try query.apply(to: Self.books).entities.map(\.id.text).joined()
  }

  @Test func `order by several keys keeps what is equal in natural order`() throws {
    #expect(try ids(.all) == "12345")
    #expect(try ids(Query(order: [.ascending(\.title)])) == "25134")
    #expect(try ids(Query(order: [.descending(\.title)])) == "41325")
    #expect(try ids(Query(order: [.ascending(\.year)])) == "42315", "null comes first")
    #expect(try ids(Query(order: [.descending(\.year), .ascending(\.title)])) == "51234")
    #expect(try ids(Query(order: [.natural, .ascending(\.title)])) == "12345")
    #expect(try ids(Query(order: [.descending(\.year), .natural])) == "15234")
    #expect(try ids(Query(order: [.identifiers([.remote("4"), .remote("2")])])) == "42135")
    #expect(try ids(Query(ids: [.remote("5"), .remote("9"), .remote("1")])) == "51")
  }

  @Test func `offset and limit cut out a window after the order`() throws {
    #expect(try ids(Query(order: [.ascending(\.title)], offset: 1, limit: 2)) == "51")
    #expect(try ids(Query(offset: 3)) == "45")
    #expect(try ids(Query(offset: 9, limit: 2)) == "")
    #expect(try ids(Query(limit: 0)) == "")
    #expect(try ids(Query(offset: .max, limit: .max)) == "")
  }

  @Test func `uniqueness keeps the first of each value, and those that are alone`() throws {
    #expect(try ids(Query(uniqueBy: [.field(\.title)])) == "124")
    #expect(try ids(Query(order: [.descending(\.title)], uniqueBy: [.field(\.title)])) == "412")
    #expect(try ids(Query(uniqueBy: [.field(\.title), .field(\.year)])) == "12345")
    #expect(try ids(Query(uniqueBy: [.field(\.year)], limit: 2)) == "12")
  }

  @Test func `groups come in the order in which their values first occur`() throws {
    let result = try Query<Book>(
      order: [.ascending(\.title)], groupedBy: .field(\.year), limit: 4
    ).apply(to: Self.books)
    #expect(result.groups.map(\.value) == [.integer(1990), .integer(2000)])
    #expect(result.groups.map { $0.entities.map(\.id.text).joined() } == ["23", "51"])
    #expect(result.count == 4)
    #expect(result.first?.id == .remote("2"))
    let ungrouped = try Query<Book>(limit: 2).apply(to: Self.books)
    #expect(ungrouped.groups.map(\.entities.count) == [2])
    #expect(try Query<Book>(limit: 0).apply(to: Self.books).groups.isEmpty)
    #expect(QueryResult<Book>.empty.isEmpty)
  }

  @Test func `a query by identifiers says which`() {
    let ids: [EntityIdentifier<Book>] = [.remote("5"), .local("x"), .remote("1")]
    #expect(Query(ids: ids).identifiers == ids)
    #expect(Query(filter: \Book.id == .remote("5")).identifiers == [.remote("5")])
    #expect(Query(filter: \Book.year == 5).identifiers == nil)
    #expect(Query<Book>.all.identifiers == nil)
    #expect(Query(filter: \Author.id >> [.remote(3), .local("3")]).identifiers?.count == 2)
    #expect(Query(ids: ids).isUnbounded && !Query<Book>(limit: 1).isUnbounded)
    #expect(Query(ids: ids).filter == \Book.id >> ids, "the same however it is written")
  }
}

/// An entity that names others of its own type.
private struct Branch: PersistentEntity {
  var id: EntityIdentifier<Branch>
  var parent: EntityIdentifier<Branch>
  static let fields: [Field<Branch>] = [.indexed(\.parent, "parent"), .field(\.id, "id")]
}

@Suite struct OwnIdentifierTests {
  @Test func `an identifier of the same type is a field and not the entity's own`() throws {
    #expect(Query(filter: \Branch.parent == .remote("1")).identifiers == nil)
    #expect(Query(filter: \Branch.id == .remote("1")).identifiers == [.remote("1")])
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.addIndexes(of: [Branch.self])
    try store.write { transaction in
      for number in 0..<9 {
        try transaction.set(
          Branch(id: .remote("\(number)"), parent: .remote("\(number / 3)")))
      }
    }
    func ids(_ query: Query<Branch>) throws -> String {
      try store.read { try $0.find(query).entities.map(\.id.text).joined() }
    }
    #expect(try ids(Query(filter: \.parent == .remote("1"))) == "345")
    #expect(try ids(Query(filter: \.id == .remote("1"))) == "1")
    #expect(try ids(Query(filter: \.id == .remote("1"), limit: 0)) == "")
    #expect(try ids(Query(filter: \.id > .remote("4") && \.parent >= .remote("2"))) == "678")
    #expect(try ids(Query(order: [.descending(\.id)], limit: 2)) == "87")
    #expect(
      try store.explain(Query(filter: \Branch.parent == .remote("1"))).access
        == .index(field: "parent", rangeCount: 1, isOrdered: false))
  }
}

/// Entities that were stored before their type changed.
@Suite struct ChangedEntityTests {
  /// A shelf as it was stored long ago: `rows` was a text, `room` had another name.
  private static func old(_ id: Int, rows: TreeValue, room: String?) -> TreeNode {
    var fields: [String: TreeValue] = ["id": .integer(Int64(id)), "rows": rows]
    fields["hall"] = room.map { .string($0) }
    return TreeNode("Shelf:\(id)", type: "Shelf", fields: .object(fields))
  }

  private struct Shelf: PersistentEntity, SchemaVersioned {
    typealias RemoteID = Int
    var id: EntityIdentifier<Shelf>
    var rows: Int
    var room: String
    var colour: String
    var note: String?

    static let fields: [Field<Shelf>] = [
      .indexed(\.rows, "rows"), .indexed(\.room, "room"), .indexed(\.colour, "colour"),
      .indexed(\.note, "note"),
    ]
    static let fieldDefaults: [String: any Encodable & Sendable] = ["colour": "white"]
    static let formerFieldNames = ["room": ["hall"]]
  }

  @Test(arguments: [false, true])
  func `new, renamed and defaulted fields are found by what they read as`(
    withIndexes: Bool
  ) throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.write { transaction in
      for id in 0..<200 {
        try transaction.set(Self.old(id, rows: .integer(Int64(id)), room: "hall \(id % 50)"))
      }
      try transaction.set(Shelf(id: .remote(900), rows: 1, room: "hall 7", colour: "red"))
      try transaction.set(Shelf(id: .remote(901), rows: 1, room: "r", colour: "white", note: "n"))
    }
    if withIndexes { try store.addIndexes(of: [Shelf.self]) }
    func ids(_ query: Query<Shelf>) throws -> [Int] {
      let all = try store.read { snapshot in
        var all: [Shelf] = []
        try snapshot.forEachModel(of: Shelf.self) {
          all.append($0)
          return true
        }
        return all
      }
      let found = try store.read { try $0.find(query).entities }
      #expect(try found == query.apply(to: all).entities)
      return found.compactMap(\.id.remoteID)
    }
    #expect(try ids(Query(filter: \.room == "hall 7")) == [7, 57, 107, 157, 900])
    #expect(try ids(Query(filter: \.colour == "white")).count == 201)
    #expect(try ids(Query(filter: \.colour == "red")) == [900])
    #expect(try ids(Query(filter: \.note == "n")) == [901])
    #expect(try ids(Query(filter: \.rows == 1)) == [1, 900, 901])
    #expect(
      try ids(Query(order: [.ascending(\.colour), .descending(\.room)], limit: 2)).first == 900)
    #expect(try ids(Query(order: [.descending(\.room)], limit: 1)) == [901])
  }

  @Test(arguments: [false, true])
  func `an entity that does not decode any more is an error that names it, where it is asked for`(
    withIndexes: Bool
  ) throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.write { transaction in
      try transaction.set(Self.old(1, rows: "many", room: "a"))
      try transaction.set(Self.old(2, rows: 3, room: "b"))
    }
    if withIndexes { try store.addIndexes(of: [Shelf.self]) }
    let found = try store.read { try $0.find(Query(filter: \Shelf.rows == 3)) }
    #expect(found.entities.map(\.id) == [.remote(2)])
    do {
      _ = try store.read { try $0.find(Query<Shelf>.all) }
      Issue.record("nothing was thrown")
    } catch let error as ModelError {
      #expect(error.identifier == "Shelf:1")
      #expect(error.typeName == "Shelf")
      #expect(error.field == "rows")
    }
    #expect(try store.verify().problems == [], "nothing is lost")
  }
}
