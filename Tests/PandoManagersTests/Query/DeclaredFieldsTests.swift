import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoStore
import Testing

@testable import PandoManagersFixtures

/// The store compares the declared fields of an entity type with the fields that its coding writes.
@Suite struct DeclaredFieldsTests {
  @Test func `a wrong name behind a child is refused where it is written, and says why`()
    async throws
  {
    try await withContainer(ChildPathIssue.self) { issues, store in
      // Nobody is assigned, so nothing can be told of the path.
      try await issues.set(ChildPathIssue(id: .remote("1")))
      let ann = Person(name: "Ann")
      let error = await #expect(throws: ModelError.self) {
        try await issues.set(ChildPathIssue(id: .remote("2"), assignee: ann))
      }
      #expect(error?.code == .misdeclaredField)
      #expect(error?.identifier == "ChildPathIssue:2")
      #expect(error?.field == "assignee.nick")
      let text = try #require(error.map { "\($0)" })
      #expect(text.contains(#"\ChildPathIssue.assignee?.name is declared as "assignee.nick""#))
      #expect(text.contains(#"has no such field; the value is coded as "name""#))
      #expect(try await store.read { try $0.count() } == 1, "nothing of the write stays")
    }
  }

  @Test func `a list is declared under its coding key`() async throws {
    try await withContainer(WrongListIssue.self) { issues, store in
      // Empty lists, and equal ones, tell nothing.
      try await issues.set(WrongListIssue(id: .remote("1"), tags: [], words: []))
      try await issues.set(WrongListIssue(id: .remote("2"), tags: ["a"], words: ["a"]))
      let error = await #expect(throws: ModelError.self) {
        try await issues.set(WrongListIssue(id: .remote("3"), tags: ["a", "b"], words: ["a"]))
      }
      #expect(error?.code == .misdeclaredField)
      #expect(error?.field == "words[]")
      #expect(error.map { "\($0)" }?.contains(#"the value is coded as "tags""#) == true)
      #expect(try await store.read { try $0.count() } == 2)
    }
  }

  @Test func `the elements of a list are no value of the list`() async throws {
    try await withContainer(WholeListIssue.self) { issues, _ in
      let error = await #expect(throws: ModelError.self) {
        try await issues.set(WholeListIssue(id: .remote("1"), tags: ["a"]))
      }
      #expect(error?.code == .misdeclaredField)
      #expect(error.map { "\($0)" }?.contains(#"the value is coded as "tags[]""#) == true)
    }
  }

  @Test func `a field is declared under its coding key, and the error names it`() async throws {
    try await withContainer(RenamedIssue.self) { issues, store in
      let error = await #expect(throws: ModelError.self) {
        try await issues.set(RenamedIssue(id: .remote("1"), title: "Leak"))
      }
      #expect(error?.code == .misdeclaredField)
      let text = try #require(error.map { "\($0)" })
      #expect(text.contains(#"\RenamedIssue.title is declared as "title""#))
      #expect(text.contains(#"the record has no such field; the value is coded as "name""#))
      // It is refused by whatever way it comes: plainly, and inside another model.
      #expect(throws: ModelError.self) {
        try store.write { try $0.set(RenamedIssue(id: .remote("1"), title: "Leak")) }
      }
      #expect(throws: ModelError.self) {
        try store.write {
          try $0.set(Board(issues: [RenamedIssue(id: .remote("1"), title: "Leak")]))
        }
      }
      #expect(try await store.read { try $0.count() } == 0)
    }
  }

  @Test func `a field without an index is compared too, and nil tells nothing`() async throws {
    try await withContainer(WrongNameIssue.self) { issues, _ in
      try await issues.set(WrongNameIssue(id: .remote("1"), due: nil))
      let error = await #expect(throws: ModelError.self) {
        try await issues.set(WrongNameIssue(id: .remote("2"), due: 5))
      }
      #expect(error?.field == "dueDate")
      #expect(error.map { "\($0)" }?.contains(#"the value is coded as "due""#) == true)
    }
  }

  @Test func `values that are equal by chance prove nothing`() async throws {
    try await withContainer(SwappedIssue.self) { issues, _ in
      try await issues.set(SwappedIssue(id: .remote("1"), isDone: false, isOld: false))
      try await issues.set(SwappedIssue(id: .remote("2"), isDone: true, isOld: true))
      let error = await #expect(throws: ModelError.self) {
        try await issues.set(SwappedIssue(id: .remote("3"), isDone: true, isOld: false))
      }
      #expect(error?.field == "isOld")
      #expect(error.map { "\($0)" }?.contains("another value") == true)
    }
  }

  /// Records that no type of this process has written: the first three queries of an entity type were
  /// silently wrong about them.
  @Test func `a query with a misdeclared field is refused for records of other writers`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.write { transaction in
      for number in 0..<10 {
        try transaction.set(
          TreeNode(
            "StoredIssue:\(number)", type: "StoredIssue",
            fields: ["id": .string("\(number)"), "name": "Leak", "due": .integer(5)]))
      }
    }
    let byTitle = Query(filter: \StoredIssue.title == "Leak")
    let error = #expect(throws: ModelError.self) {
      try store.read { try $0.find(byTitle) }
    }
    #expect(error?.code == .misdeclaredField)
    #expect(error?.field == "title")
    // Again and again, by whatever part of the query, and where it is explained.
    #expect(throws: ModelError.self) { try store.read { try $0.find(byTitle) } }
    #expect(throws: ModelError.self) {
      try store.read { try $0.find(Query<StoredIssue>(order: [.ascending(\.title)])) }
    }
    #expect(throws: ModelError.self) { try store.explain(byTitle) }
    // An index of it is not made.
    #expect(throws: ModelError.self) { try store.addIndexes(of: [StoredIssue.self]) }
    #expect(try store.read { try $0.indexes() } == [])
    // What does not speak of the field is answered.
    let found = try store.read { snapshot in
      try snapshot.find(Query(filter: \StoredIssue.due == 5)).count
    }
    #expect(found == 10)
  }

  @Test func `a field that a record lacks and the type gives a default is no mistake`() throws {
    let store = try ModelStore.temporary()
    defer { store.close() }
    try store.write {
      try $0.set(TreeNode("GrownIssue:1", type: "GrownIssue", fields: ["id": "1", "n": 3]))
    }
    func count(_ filter: Filter<GrownIssue>) throws -> Int {
      try store.read { try $0.find(Query(filter: filter)).count }
    }
    #expect(try count(\.rank == 7) == 1)
    #expect(try count(\.number == 3) == 1)
    #expect(try count(\.note == nil) == 1)
    try store.write { try $0.set(GrownIssue(id: .remote("2"), number: 4, rank: 8, note: "x")) }
    #expect(try count(\.note == "x") == 1)
  }

  @Test func `a key path alone is declared under the name of its property`() async throws {
    try await withContainer(PlainIssue.self) { issues, store in
      #expect(PlainIssue.fields.map(\.name) == ["title", "due", "place.city", "place.zip"])
      #expect(
        try await store.read { try $0.indexes() }.map(\.field) == ["place.city", "title"])
      try await issues.set(
        PlainIssue(id: .remote("1"), title: "Leak", place: .init(city: "Ulm", zip: 89073)))
      let found = try await issues.search(
        withQuery: Query(filter: \.place?.city == "Ulm" && \.title == "Leak"))
      #expect(found.count == 1)
    }
  }

  @Test func `a computed property has no name of its own`() async {
    await #expect(processExitsWith: .failure) {
      _ = Field<PlainIssue>.field(\.loudTitle)
    }
  }

  private func withContainer<E: PersistentEntity>(
    _ type: E.Type, _ body: (CoreManager<E>, ModelStore) async throws -> Void
  ) async throws {
    let store = try ModelStore.temporary()
    let container = try CoreManagerContainer(entities: type, diskStoreConfig: .store(store))
    try await body(container[type], store)
    await container.close()
    await store.close()
  }
}

