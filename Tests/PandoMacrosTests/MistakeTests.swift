import Testing

/// Each mistake is an error at its line, with the repair that the compiler offers.
@Suite struct MistakeTests {
  private typealias Mistaken = Expanded.Mistaken

  private func errors(_ source: String) -> [Mistaken] { Expanded(source).errors }

  @Test func `a model without a key is refused`() {
    let found = errors(
      """
      @Model struct Person {
        var name: String
        var id: Int
      }
      """)
    #expect(found.map(\.line) == [1])
    #expect(found.map(\.message) == ["mark the property that identifies a Person with @Key"])
    let repaired = Expanded(
      """
      @Model struct Person { var id: Int }
      """)
    #expect(repaired.errors.map(\.repaired) == ["@Model struct Person { @Key var id: Int }"])
  }

  @Test(arguments: [
    ("[String: Int]", "Indexed"), ("(Int, Int)", "Indexed"), ("any Hashable", "Unique"),
    ("[[String: Int]]?", "Indexed"),
  ])
  func `an index of a type that can't be compared`(type: String, marker: String) {
    let found = errors(
      """
      @Model struct Person {
        @Key var id: Int
        @\(marker) var map: \(type)
      }
      """)
    let expected = Mistaken(
      line: 3, message: "values of \(type) can't be compared, so they can't be indexed",
      repaired: "var map: \(type)")
    #expect(type.hasPrefix("[[") ? found.isEmpty : found == [expected])
  }

