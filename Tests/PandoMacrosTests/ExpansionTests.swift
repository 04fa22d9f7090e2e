import Testing

@Suite struct ExpansionTests {
  @Test func `a model`() {
    let expanded = Expanded(
      """
      @Model
      public struct Person {
        @Key public var id: Int
        @Indexed public var name: String
        var isOnline = false
      }
      """)
    #expect(expanded.errors.isEmpty)
    #expect(
      expanded.text == #"""

        public struct Person {
          public var id: Int
          public var name: String
          var isOnline = false

          public static var modelTypeName: Swift.String {
            "Person"
          }

          public static var nodeNamespace: Swift.String? {
            Self.modelTypeName
          }

          public var modelIdentifier: Swift.String {
            Self.makeIdentifier(self.id)
          }

          public static func key(_ id: Int) -> PandoStore.Key<Person> {
            PandoStore.Key(rawValue: makeIdentifier(id))
          }

          public static let fields: [PandoStore.Field<Person>] = {
            var fields = PandoStore.FieldList<Person>()
            fields.add(\.id, "id")
            fields.add(\.name, "name", isIndexed: true)
            fields.add(\.isOnline, "isOnline")
            return fields.all
          }()

          public static let fieldDefaults: [Swift.String: any Swift.Encodable & Swift.Sendable] = [
            "isOnline": (false) as Bool,
          ]
        }

        nonisolated extension Person: PandoStore.Model, PandoStore.KeyedModel, Swift.Codable, Swift.Equatable, PandoStore.Queryable, PandoStore.FieldCodable {
          public init(fields: inout PandoStore.FieldSource) throws {
            (
              self.id, self.name, self.isOnline
            ) = try (
              fields.read("id"),
              fields.read("name"),
              fields.read("isOnline")
            )
          }

          public func write(to fields: inout PandoStore.FieldSink) throws {
            fields.write("id", self.id)
            fields.write("name", self.name)
            fields.write("isOnline", self.isOnline)
          }
        }
        """#)
  }

  @Test func `fields are coded in the order of records`() {
    let expanded = Expanded(
      """
      @Embedded struct Place {
        var street: String
        var zip: String
        var city: String
      }
      """)
    let places = ["zip", "city", "street"].map {
      expanded.text.firstRange(of: "fields.read(\"\($0)\")")?.lowerBound
    }
    #expect(!places.contains(nil))
    #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted())
  }

  @Test func `a member that the type declares itself is not generated`() {
    let expanded = Expanded(
      """
      @Model struct Person {
        @Key var id: Int
        var name: String
        static var modelTypeName: String { "P" }
        var modelIdentifier: String { "p\\(id)" }
        static let fields: [Field<Person>] = []
        func encode(to encoder: any Encoder) throws {}
      }
      """)
    #expect(expanded.errors.isEmpty)
    func count(_ text: String) -> Int { expanded.text.ranges(of: text).count }
    #expect(
      count(
        "extension Person: PandoStore.Model, PandoStore.KeyedModel, Swift.Codable, Swift.Equatable, PandoStore.Queryable {"
      ) == 1)
    #expect(count("modelTypeName") == 1)
    #expect(count("var modelIdentifier") == 1)
    #expect(count("fields") == 1)
    // The identifier is not made of the key.
    #expect(count("static func key(") == 0)
  }

  @Test func `indexes, rules and former names`() {
    let expanded = Expanded(
      #"""
      @Model("Item", unique: [\.sku], indexed: [\.maker, \.price], [\.lines.name],
        [\.payment.paid?.reference])
      struct Product {
        @Key var tenant: String
        @Key var id: UUID
        var sku: String
        var price: Int
        @Renamed(from: "name", "label") var title: String
        @Unique var barcode: String?
        @Restrict var maker: Maker
        @Owned var pictures: [Picture] = []
        var lines: [Line]
        var payment: Payment
        @Transient var isSelected = false
      }
      """#)
    #expect(expanded.errors.isEmpty)
    for line in [
      "Self.makeIdentifier(self.tenant, self.id)",
      "static func key(_ tenant: String, _ id: UUID) -> PandoStore.Key<Product>",
      #".unique(.path(\Product.barcode)),"#, #".unique(.path(\Product.sku)),"#,
      #".indexed(.path(\Product.maker), .path(\Product.price)),"#,
      #".indexed(.each(\Product.lines, \.name)),"#,
      #".indexed(.path(\Product.payment.paid?.reference)),"#,
      #".restrict(\Product.maker, "maker"),"#, #".owned(\Product.pictures, "pictures"),"#,
      #""title": ["name", "label"],"#, "enum CodingKeys: Swift.String, Swift.CodingKey {",
      "DeletionRuled",
    ] { #expect(expanded.text.contains(line), "\(line)") }
    #expect(!expanded.text.contains("case isSelected"))
  }

  @Test func `the type of a property is that of its literal or initializer`() {
    let expanded = Expanded(
      """
      @Model struct Person {
        @Key var id = UUID()
        var address = Address(city: "Ulm"), home = Map.Place()
        var tags = [String](), ids = Set<Int>()
      }
      """)
    #expect(expanded.errors.isEmpty)
    for line in [
      "static func key(_ id: UUID) -> PandoStore.Key<Person>",
      #""address": (Address(city: "Ulm")) as Address,"#,
      #""home": (Map.Place()) as Map.Place,"#, #""tags": ([String]()) as [String],"#,
      #""ids": (Set<Int>()) as Set<Int>,"#,
    ] { #expect(expanded.text.contains(line), "\(line)") }
    #expect(!expanded.text.contains("(UUID()) as"))
  }

  @Test func `a projection has the keys of another type`() {
    let expanded = Expanded(
      """
      @Model(of: Library.Book.self) struct BookCard {
        @Key var id: Int
        var title: String
      }
      """)
    #expect(expanded.errors.isEmpty)
    for line in [
      #""BookCard""#, "Library.Book.makeIdentifier(self.id)",
      "static func key(_ id: Int) -> PandoStore.Key<BookCard> {",
      "PandoStore.Key(rawValue: Library.Book.makeIdentifier(id))",
    ] { #expect(expanded.text.contains(line), "\(line)") }
  }

  @Test func `an embedded enum`() {
    let expanded = Expanded(
      """
      @Embedded enum Payment {
        case open
        case paid(at: Date, reference: String)
      }
      """)
    #expect(
      expanded.text == #"""
        enum Payment {
          case open
          case paid(at: Date, reference: String)

          /// The values of the case `paid`.
          struct PaidValues: Swift.Equatable, Swift.Sendable {
            let at: Date
            let reference: String
          }

          /// The values of the case `paid`; `nil` for another case.
          var paid: PaidValues? {
            if case .paid(let at, let reference) = self {
              PaidValues(at: at, reference: reference)
            } else {
              nil
            }
          }

          static let embeddedFields: PandoStore.EmbeddedFields<Payment> = {
            var fields = PandoStore.EmbeddedFields<Payment>()
            fields.add(\.paid?.at, optional: \.?.paid?.at, "paid.at")
            fields.add(\.paid?.reference, optional: \.?.paid?.reference, "paid.reference")
            return fields
          }()
        }

        nonisolated extension Payment: Swift.Codable, Swift.Equatable, PandoStore.Embedded {

        }
        """#)
  }

  @Test func `properties that are called as generated members hide none`() {
    let expanded = Expanded(
      #"""
      @Model(indexed: [\.fields, \.key]) struct Table {
        @Key var key: String
        var fields: Int
        @Indexed var indexes: Int = 3
        var deletionRules: String?
      }
      """#)
    #expect(expanded.errors.isEmpty)
    for line in [
      "static let fields: [PandoStore.Field<Table>] = {",
      "static let indexes: [PandoStore.FieldIndex<Table>] = [",
      "static func key(_ key: String) -> PandoStore.Key<Table>", "fields.add(\\.indexes",
    ] { #expect(expanded.text.contains(line), "\(line)") }
  }

  @Test func `cases may have keywords, the names of types and several forms`() {
    let expanded = Expanded(
      """
      @Embedded enum Way {
        case address(Address)
        case `default`(in: Int)
        case both(a: Int)
        case both(b: Int)
      }
      """)
    for line in [
      "struct AddressValues: Swift.Equatable, Swift.Sendable {", "let _0: Address",
      "var `default`: DefaultValues? {", "let `in`: Int", "DefaultValues(in: `in`)",
    ] { #expect(expanded.text.contains(line), "\(line)") }
    #expect(!expanded.text.contains("BothValues"))
  }

  @Test func `markers may have their module before them, and names may have backticks`() {
    let expanded = Expanded(
      #"""
      @Model(indexed: [\.`in`, \.place.`for`]) struct Trip {
        @PandoStore.Key var id: Int
        @Pando::Indexed var `in`: String
        @Other.Unique var number: Int
        var place: Place
      }
      """#)
    #expect(expanded.errors.isEmpty)
    for line in [
      "Self.makeIdentifier(self.id)", #"fields.add(\.in, "in", isIndexed: true)"#,
      #"fields.add(\.number, "number")"#,
      #".indexed(.path(\Trip.in), .path(\Trip.place.`for`)),"#,
    ] { #expect(expanded.text.contains(line), "\(line)") }
    #expect(!expanded.text.contains(".unique("))
    let value = Expanded("@Embedded enum Way { case to(`in`: Int, `for`: String) }").text
    for line in ["if case .to(let `in`, let `for`)", "ToValues(in: `in`, for: `for`)"] {
      #expect(value.contains(line), "\(line)")
    }
  }

  @Test func `searchable properties have one index of words`() {
    let expanded = Expanded(
      #"""
      @Model struct Tea {
        @Key var id: Int
        @Searchable var title: String
        @Searchable @Indexed var tags: [String]
      }
      """#)
    #expect(expanded.text.contains(#".text(\Tea.title, \Tea.tags),"#))
  }

  @Test func `sums belong to the indexes that are not unique`() {
    let expanded = Expanded(
      #"""
      @Model(unique: [\.number], indexed: [\.day], [\.shop, \.day], sums: [\.total, \.`in`])
      struct Sale {
        @Key var id: Int
        var number: Int
        var day: Int
        var shop: String
        var total: Decimal
        var `in`: Int
      }
      """#)
    #expect(expanded.errors.isEmpty)
    for line in [
      #".unique(.path(\Sale.number)),"#,
      #".indexed(.path(\Sale.day), sums: [\Sale.total, \Sale.in]),"#,
      #".indexed(.path(\Sale.shop), .path(\Sale.day), sums: [\Sale.total, \Sale.in]),"#,
    ] { #expect(expanded.text.contains(line), "\(line)") }
    let counted = Expanded(#"@Model(indexed: [\.day], sums: []) struct Sale { @Key var day: Int }"#)
    #expect(counted.text.contains(#".indexed(.path(\Sale.day), sums: []),"#))
  }

  @Test func `an enum without values has the names of its cases`() {
    let expanded = Expanded(
      """
      @Embedded public enum Kind {
        enum CodingKeys: String, CodingKey { case bug = "Bug", `default` }
        case bug, `default`
      }
      """)
    for line in [
      "public var caseName: Swift.String {", #"case .bug:\#n      "Bug""#,
      #"case .`default`:\#n      "default""#, "public init?(caseName: Swift.String) {",
      #"case "Bug":\#n      self = .bug"#,
      "extension Kind: Swift.Codable, Swift.Equatable, PandoStore.QueryRepresentable, "
        + "PandoStore.KeyPart, PandoStore.CaseNamed {",
    ] { #expect(expanded.text.contains(line), "\(line)") }
  }

  @Test func `an entity has its identifier from its protocols`() {
    let expanded = Expanded(
      """
      @Model(of: Book.self) public struct Card: PersistentEntity, MutableEntity {
        public var id: Pando.EntityIdentifier<Card>
        @Indexed var title: String
        var text: Lazy<String> = .unrequested
        var author: EntityIdentifier<Author>?
        var readers: Lazy<[EntityIdentifier<Reader>]> = .unrequested
        let origin: EntityIdentifier<Book>
      }
      """)
    #expect(expanded.errors.isEmpty)
    for line in [
      "public typealias RemoteID = Book.RemoteID",
      "public static var identifierNamespace: Swift.String {\n    Book.identifierNamespace",
      "public func withIdentifier(_ id: Pando.EntityIdentifier<Card>) -> Card {",
      "public static let relationships: [PandoManagers.EntityRelationship<Card>] = [",
      #".to(\.author, "author"),"#, #".to(\.readers, "readers"),"#,
      #"fields.add(\.title, "title", isIndexed: true)"#, #"fields.add(\.origin, "origin")"#,
      "extension Card: PandoStore.Model, Swift.Codable, Swift.Equatable, PandoStore.Queryable {",
    ] { #expect(expanded.text.contains(line), "\(line)") }
    for line in [
      "static func key", "var modelIdentifier", #"fields.add(\.id"#, #".to(\.origin"#,
      "FieldSource",
    ] { #expect(!expanded.text.contains(line), "\(line)") }
  }

  @Test func `a member that an entity declares itself is not generated`() {
    let expanded = Expanded(
      """
      @Model(of: Book.self) struct Card: MutableEntity {
        typealias RemoteID = Int
        static let identifierNamespace = "Book"
        static let relationships: [EntityRelationship<Card>] = []
        let id: EntityIdentifier<Card>
        var author: EntityIdentifier<Author>
        func withIdentifier(_ id: EntityIdentifier<Card>) -> Card { self }
      }
      """)
    #expect(expanded.errors.isEmpty)
    for name in ["RemoteID", "identifierNamespace", "relationships", "withIdentifier"] {
      #expect(expanded.text.ranges(of: name).count == 1, "\(name)")
    }
    #expect(expanded.text.contains("PandoStore.FieldCodable {"))
  }

  @Test func `one model of a type has a key of its own`() {
    let expanded = Expanded(#"@Model("Setup", key: "main") struct Settings { var a: Int }"#)
    #expect(expanded.errors.isEmpty)
    for line in [
      #"var modelIdentifier: Swift.String {\#n    Self.makeIdentifier("main")"#,
      #"static var key: PandoStore.Key<Settings> {\#n    PandoStore.Key(rawValue: makeIdentifier("main"))"#,
    ] { #expect(expanded.text.contains(line), "\(line)") }
  }

  @Test func `an embedded enum with raw values is a query value and a part of keys`() {
    let expanded = Expanded("@Embedded enum Status: String { case placed, shipped }")
    #expect(
      expanded.text.contains(
        "extension Status: Swift.Codable, Swift.Equatable, PandoStore.QueryRepresentable, "
          + "PandoStore.KeyPart {"))
  }
}
