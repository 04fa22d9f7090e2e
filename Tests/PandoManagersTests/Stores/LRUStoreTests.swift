import PandoFixtures
import PandoManagers
import Testing

@testable import PandoManagersFixtures

@Suite struct LRUStoreTests {
  private func note(_ key: String) -> Note { Note(id: .local(key), text: key) }

  @Test func `over the limit the one touched longest ago goes`() async throws {
    let inside = InMemoryStore<Note>()
    let store = LRUStore(store: inside, limit: 3)
    for key in ["a", "b", "c", "d"] { _ = try await store.set([note(key)], in: .local) }
    #expect(
      inside.entities(forIDs: ["a", "b", "c", "d"].map { .local($0) }).map(\.text) == [
        "b", "c", "d",
      ])
  }

  @Test(arguments: ["get", "search", "set"])
  func `getting, finding and setting an entity touches it`(how: String) async throws {
    let inside = InMemoryStore<Note>()
    let store = LRUStore(store: inside, limit: 3)
    for key in ["a", "b", "c"] { _ = try await store.set([note(key)], in: .local) }
    switch how {
    case "get": _ = try await store.get(withQuery: Query(ids: [.local("a")]), in: .local)
    case "search":
      _ = try await store.search(withQuery: Query(filter: \.id == .local("a")), in: .local)
    default: _ = try await store.set([note("a")], in: .local)
    }
    _ = try await store.set([note("d")], in: .local)
    let left = inside.entities(forIDs: ["a", "b", "c", "d"].map { .local($0) })
    #expect(left.map(\.text) == ["a", "c", "d"])
  }

  @Test func `a removed entity leaves room for another one`() async throws {
    let inside = InMemoryStore<Note>()
    let store = LRUStore(store: inside, limit: 2)
    _ = try await store.set([note("a"), note("b")], in: .local)
    try await store.remove([.local("a")], in: .local)
    _ = try await store.set([note("c")], in: .local)
    #expect(inside.count == 2)
    _ = try await store.removeAll(in: .local)
    _ = try await store.set([note("d"), note("e")], in: .local)
    #expect(inside.entities(forIDs: [.local("d"), .local("e")]).count == 2)
  }

  @Test func `a limit of zero keeps nothing`() async throws {
    let store = LRUStore(store: InMemoryStore<Note>(), limit: 0)
    let stored = try await store.set([note("a")], in: .local)
    #expect(stored == [note("a")])
    #expect(store.entities(forIDs: [.local("a")]).isEmpty)
  }

  @Test func `a negative limit stops the process`() async {
    await #expect(processExitsWith: .failure) {
      _ = LRUStore(store: InMemoryStore<Note>(), limit: -1)
    }
  }

  @Test(arguments: seeds(6))
  func `random uses match a list`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let inside = InMemoryStore<Note>()
    let store = LRUStore(store: inside, limit: 4)
    var expected: [String] = []
    for step in 0..<300 {
      let key = "\(Int.random(in: 0..<8, using: &random))"
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        let found = store.entities(forIDs: [.local(key)])
        #expect(found.isEmpty == !expected.contains(key))
        if !found.isEmpty { expected = expected.filter { $0 != key } + [key] }
      case 1:
        store.drop([.local(key)])
        expected.removeAll { $0 == key }
      default:
        _ = try await store.set([note(key)], in: .local)
        expected = (expected.filter { $0 != key } + [key]).suffix(4)
      }
      let left = inside.entities(forIDs: (0..<8).map { .local("\($0)") }).map(\.text)
      try #require(left == expected.sorted(), "seed \(seed), step \(step)")
    }
  }
}

extension Storing {
  fileprivate func removeAll(in context: WriteContext<E>) async throws -> [EntityIdentifier<E>] {
    try await removeAll(withQuery: .all, in: context)
  }
}
