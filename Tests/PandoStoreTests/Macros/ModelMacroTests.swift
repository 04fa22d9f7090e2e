import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import PandoStore
import Testing

@Model
private struct Author {
  @Key var id: Int
  @Indexed var name: String
  var isOnline = false
}

@Embedded private struct Address {
  var street: String
  var city: String
  var zip: String?
}

@Embedded private enum Status: String { case placed, shipped }

@Embedded private enum Payment {
  case open
  case paid(at: Date, reference: String)
  case refunded(Int)
}

@Embedded private struct Line {
  var product: Key<Product>
  var quantity: Int
}

@Model(
  "Article", unique: [\.tenant, \.sku], indexed: [\.tenant, \.maker, \.price],
  [\.payment.paid?.reference])
private struct Product {
  @Key var tenant: String
  @Key var id: UUID
  var sku: String
  @Renamed(from: "name") var title: String
  var price: Int
  @Indexed var tags: [String]
  @Unique var barcode: String?
  @Restrict var maker: Author
  @Owned var pictures: [Author] = []
  var other: Key<Product>?
  var address: Address
  var second: Address?
  var payment: Payment = .open
  @Indexed var status: Status = .placed
  var lines: [Line] = []
  @Transient var isSelected = false
}

/// Two writers are equal if their names are.
@Model private struct Writer {
  @Key var id: Int
  var name: String
}

extension Writer: Equatable {
  fileprivate static func == (left: Writer, right: Writer) -> Bool { left.name == right.name }
}

@Embedded private enum Mood: Int { case happy, merry }

extension Mood: Comparable {
  fileprivate static func < (left: Mood, right: Mood) -> Bool { left.rawValue > right.rawValue }
}

extension Mood: Equatable {
  fileprivate static func == (left: Mood, right: Mood) -> Bool { true }
}

/// Types inside a type, with names of others.
private enum First {
  @Embedded struct Line { var text: String }

  @Model(unique: [\.name]) struct Author {
    @Key var id: Int
    var name: String
    @Restrict var home: Product?
    var address = Address(street: "", city: "Ulm")
  }

  /// The part of an author that lists show.
  @Model(of: First.Author.self) struct Card {
    @Key var id: Int
    var name: String
  }
}

@Suite struct ModelMacroTests {
  private func product(_ sku: String = "S1", price: Int = 7, city: String = "Ulm") -> Product {
    Product(
      tenant: "ac/me", id: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
      sku: sku, title: "T", price: price, tags: ["a", "b"], maker: Author(id: 1, name: "Ada"),
      address: Address(street: "S", city: city))
  }

  @Test func `an own equality counts everywhere`() {
    func areEqual<Value: Equatable>(_ left: Value, _ right: Value) -> Bool { left == right }
    let (ada, other) = (Writer(id: 1, name: "Ada"), Writer(id: 2, name: "Ada"))
    #expect(areEqual(ada, other))
    #expect(ada.isEqual(to: other))
    #expect(areEqual(Mood.happy, Mood.merry))
    #expect([Mood.happy, .merry].max()?.rawValue == 0)
  }

  @Test func `a type inside another one, and a projection of it`() throws {
    let store = try ModelStore.inMemory()
    let ada = First.Author(id: 1, name: "Ada")
    try store.write { try $0.insert(ada) }
    #expect(try store.get(First.Author.key(1)) == ada)
    #expect(try store.get(First.Card.key(1)) == First.Card(id: 1, name: "Ada"))
    let query = Query(filter: \First.Author.address.city == "Ulm")
    #expect(try store.read { try $0.find(query).entities } == [ada])
    #expect(First.Author.key(1).rawValue == Author.key(1).rawValue)
  }

  @Test func `a key is the name of the type and its parts`() {
    #expect(Author.key(12).rawValue == "Author:12")
    #expect(Author(id: 12, name: "").key == Author.key(12))
    let identifier: String = product().modelIdentifier
    #expect(identifier == "Article:ac%2Fme/01020304-0506-0708-090A-0B0C0D0E0F10")
    #expect(product().key.rawValue == identifier)
  }

  @Test func `records have the bytes of Codable`() throws {
    let value = product()
    let plain = try RecordEncoder.encodeValue(value, usingFields: false).body
    #expect(try RecordEncoder.encodeValue(value).body == plain)
  }

  @Test func `fields, indexes and rules are those that are declared`() {
    let names = Product.fields.map(\.name)
    #expect(
      names == [
        "tenant", "id", "sku", "title", "price", "tags[]", "barcode", "maker", "pictures[]",
        "other", "address.street", "address.city", "address.zip", "second.street", "second.city",
        "second.zip", "payment.paid.at", "payment.paid.reference", "payment.refunded._0",
        "status", "lines[].product", "lines[].quantity",
      ])
    #expect(Product.fields.filter(\.isIndexed).map(\.name) == ["tags[]", "status"])
    #expect(Product.declaredIndexes.count == 6)
    #expect(Product.deletionRules == [.restrict("maker"), .owned("pictures")])
    #expect(Product.formerFieldNames == ["title": ["name"]])
    #expect(Product.modelTypeName == "Article")
  }

  @Test func `queries find records by declared fields`() throws {
    let store = try ModelStore.inMemory()
    try store.addIndexes(of: [Product.self, Author.self])
    var other = product("S2", price: 9, city: "Bonn")
    other.id = UUID()
    other.second = Address(street: "S", city: "Jena")
    other.payment = .paid(at: Date(timeIntervalSince1970: 0), reference: "R-17")
    other.status = .shipped
    other.lines = [Line(product: product().key, quantity: 3)]
    let products = [product(), other]
    try store.write { transaction in
      for product in products { try transaction.set(product) }
    }
    func found(_ filter: Filter<Product>) throws -> [String] {
      let query = Query(filter: filter, order: [.ascending(\.sku)])
      return try store.read { try $0.find(query).entities.map(\.sku) }
    }
    #expect(try found(\.address.city == "Bonn") == ["S2"])
    #expect(try found(\.second?.city == "Jena") == ["S2"])
    #expect(try found(\.payment.paid?.reference == "R-17") == ["S2"])
    let paid = Query(filter: \Product.payment.paid?.reference == "R-17")
    let access = try store.read { "\(try $0.explain(paid).access)" }
    #expect(access == "index on payment.paid.reference")
    #expect(try found(\.status == .shipped) == ["S2"])
    #expect(try found(\.tenant == "ac/me" && \.price < 9) == ["S1"])
    #expect(try store.read { try $0.find(Query<Product>()).count } == 2)
  }
}
