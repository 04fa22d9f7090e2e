import Foundation
import PandoManagers
import PandoModels
import PandoStore
import Testing

@testable import PandoManagersFixtures

@Suite struct EntityTests {
  @Test func `an entity names its node by its type and its key`() {
    #expect(Book(id: .remote("7")).modelIdentifier == "Book:7")
    #expect(Book(id: .local("x")).modelIdentifier == "Book:local:x")
    #expect(Author(id: .remote(12), name: "A").modelIdentifier == "Author:12")
  }

  @Test func `an entity is a model that a store keeps and gives back`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    var book = Book(id: .remote("7"), title: "Pando", year: 1968)
    book.author = .local("a")
    book.shelf = UUID()
    book.genre = .science
    let stored = book
    try store.write { try $0.set(stored) }
    #expect(try store.read { try $0.get("Book:7", as: Book.self) } == stored)
    #expect(book.isEqual(to: stored))
    #expect(!book.isEqual(to: Author(id: .remote(7), name: "")))
  }

  @Test func `relationships name what an entity holds, and can be rewritten`() {
    var book = Book(id: .remote("7"))
    let relationship = Book.relationships[0]
    #expect(relationship.relatedIdentifiers(of: book) == [])
    book.author = .local("new")
    #expect(relationship.relatedIdentifiers(of: book) == ["Author:local:new"])
    relationship.replacing(&book, "Author:local:other", "Author:5")
    #expect(book.author == .local("new"))
    relationship.replacing(&book, "Author:local:new", "Author:5")
    #expect(book.author == .remote(5))
    var several: [Lazy<EntityIdentifier<Author>?>] = [
      .unrequested, .requested(nil), .requested(.remote(1)), .requested(.remote(2)),
    ]
    several.replaceRelated(.remote(1), with: .remote(3))
    #expect(several.relatedIdentifiers == [.remote(3), .remote(2)])
  }

  @Test(arguments: [false, true])
  func `a lazy duration is found by its value`(hasIndex: Bool) throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    if hasIndex { try store.addIndexes(of: [Alarm.self]) }
    try store.write { transaction in
      try transaction.set(Alarm(number: 1, delay: .requested(.seconds(3))))
      try transaction.set(Alarm(number: 2, delay: .requested(.seconds(-3))))
      try transaction.set(Alarm(number: 3, delay: .unrequested))
    }
    let late = Query(filter: \Alarm.delay > .requested(.milliseconds(2999)))
    #expect(try store.read { try $0.find(late).entities.map(\.number) } == [1])
  }

  @Test func `types of one namespace show the same nodes`() {
    #expect(BookCard(id: .remote("7"), title: "").modelIdentifier == "Book:7")
  }
}

private struct Alarm: Model, Codable, Equatable, Queryable {
  var number: Int
  var delay: Lazy<Duration>
  var modelIdentifier: String? { "Alarm:\(number)" }
  static let fields: [Field<Alarm>] = [.indexed(\.delay)]
}

/// A part of a book.
struct BookCard: PersistentEntity {
  static let identifierNamespace = "Book"
  var id: EntityIdentifier<BookCard>
  var title: String
}

@Suite struct EntityIdentifierTests {
  private struct Ship: Entity {
    typealias RemoteID = UUID
    var id: EntityIdentifier<Ship>
  }

  private struct Stone: Entity {
    typealias RemoteID = Int64
    var id: EntityIdentifier<Stone>
  }

  private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  private func checkRoundTrip<E: Entity>(_ id: EntityIdentifier<E>, json: String) throws {
    #expect(EntityIdentifier<E>(text: id.text) == id)
    #expect(EntityIdentifier<E>(modelIdentifier: id.modelIdentifier) == id)
    #expect(EntityIdentifier<E>(queryValue: id.queryValue) == id)
    let data = try JSONEncoder().encode([id])
    #expect(String(decoding: data, as: UTF8.self) == "[\(json)]")
    #expect(try JSONDecoder().decode([EntityIdentifier<E>].self, from: data) == [id])
    try id.validate()
  }