  @Test(arguments: ["Int", "String?", "[Date]", "Key<Maker>", "Decimal"])
  func `a rule of a plain value`(type: String) {
    for marker in ["Restrict", "Owned"] {
      let found = errors(
        """
        @Model struct Person {
          @Key var id: Int
          @\(marker) var maker: \(type)
        }
        """)
      #expect(
        found == [
          Mistaken(
            line: 3, message: "@\(marker) belongs to a child; \(type) is no model",
            repaired: "var maker: \(type)")
        ])
    }
  }

  @Test func `a marker of a computed or static member`() {
    let found = errors(
      """
      @Model struct Person {
        @Key var id: Int
        @Indexed var initial: String { "A" }
        @Unique static var shared = 1
        var observed: Int = 0 { didSet {} }
      }
      """)
    #expect(
      found == [
        Mistaken(
          line: 3, message: "@Indexed belongs to a stored property; this one is computed",
          repaired: #"var initial: String { "A" }"#),
        Mistaken(
          line: 4, message: "@Unique belongs to a stored property; this one is static",
          repaired: "static var shared = 1"),
      ])
  }

  @Test func `a class, an actor and an enum`() {
    #expect(
      errors("@Model class Person { @Key var id: Int }") == [
        Mistaken(
          line: 1, message: "@Model belongs to a struct: models are immutable values",
          repaired: "@Model struct Person { @Key var id: Int }")
      ])
    for source in ["@Model enum Status { case open }", "@Model actor Person {}"] {
      #expect(errors(source).map(\.message) == ["@Model belongs to a struct"])
    }
    #expect(
      errors("@Embedded class Address {}").map(\.message) == [
        "@Embedded belongs to a struct or an enum: models are immutable values"
      ])
    #expect(
      errors("@Embedded actor Address {}").map(\.message) == [
        "@Embedded belongs to a struct or an enum"
      ])
  }

  @Test(arguments: ["Double", "Bool", "Date", "Decimal", "[Int]", "[String: Int]", "URL"])
  func `a key of a type that is none`(type: String) {
    let found = errors("@Model struct Person { @Key var id: \(type) }")
    #expect(
      found.map(\.message) == [
        "\(type) does not conform to KeyPart: "
          + "a key is a String, an integer, a UUID, a Key or an enum"
      ])
  }

  @Test(arguments: [
    "@MainActor @Model struct Person { @Key var id: Int }",
    "@MainActor @Embedded struct Person { var id: Int }",
    "@MainActor @Embedded enum Person { case open }",
  ])
  func `a type of the main actor`(source: String) {
    #expect(
      errors(source) == [
        Mistaken(
          line: 1, message: "the threads of a store read and write the values; remove @MainActor",
          repaired: source.replacing("@MainActor ", with: ""))
      ])
  }

  // The compiler synthesized another == and used it in generic code; it used no <.
  @Test(arguments: [
    "@Model struct Person { @Key var id: Int; ",
    "@Embedded struct Person: Hashable { var id: Int; ",
    "@Embedded enum Person { case open; ", "@Embedded enum Person: String { case open; ",
  ])
  func `an == or < of the type in its declaration is refused`(start: String) {
    for (name, conformance) in ["==": "Equatable", "<": "Comparable"] {
      for type in ["Self", "Person"] {
        let function = "static func \(name) (a: \(type), b: \(type)) -> Bool { true }"
        #expect(
          errors(start + function + " }").map(\.message) == [
            "this \(name) does not count; "
              + "write it in an extension: “extension Person: \(conformance) { … }”"
          ])
      }
      #expect(errors(start + "static func \(name) (a: Self, b: Int) -> Bool { true } }").isEmpty)
    }
    #expect(errors(start + "static func + (a: Self, b: Self) -> Self { a } }").isEmpty)
  }

  @Test(arguments: [
    "@Model private struct Person { @Key var id: Int }",
    "@Embedded private struct Person { var id: Int }",
    "@Embedded private enum Person { case open }",
  ])
  func `a private type inside another type`(source: String) {
    #expect(errors(source).isEmpty)
    for outer in ["struct Suite", "enum Suite", "extension Suite"] {
      #expect(
        errors("\(outer) {\n  \(source)\n}") == [
          Mistaken(
            line: 2,
            message: "the extension of a macro does not see a private type inside another type; "
              + "write fileprivate",
            repaired: source.replacing("private", with: "fileprivate"))
        ])
    }
  }

  @Test func `a property without a type`() {
    let found = errors(
      """
      @Model struct Person {
        @Key var id: Int
        var created = makeDate()
        var count = Int.zero
        var age = -1, weight = 1.5, name = "", isOnline = true
      }
      """)
    #expect(
      found == [
        Mistaken(
          line: 3,
          message: "write the type of created, as in “created: <#Type#> = makeDate()”: "
            + "a macro does not see what the compiler infers",
          repaired: "var created: <#Type#> = makeDate()"),
        Mistaken(
          line: 4,
          message: "write the type of count, as in “count: Int = Int.zero”: "
            + "a macro does not see what the compiler infers",
          repaired: "var count: Int = Int.zero"),
      ])
  }

  @Test func `a key of one model beside a key of properties`() {
    let found = errors(
      """
      @Model(key: "main") struct Settings {
        @Key var id: Int
      }
      """)
    #expect(found.map(\.line) == [2])
    #expect(found.map(\.message) == [#"the one Settings has the key "main" already"#])
    #expect(
      errors(#"@Model(key: "") struct Settings { var a: Int }"#).map(\.message)
        == ["write the key of the one model as a text"])
  }

  @Test func `another key of an entity`() {
    let found = errors(
      """
      @Model struct Person: PersistentEntity {
        @Key var id: EntityIdentifier<Person>
        @Key var name: String
      }
      """)
    #expect(
      found == [
        Mistaken(line: 3, message: "the key of an entity is its id", repaired: "var name: String")
      ])
    let named = errors(
      #"@Model(key: "me") struct Person: PersistentEntity { var id: EntityIdentifier<Person> }"#)
    #expect(named.map(\.message) == [#"the key of an entity is its id, and not "me""#])
  }

  @Test func `a projection of what is no type`() {
    let found = errors("@Model(of: book) struct Card { @Key var id: Int }")
    #expect(found.map(\.message) == ["write the type of the nodes, as Person.self"])
  }

  @Test func `two fields of one stored name`() {
    let found = errors(
      """
      @Model struct Person {
        enum CodingKeys: String, CodingKey { case id, first = "name", last = "name" }
        @Key var id: Int
        var first: String
        var last: String
      }
      """)
    #expect(found.map(\.line) == [5])
    #expect(found.map(\.message) == [#"last and first have one stored name, "name""#])
    let former = errors(
      """
      @Model struct Person {
        @Key var id: Int
        var first: String
        @Renamed(from: "first") var last: String
      }
      """)
    #expect(
      former == [
        Mistaken(
          line: 4, message: #""first" is a name of first already"#, repaired: "var last: String")
      ])
  }

  @Test func `an index of what is no property`() {
    let found = errors(
      #"""
      @Model(unique: [\.nme], indexed: [\.id, \.name])
      struct Person {
        @Key var id: Int
        var name: String
      }
      """#)
    #expect(found.map(\.message) == ["Person has no stored property nme"])
  }

  @Test func `sums without an index that keeps them`() {
    let found = errors(#"@Model(unique: [\.day], sums: [\.day]) struct Sale { @Key var day: Int }"#)
    #expect(
      found.map(\.message) == [
        #"sums: needs the indexes that keep them: write indexed: [\.property] before it"#
      ])
  }

  @Test func `values that are not stored`() {
    let found = errors(
      """
      @Model struct Person {
        @Key var id: Int
        @Transient var isSelected: Bool
        @Transient @Indexed var rank = 1
        @Transient var note: String?
        let version = 1
      }
      """)
    #expect(
      found == [
        Mistaken(
          line: 3, message: "isSelected is not stored, so it needs a default: isSelected: Bool = …",
          repaired: nil),
        Mistaken(
          line: 4, message: "@Indexed has no effect on a property that is not stored",
          repaired: "@Transient var rank = 1"),
        Mistaken(
          line: 6, message: "a constant with a value can't be read from a record; write var",
          repaired: "var version = 1"),
      ])
  }

  @Test func `an optional key, two rules, and a marker of an embedded value`() {
    let found = errors(
      """
      @Model struct Person {
        @Key var id: Int?
        @Owned @Restrict var friend: Person2
        lazy var size: Int = 1
      }
      @Embedded struct Address {
        @Indexed var city: String
      }
      """)
    #expect(
      found.map(\.message) == [
        "a key is never nil; remove the question mark of Int?",
        "a child has one rule: @Restrict or @Owned",
        "a model is a value: a lazy property can't be stored in its record",
        "@Indexed belongs to a property of a model, not of an embedded value",
      ])
  }

  @Test func `members under a condition`() {
    let found = errors(
      """
      @Model struct Person {
        @Key var id: Int
        #if DEBUG
        var note: String?
        #endif
      }
      """)
    #expect(found.map(\.line) == [3])
    #expect(
      found.map(\.message) == [
        "a macro does not see which members #if leaves; declare all of them"
      ])
  }

  @Test func `a generic struct`() {
    #expect(
      errors("@Model struct Box<T> { @Key var id: Int }").map(\.message) == [
        "a generic struct can't be declared by a macro; conform to the protocols by hand"
      ])
  }
}
