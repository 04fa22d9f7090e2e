import PandoFixtures
import Testing

/// Errors of the compiler about a declaration with a mistake.
@Suite struct WrongModelTests {
  struct Case: CustomTestStringConvertible {
    let name: String
    let source: String
    let message: String
    var testDescription: String { name }
  }

  static let cases = [
    Case(
      name: "an enum that is a model", source: "@Model enum Status { case open }",
      message: "@Model belongs to a struct"),
    Case(
      name: "a key of a type that is none",
      source: """
        struct Number: Codable, Equatable { var value = 1 }
        @Model struct Person { @Key var id: Number }
        """, message: "requires that 'Number' conform to 'KeyPart'"),
    Case(
      name: "a property that can't be coded",
      source: """
        struct Face { var eyes = 2 }
        @Model struct Person { @Key var id: Int; var face: Face }
        """,
      message: "cannot automatically synthesize 'Decodable' because 'Face' does not conform"),
    Case(
      name: "a property whose coding can't be generated",
      source: """
        struct Face { var eyes = 2 }
        @Model struct Person { @Key var id: Int; var face: Face }
        """, message: "a stored property has a type that is Codable and Equatable"),
    Case(
      name: "a private model inside another type",
      source: "enum Models { @Model private struct Person { @Key var id: Int } }",
      message: "write fileprivate"),
    Case(
      name: "an own equality of a model",
      source: """
        @Model struct Person {
          @Key var id: Int
          static func == (left: Person, right: Person) -> Bool { left.id == right.id }
        }
        """, message: "extension Person: Equatable"),
    Case(
      name: "a model of the main actor",
      source: "@MainActor @Model struct Person { @Key var id: Int }",
      message: "remove @MainActor"),
  ]

  @Test(arguments: cases) func `a mistake has one clear error`(item: Case) throws {
    let (status, output) = try compile("import PandoStore\n" + item.source)
    #expect(status != 0)
    #expect(output.contains(item.message), "\(output)")
    for noise in [
      "no exact matches", "found candidate", "does not conform to protocol 'KeyedModel'",
    ] {
      #expect(!output.contains(noise), "\(output)")
    }
  }

  // The compiler failed to produce a diagnostic.
  @Test(arguments: [
    ("String", ".count", "value of type 'Int' to specified type 'String'"),
    ("Int", ".average(\\.id)", "value of type 'Double?' to specified type 'Int'"),
    ("Double", ".sum(\\.id)", "to specified type 'Double'"),
    ("Int", ".exists", "value of type 'Bool' to specified type 'Int'"),
    ("Int", ".max(\\.id)", "value of type 'Int?' to specified type 'Int'"),
    ("[String]", ".distinct(\\.id)", "value of type '[Int]' to type '[String]'"),
    ("Int", ".count.grouped(by: \\.id)", "'[Int : Int]'"),
    ("[String: Int]", ".count.grouped(by: \\.id)", "('Int' and 'String') are expected to be equal"),
    (
      "[Int: String]", ".sum(\\.id).grouped(by: \\.id)",
      "inferred as 'Question<Trip, [Int : String]>'"
    ),
    ("[String]", ".count.grouped(by: \\.id)", "'[Int : Int]' to specified type '[String]'"),
    (
      "[Int: [String: Int]]", ".count.grouped(by: \\.id).grouped(by: \\.id)",
      "('Int' and 'String') are expected to be equal"
    ),
  ])
  func `an answer of a wrong type is an error that names the type`(
    type: String, question: String, message: String
  ) throws {
    for (effect, call) in [("", "try"), ("async", "try await")] {
      let (status, output) = try compile(
        """
        import PandoStore
        @Model struct Trip { @Key var id: Int }
        func test(_ store: ModelStore) \(effect) throws {
          let answer: \(type) = \(call) store.answer(\(question), to: Query<Trip>.all)
          _ = answer
        }
        """)
      #expect(status != 0)
      #expect(output.contains(message), "\(output)")
      #expect(!output.contains("failed to produce diagnostic"), "\(output)")
    }
  }

  @Test func `labels in backticks give no warning`() throws {
    let (status, output) = try compile(
      """
      import PandoStore
      @Embedded enum Way { case `default`(`in`: Int, `for`: String), other }
      @Model struct Trip { @Key var `self`: Int; @Indexed var `in`: Int; var way: Way }
      """, options: ["-warnings-as-errors"])
    #expect(status == 0, "\(output)")
  }

  @Test func `a module of the main actor declares its models as nonisolated`() throws {
    let (status, output) = try compile(
      """
      import PandoStore
      @Model nonisolated struct Trip {
        @Key var id: Int
        @Indexed var name = ""
        var way: Way = .other
        var kind: Kind?
        var place: Place?
      }
      @Embedded nonisolated enum Way { case by(name: String), other }
      @Embedded nonisolated enum Kind { case bug, wish }
      @Embedded nonisolated struct Place { var city: String }
      """, options: ["-default-isolation", "MainActor"])
    #expect(status == 0, "\(output)")
  }
}