  @Test func `an identifier is read back from text, node and coding`() throws {
    try checkRoundTrip(EntityIdentifier<Book>.remote("7"), json: #""7""#)
    try checkRoundTrip(EntityIdentifier<Book>.remote("a:b local:"), json: #""a:b local:""#)
    try checkRoundTrip(EntityIdentifier<Book>.local("7"), json: #""local:7""#)
    try checkRoundTrip(EntityIdentifier<Book>.local("local:"), json: #""local:local:""#)
    try checkRoundTrip(EntityIdentifier<Author>.remote(-3), json: "-3")
    try checkRoundTrip(EntityIdentifier<Author>.local("-3"), json: #""local:-3""#)
    try checkRoundTrip(EntityIdentifier<Stone>.remote(.max), json: "9223372036854775807")
    try checkRoundTrip(EntityIdentifier<Ship>.remote(Self.uuid), json: "\"\(Self.uuid)\"")
    let fresh = EntityIdentifier<Ship>()
    try checkRoundTrip(fresh, json: "\"\(fresh.text)\"")
  }

  @Test func `a store keeps identifiers as their plain keys`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.write { transaction in
      try transaction.set(Author(id: .remote(5), name: "A"))
      try transaction.set(Author(id: .local("x"), name: "B"))
      try transaction.set(Ship(id: .remote(Self.uuid)))
    }
    #expect(try store.read { try $0.tree("Author:5")?["id"] } == .integer(5))
    #expect(try store.read { try $0.tree("Author:local:x")?["id"] } == .string("local:x"))
    #expect(
      try store.read { try $0.get("Author:local:x", as: Author.self)?.id } == .local("x"))
    let ship = try store.read { try $0.get("Ship:\(Self.uuid)", as: Ship.self) }
    #expect(ship?.id == .remote(Self.uuid))
  }

  @Test func `identifiers are equal by form and bytes alone`() {
    let ids: [EntityIdentifier<Book>] = [
      .remote("7"), .local("7"), .remote("e\u{301}"), .remote("é"), .local("é"),
      .local("e\u{301}"), .remote(""), .local(""),
    ]
    for (place, id) in ids.enumerated() {
      for (other, otherID) in ids.enumerated() {
        #expect((id == otherID) == (place == other))
        if place == other { #expect(id.hashValue == otherID.hashValue) }
      }
    }
    #expect(Set(ids).count == ids.count)
    #expect(EntityIdentifier<Book>() != EntityIdentifier<Book>(), "fresh ones")
  }

  @Test func `texts that are no identifiers are refused`() {
    #expect(EntityIdentifier<Book>(text: "") == nil)
    #expect(EntityIdentifier<Book>(text: "local:") == nil)
    for text in ["", "x", "07", "+7", " 7", "9223372036854775808", "local:"] {
      #expect(EntityIdentifier<Author>(text: text) == nil, "\(text)")
    }
    #expect(EntityIdentifier<Ship>(text: Self.uuid.uuidString.lowercased()) == nil)
    for text in ["Author:x", "Book:7", "Author", "Author:", "Authors:7", "author:7"] {
      #expect(EntityIdentifier<Author>(modelIdentifier: text) == nil, "\(text)")
    }
    for json in ["[null]", "[true]", #"[""]"#, #"["x"]"#, "[1.5]", "[{}]"] {
      #expect(throws: DecodingError.self, "\(json)") {
        try JSONDecoder().decode([EntityIdentifier<Author>].self, from: Data(json.utf8))
      }
    }
  }

  @Test func `an entity whose identifier is empty or looks like another form is not stored`() throws
  {
    let store = try ModelStore.temporary()
    defer { store.close() }
    for id in [EntityIdentifier<Book>.remote(""), .local(""), .remote("local:x")] {
      #expect(throws: QueryError.self) { try id.validate() }
      #expect(throws: (any Error).self) { try JSONEncoder().encode([id]) }
      #expect(throws: (any Error).self, "\(id)") { try store.write { try $0.set(Book(id: id)) } }
    }
    #expect(try store.read { try $0.count() } == 0)
  }
}

@Suite struct LazyTests {
  private struct Card: PersistentEntity {
    var id: EntityIdentifier<Card>
    var text: Lazy<String> = .unrequested
    var number: Lazy<Int?> = .unrequested
    var list: Lazy<[Int]> = .unrequested
  }

  @Test func `an unrequested field is absent from the bytes`() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    var card = Card(id: .remote("1"))
    #expect(String(decoding: try encoder.encode(card), as: UTF8.self) == #"{"id":"1"}"#)
    card.number = .requested(nil)
    card.list = .requested([1, 2])
    let data = try encoder.encode(card)
    #expect(String(decoding: data, as: UTF8.self) == #"{"id":"1","list":[1,2],"number":null}"#)
    #expect(try JSONDecoder().decode(Card.self, from: data) == card)
    let store = try ModelStore.temporary()
    defer { store.close() }
    let stored = card
    try store.write { try $0.set(stored) }
    #expect(try store.read { try $0.tree("Card:1")?["text"] } == nil)
    #expect(try store.read { try $0.tree("Card:1")?["number"] } == .null)
    #expect(try store.read { try $0.get("Card:1", as: Card.self) } == card)
  }

  @Test func `an unrequested field overwrites nothing`() {
    var old = Card(id: .remote("1"), text: .requested("a"), number: .requested(1))
    var new = Card(id: .remote("1"), number: .requested(nil), list: .requested([]))
    #expect(old.merging(new).text == .requested("a"))
    #expect(old.merging(new).number == .requested(nil))
    #expect(old.merging(new).list == .requested([]))
    #expect(old.shouldOverwrite(with: new))
    new = Card(id: .remote("1"), text: .requested("a"))
    #expect(!old.shouldOverwrite(with: new), "nothing in it is new")
    old.text = .unrequested
    #expect(old.shouldOverwrite(with: new))
    new = Card(
      id: .remote("1"), text: .requested("b"), number: .requested(2), list: .requested([3]))
    #expect(old.merging(new) == new)
  }

  @Test func `a lazy value outside a field can't be left out`() throws {
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([Lazy<Int>.unrequested]) }
    #expect(String(decoding: try JSONEncoder().encode([Lazy.requested(1)]), as: UTF8.self) == "[1]")
  }
}
