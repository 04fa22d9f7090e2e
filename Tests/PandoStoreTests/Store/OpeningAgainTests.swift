import PandoFixtures
import PandoLMDB
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

/// Events and effects of opening a store.
@Suite struct OpeningAgainTests {
  private func withStore(_ body: (String) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    try body(directory.path)
  }

  @Test func `events from the time of opening reach the event handler`() throws {
    // Was: the slots of readers that had died were freed and nobody heard of it, because the
    // environment opens before the store that listens to it.
    try withStore { path in
      let relay = EventRelay()
      relay.receive(.staleReadersCleared(count: 3))
      let told = Locked<[String]>([])
      var configuration = ModelStore.Configuration.forTests
      configuration.events = { event in told.withLock { $0.append("\(event)") } }
      let core = try StoreCore(
        path: path, environment: Environment(path: path, configuration: .forTests),
        configuration: configuration)
      relay.connect(core)
      relay.receive(.mapGrown(sizeInBytes: 4096))
      #expect(told.value == ["staleReadersCleared(count: 3)", "mapGrown(sizeInBytes: 4096)"])
      #expect(core.currentCounters.staleReadersCleared == 3)
    }
  }

  @Test func `a store opens for reading when no record needs the migrations`() throws {
    // Was: refused, although there was nothing to migrate.
    try withStore { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      try store.write { try $0.set(Person(id: 1, name: "Ada")) }
      store.close()
      var configuration = ModelStore.Configuration.forTests
      configuration.isReadOnly = true
      configuration.migrations = [Migration(typeName: "Image", version: 1) { _ in }]
      let reader = try ModelStore(path: path, configuration: configuration)
      #expect(try reader.read { try $0.count() } == 1)
      reader.close()
      configuration.migrations = [Migration(typeName: "Person", version: 1) { _ in }]
      expectFailure(.migrationFailed, "open the store for writing once") {
        _ = try ModelStore(path: path, configuration: configuration)
      }
    }
  }

  @Test func `a migration whose result can't be stored names the node and the migration`() throws {
    // Was: the bare error of the encoder, without the name of what had failed.
    try withStore { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      try store.write { try $0.set(Person(id: 1, name: "Ada")) }
      store.close()
      var configuration = ModelStore.Configuration.forTests
      configuration.migrations = [
        Migration(typeName: "Person", version: 1) { node in
          node.fields = ["friend": .reference(identifier: "Person:2", typeName: "Person")]
        }
      ]
      expectFailure(.migrationFailed, "Person:1: the migration of Person to version 1 failed") {
        _ = try ModelStore(path: path, configuration: configuration)
      }
      let again = try ModelStore(path: path, configuration: .forTests)
      #expect(try again.read { try $0.get("Person:1", as: Person.self) }?.name == "Ada")
    }
  }

  @Test func `a migration changes the edges of its records`() throws {
    try withStore { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      let leaf = TreeNode("leaf", type: "Leaf")
      try store.write { transaction in
        try transaction.set(TreeNode("a", type: "Box", fields: ["x": .required(.node(leaf))]))
      }
      store.close()
      var configuration = ModelStore.Configuration.forTests
      configuration.migrations = [
        Migration(typeName: "Box", version: 2) { node in
          node.fields = ["y": .array([.node(TreeNode("other", type: "Leaf"))])]
        },
        Migration(typeName: "Box", version: 1) { node in
          #expect(node["x"] == .required(.reference(identifier: "leaf", typeName: "Leaf")))
          node.fields = ["x": .reference(identifier: "leaf", typeName: "Leaf")]
        },
      ]
      let again = try ModelStore(path: path, configuration: configuration)
      #expect(try again.read { try $0.parents(of: "leaf") } == [])
      #expect(try again.read { try $0.parents(of: "other") } == ["a"])
      #expect(
        try again.read { try $0.changes(since: CommitNumber(value: 1)) }.map(\.inserted) == [
          ["other"]
        ])
      #expect(try again.verify().problems == [])
      again.close()
      let third = try ModelStore(path: path, configuration: configuration)
      #expect(try third.read { try $0.commitNumber.value } == 2)
    }
  }
}
