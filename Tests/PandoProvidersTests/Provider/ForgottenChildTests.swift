import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

/// A model whose `forEach` names a child that its `map` forgets.
@Suite struct ForgottenChildTests {
  private struct Portrait: Model, Codable, Equatable {
    var id: Int
    var sitter: Person
    var painter: Person?
    var modelIdentifier: String? { "Portrait:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> Portrait? {
      Portrait(id: id, sitter: sitter, painter: painter.flatMap { transform($0) as? Person })
    }

    func forEach(_ visit: (any Model) -> Void) {
      visit(sitter)
      if let painter { visit(painter) }
    }
  }

  /// The same, and it can't be coded.
  private struct Mirror: Model, Equatable {
    var id: Int
    var viewer: Person
    var modelIdentifier: String? { "Mirror:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> Mirror? { self }

    func forEach(_ visit: (any Model) -> Void) { visit(viewer) }
  }

  private static let ada = Person(id: 2, name: "Ada")
  private static let bob = Person(id: 2, name: "Bob")
  private static let eve = Person(id: 3, name: "Eve")
  private static let mia = Person(id: 3, name: "Mia")

  /// Changes what two providers show, and tells what was reported.
  private func change<T: SimpleModel>(
    _ manager: DataModelManager, from tree: T, _ body: (DataModelManager) -> PendingWrite
  ) async throws -> (shown: T?, listed: [T], mistakes: [String]) {
    let events = EventLog()
    manager.delegate = events
    let provider = DataProvider<T>(dataModelManager: manager)
    let list = CollectionDataProvider<T>(dataModelManager: manager)
    try await provider.setData(tree).committed()
    try await list.setData([tree], cacheKey: "trees").committed()
    try await body(manager).committed()
    await manager.drain()
    return (provider.data, list.data, events.descriptions)
  }

  @Test(arguments: Backing.allCases)
  func `a child that map leaves out is shown as it is now, and reported`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let (shown, listed, mistakes) = try await change(
        manager, from: Portrait(id: 1, sitter: Self.ada, painter: Self.eve)
      ) { $0.updateModel(Self.bob) }
      #expect(shown == Portrait(id: 1, sitter: Self.bob, painter: Self.eve))
      #expect(listed == [Portrait(id: 1, sitter: Self.bob, painter: Self.eve)])
      #expect(
        mistakes == [
          "Portrait \"Portrait:1\": `map` leaves out Person \"Person:2\", which `forEach` names; "
            + "it was replaced through the coding"
        ])
    }
  }

  @Test(arguments: Backing.allCases)
  func `a child that map leaves out is replaced beside one that it names`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let (shown, listed, mistakes) = try await change(
        manager, from: Portrait(id: 1, sitter: Self.ada, painter: Self.eve)
      ) { $0.updateModels([Self.bob, Self.mia]) }
      #expect(shown == Portrait(id: 1, sitter: Self.bob, painter: Self.mia))
      #expect(listed == [Portrait(id: 1, sitter: Self.bob, painter: Self.mia)])
      #expect(mistakes.count == 1)
    }
  }

  @Test(arguments: Backing.allCases)
  func `a tree goes with a required child that map leaves out`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let (shown, listed, mistakes) = try await change(
        manager, from: Portrait(id: 1, sitter: Self.ada)
      ) { $0.deleteModel(Self.ada) }
      #expect(shown == nil)
      #expect(listed == [])
      // A store says itself what goes with a node.
      #expect(mistakes.count == (backing.hasStore ? 0 : 1))
    }
  }

  @Test(arguments: [Backing.memory, .cache])
  func `a child that map leaves out and the coding can't replace is reported`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let fresh = (0..<8).map { _ in DataProvider<Person>(dataModelManager: manager) }
      for provider in fresh { try await provider.setData(Self.ada).committed() }
      let (shown, listed, mistakes) = try await change(
        manager, from: Mirror(id: 1, viewer: Self.ada)
      ) { $0.updateModel(Self.bob) }
      #expect(shown == Mirror(id: 1, viewer: Self.ada))
      #expect(listed == [Mirror(id: 1, viewer: Self.ada)])
      #expect(
        mistakes == [
          "Mirror \"Mirror:1\": `map` leaves out Person \"Person:2\", which `forEach` names; "
            + "it stays as it was"
        ])
      // What stays behind does not speak for the others.
      try await manager.updateModel(Self.ada).committed()
      #expect(fresh.allSatisfy { $0.data == Self.ada })
    }
  }

  @Test func `a consistency manager's own delegate gets the mistake too`() async {
    final class Delegate: ConsistencyManagerDelegate {
      let codes = Locked<[ConsistencyError.Code]>([])
      func consistencyManager(
        _ consistencyManager: ConsistencyManager, found mistake: ConsistencyError
      ) {
        codes.withLock { $0.append(mistake.code) }
      }
    }
    let manager = DataModelManager()
    let delegate = Delegate()
    manager.consistencyManager.delegate = delegate
    let provider = DataProvider<Portrait>(dataModelManager: manager)
    provider.setData(Portrait(id: 1, sitter: Self.ada))
    manager.updateModel(Self.bob)
    await manager.drain()
    // It is told on a queue of its own.
    await manager.consistencyManager.drain()
    #expect(delegate.codes.withLock { $0 } == [.childrenDisagree])
  }
}

extension EventLog {
  /// The text of each mistake.
  fileprivate var descriptions: [String] {
    events.compactMap { event in
      guard case .mistake(let mistake) = event else { return nil }
      return mistake.description
    }
  }
}