private struct Person: Model, Codable, Equatable {
  var name: String
  var modelIdentifier: String? { "Person:\(name)" }
}

private struct ChildPathIssue: PersistentEntity {
  var id: EntityIdentifier<ChildPathIssue>
  var assignee: Person?
  static let fields: [Field<ChildPathIssue>] = [
    .indexed(\.assignee?.name, "assignee.nick")
  ]
}

private struct WholeListIssue: PersistentEntity {
  var id: EntityIdentifier<WholeListIssue>
  var tags: [String]
  static let fields: [Field<WholeListIssue>] = [.field(.each(\.tags), "tags")]
}

private struct WrongListIssue: PersistentEntity {
  var id: EntityIdentifier<WrongListIssue>
  var tags: [String]
  var words: [String]
  static let fields: [Field<WrongListIssue>] = [.indexed(.each(\.tags), "words[]")]
}

private struct RenamedIssue: PersistentEntity {
  var id: EntityIdentifier<RenamedIssue>
  var title: String
  static let fields: [Field<RenamedIssue>] = [.indexed(\.title, "title")]
  enum CodingKeys: String, CodingKey {
    case id
    case title = "name"
  }
}

private struct Board: Model, Codable, Equatable {
  var issues: [RenamedIssue]
  var modelIdentifier: String? { "Board" }
}

private struct WrongNameIssue: PersistentEntity {
  var id: EntityIdentifier<WrongNameIssue>
  var due: Int?
  static let fields: [Field<WrongNameIssue>] = [.field(\.due, "dueDate")]
}

private struct SwappedIssue: PersistentEntity {
  var id: EntityIdentifier<SwappedIssue>
  var isDone: Bool
  var isOld: Bool
  static let fields: [Field<SwappedIssue>] = [.field(\.isDone, "isOld")]
}

private struct StoredIssue: PersistentEntity {
  var id: EntityIdentifier<StoredIssue>
  var title: String
  var due: Int?
  static let fields: [Field<StoredIssue>] = [
    .indexed(\.title, "title"), .field(\.due, "due"),
  ]
  enum CodingKeys: String, CodingKey {
    case id, due
    case title = "name"
  }
}

private struct GrownIssue: PersistentEntity, SchemaVersioned {
  var id: EntityIdentifier<GrownIssue>
  var number: Int
  var rank: Int
  var note: String?
  static let fields: [Field<GrownIssue>] = [
    .indexed(\.number, "number"), .field(\.rank), .field(\.note),
  ]
  static let fieldDefaults: [String: any Encodable & Sendable] = ["rank": 7]
  static let formerFieldNames: [String: [String]] = ["number": ["n"]]
}

private struct PlainIssue: PersistentEntity {
  struct Place: Codable, Equatable {
    var city: String
    var zip: Int?
  }

  var id: EntityIdentifier<PlainIssue>
  var title: String
  var due: Date?
  var place: Place?
  var loudTitle: String { title.uppercased() }
  static let fields: [Field<PlainIssue>] = [
    .indexed(\.title), .field(\.due), .indexed(\.place?.city), .field(\.place?.zip),
  ]
}
