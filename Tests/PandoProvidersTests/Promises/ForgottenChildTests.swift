import PandoProviders
import PandoModels
import PandoStore
import PandoFixtures
import Testing

/// A model whose `forEach` names a child that its `map` forgets.
@Suite struct ForgottenChildTests {
  private struct Portrait: Model, Codable, Equatable {
    var id: Int
    var sitter: Person
    var modelIdentifier: String? { "Portrait:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> Portrait? { self }

    func forEach(_ visit: (any Model) -> Void) { visit(sitter) }
  }

  /// A change of the child, and how many mistakes were reported of it.
  private func change(
    _ manager: DataModelManager
  ) async throws -> (shown: Portrait?, mistakes: Int) {
    let events = EventLog()
    manager.delegate = events
    let provider = DataProvider<Portrait>(dataModelManager: manager)
    try await provider.setData(Portrait(id: 1, sitter: Person(id: 2, name: "Ada"))).committed()
    try await manager.updateModel(Person(id: 2, name: "Bob")).committed()
    await manager.drain()
    return (provider.data, events.mistakes)
  }

  @Test(arguments: [Backing.memory, .cache])
  func `a child that map forgets is reported`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let mistakes = try await change(manager).mistakes
      withKnownIssue("nobody compares what map and forEach name") {
        #expect(mistakes > 0)
      }
    }
  }

  @Test func `over a store a tree shows a child that map forgets as it is stored`() async throws {
    try await Backing.store.withManager { manager in
      let shown = try await change(manager).shown
      withKnownIssue("the tree stays as map leaves it") {
        #expect(shown == Portrait(id: 1, sitter: Person(id: 2, name: "Bob")))
      }
    }
  }
}
