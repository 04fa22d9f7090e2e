import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

/// Types that change: defaults, former names, migrations.
@Suite struct MigrationTests {
  private struct Stop: Error {}

  private static let rename = Migration(typeName: "Person", version: 1) { node in
    node["fullName"] = node["name"]
    node["name"] = nil
  }

  private static let count = Migration(typeName: "Person", version: 2) { node in
    node["letters"] = .integer(Int64(node["fullName"]?.stringValue?.count ?? -1))
  }

  private static let failing = Migration(typeName: "Person", version: 3) { node in
    if node.identifier == "p:2" { throw Stop() }
    node["name"] = nil
  }

  private static let renaming = Migration(typeName: "Person", version: 1) { node in
    node.identifier += "!"
  }

  private static let nesting = Migration(typeName: "Person", version: 1) { node in
    node["self"] = .reference(identifier: node.identifier, typeName: "Person")
  }

  private func open(
    _ path: String, _ migrations: [Migration],
    _ change: (inout ModelStore.Configuration) -> Void = { _ in }
  ) throws -> ModelStore {
    var configuration = ModelStore.Configuration.forTests
    configuration.migrations = migrations
    change(&configuration)
    return try ModelStore(path: path, configuration: configuration)
  }

  private func makeStore(_ path: String, count: Int = 3) throws {
    let store = try open(path, [])
    try store.write { transaction in
      for id in 0..<count {
        try transaction.set(
          TreeNode("p:\(id)", type: "Person", fields: ["name": .string("name \(id)")]))
      }
      try transaction.set(
        TreeNode(
          "team", type: "Team",
          fields: ["lead": .reference(identifier: "p:0", typeName: "Person")]))
    }
    store.close()
  }

  @Test func `migrations run once each, in the order of their versions`() throws {
    try withTemporaryDirectory { path in
      try makeStore(path)
      let store = try open(path, [Self.count, Self.rename])
      let tree = try store.read { try $0.tree("team") }
      #expect(tree?["lead"]?.nodeValue?.fields == ["fullName": "name 0", "letters": 6])
      let log = try store.read { try $0.changes(since: CommitNumber(value: 1)) }
      #expect(log.map { $0.updated.sorted() } == [["p:0", "p:1", "p:2"]])
      #expect(try store.verify().problems == [])
      try store.write { try $0.set(TreeNode("p:9", type: "Person", fields: ["name": "new"])) }
      store.close()
      let again = try open(path, [Self.rename, Self.count])
      defer { again.close() }
      #expect(try again.read { try $0.tree("p:9") }?.fields == ["name": "new"])
      #expect(try again.read { try $0.commitNumber.value } == 3)
    }
  }

  @Test func `a migration tells how far it has come`() throws {
    try withTemporaryDirectory { path in
      try makeStore(path, count: 2500)
      let told = Locked<[String]>([])
      let store = try open(path, [Self.rename]) { configuration in
        configuration.migrationProgress = { progress in
          told.withLock {
            $0.append(
              "\(progress.stage): "
                + "\(progress.completedCount) of \(progress.totalCount)")
          }
        }
      }
      defer { store.close() }
      #expect(
        told.value
          == [1000, 2000, 2500].map {
            "migration(typeName: \"Person\", version: 1): \($0) of 2500"
          })
      #expect(try store.verify().problems == [])
    }
  }

  private static let wrong: [(migration: Migration, text: String)] = [
    (failing, "p:2: the migration of Person to version 3 failed; the store is as it was: Stop()"),
    (renaming, "p:0: the migration of Person to version 1 changed the identifier or the type"),
    (nesting, "\"p:0\""),
  ]

  @Test(arguments: wrong.indices)
  func `a migration that fails leaves the store as it was`(index: Int) throws {
    try withTemporaryDirectory { path in
      try makeStore(path)
      #expect(
        try message(ofOpening: path, [Self.rename, Self.wrong[index].migration]).contains(
          Self.wrong[index].text))
      let store = try open(path, [])
      defer { store.close() }
      #expect(try store.read { try $0.tree("p:0") }?.fields == ["name": "name 0"])
      #expect(try store.read { try $0.commitNumber.value } == 1)
      #expect(try store.verify().problems == [])
    }
  }

  /// The error text of an opening that must fail; empty if it succeeds.
  private func message(ofOpening path: String, _ migrations: [Migration]) throws -> String {
    do {
      try open(path, migrations).close()
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test func `a store that needs a migration is not opened for reading`() throws {
    try withTemporaryDirectory { path in
      try makeStore(path)
      expectFailure(.migrationFailed, "Person: needs a migration to version 1") {
        _ = try open(path, [Self.rename]) { $0.isReadOnly = true }
      }
      try open(path, [Self.rename]).close()
      let reader = try open(path, [Self.rename]) { $0.isReadOnly = true }
      defer { reader.close() }
      #expect(try reader.read { try $0.tree("p:0") }?["fullName"] == "name 0")
    }
  }

  @Test func `a migration may bring in and take out children`() throws {
    try withTemporaryDirectory { path in
      try makeStore(path)
      let move = Migration(typeName: "Team", version: 1) { node in
        let badge = TreeNode("badge", type: "Badge", fields: ["n": 1])
        node.fields = ["badge": .required(.node(badge)), "old": node["lead"] ?? .null]
      }
      let store = try open(path, [move])
      defer { store.close() }
      #expect(try store.read { try $0.parents(of: "badge") } == ["team"])
      #expect(try store.write { try $0.deleteIfPresent("badge") }?.deleted == ["badge", "team"])
      #expect(try store.verify().problems == [])
    }
  }

  @Test func `old records read with defaults and former names`() throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    try store.write {
      try $0.set(TreeNode("Account:1", type: "Account", fields: ["id": 1, "mail": "a@b.c"]))
      try $0.set(TreeNode("Account:2", type: "Account", fields: ["id": 2, "role": "admin"]))
    }
    #expect(
      try store.read { try $0.get("Account:1", as: Account.self) }
        == Account(id: 1, address: "a@b.c", role: "guest", note: nil))
    expectFailure(model: .missingField, "Account \"Account:2\", field address") {
      _ = try store.read { try $0.get("Account:2", as: Account.self) }
    }
  }
}

/// A type that has changed since its first records were written.
private struct Account: Model, Codable, Equatable, SchemaVersioned {
  static let modelTypeName = "Account"
  static var fieldDefaults: [String: any Encodable & Sendable] { ["role": "guest"] }
  static var formerFieldNames: [String: [String]] { ["address": ["eMail", "mail"]] }
  var id: Int
  var address: String
  var role: String
  var note: String?
  var modelIdentifier: String? { "Account:\(id)" }
}
