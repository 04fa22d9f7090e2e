import PandoManagers
import PandoModels
import PandoStore
import Testing

@testable import PandoManagersFixtures

/// The behaviour of every local store, in memory and on disk.
@Suite struct LocalStoreTests {
  enum Kind: CaseIterable {
    case memory, leastRecentlyUsed, disk, cache, recoverable

    func make(_ store: ModelStore) -> any Storing<Book> {
      switch self {
      case .memory: InMemoryStore()
      case .leastRecentlyUsed: LRUStore(store: InMemoryStore(), limit: 100)
      case .disk: DiskStore(modelStore: store)
      case .cache:
        CacheStore(keyValueStore: InMemoryStore(), persistentStore: DiskStore(modelStore: store))
      case .recoverable:
        RecoverableStore(
          mainStore: DiskStore(modelStore: store), recoveryStore: InMemoryStore())
      }
    }
  }

  private func withLocalStore(
    _ kind: Kind, _ body: (any Storing<Book>) async throws -> Void
  ) async throws { try await withModelStore { try await body(kind.make($0)) } }

  @Test(arguments: Kind.allCases)
  func `entities that were set are there, by identifier and by query`(kind: Kind) async throws {
    try await withLocalStore(kind) { store in
      _ = try await store.set([Book("1", "A", year: 1), Book("2", "B", year: 2)], in: .local)
      let ids: [EntityIdentifier<Book>] = [.remote("2"), .remote("0"), .remote("1")]
      let got = try await store.get(withQuery: Query(ids: ids), in: .local)
      #expect(got.entities.map(\.title) == ["B", "A"])
      let found = try await store.search(withQuery: Query(filter: \.year > 1), in: .local)
      #expect(found.entities.map(\.title) == ["B"])
    }
  }

  @Test(arguments: Kind.allCases)
  func `natural order is the order of coming, and an update keeps the place`(kind: Kind)
    async throws
  {
    try await withLocalStore(kind) { store in
      for key in ["c", "a", "b"] { _ = try await store.set([Book(key, "1")], in: .local) }
      _ = try await store.set([Book("c", "2")], in: .local)
      let found = try await store.search(withQuery: .all, in: .local)
      #expect(found.entities.map(\.id) == [.remote("c"), .remote("a"), .remote("b")])
      #expect(found.first?.title == "2")
    }
  }

  @Test(arguments: Kind.allCases)
  func `removed entities are gone, and absent identifiers do no harm`(kind: Kind) async throws {
    try await withLocalStore(kind) { store in
      _ = try await store.set((1...4).map { (key: Int) in Book("\(key)", year: key) }, in: .local)
      try await store.remove([.remote("1"), .remote("9")], in: .local)
      let removed = try await store.removeAll(withQuery: Query(filter: \.year > 2), in: .local)
      #expect(removed == [.remote("3"), .remote("4")])
      let left = try await store.search(withQuery: .all, in: .local)
      #expect(left.entities.map(\.id) == [.remote("2")])
    }
  }

  @Test(arguments: Kind.allCases)
  func `a lazy value that was not requested keeps the one that is stored`(kind: Kind) async throws {
    try await withLocalStore(kind) { store in
      var book = Book("1", "A")
      book.summary = .requested("long")
      _ = try await store.set([book], in: .local)
      let stored = try await store.set([Book("1", "B")], in: .local)
      #expect(stored.first?.title == "B")
      #expect(stored.first?.summary == .requested("long"))
      let read = try await store.get(withQuery: Query(ids: [.remote("1")]), in: .local)
      #expect(read.entities == stored)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a query or an identifier that makes no sense is refused and changes nothing`(
    kind: Kind
  ) async throws {
    try await withLocalStore(kind) { store in
      _ = try await store.set([Book("1")], in: .local)
      await #expect(throws: QueryError.self) {
        try await store.search(withQuery: Query(limit: -1), in: .local)
      }
      await #expect(throws: QueryError.self) {
        try await store.removeAll(withQuery: Query(limit: -1), in: .local)
      }
      await #expect(throws: QueryError.self) {
        try await store.set([Book("2"), Book(id: .remote(""))], in: .local)
      }
      let left = try await store.search(withQuery: .all, in: .local)
      #expect(left.entities.map(\.id) == [.remote("1")])
    }
  }

  /// Order rule 1.
  @Test(arguments: Kind.allCases)
  func `a write that is older than what its identifier last saw changes nothing`(
    kind: Kind
  ) async throws {
    try await withLocalStore(kind) { store in
      let ordered = store.local
      _ = try await store.set([Book("1", "old"), Book("2", "old")], in: .local)
      let asOf = try await ordered.takeReadPlace()
      _ = try await store.set([Book("1", "new")], in: .local)
      let stored = try await store.set(
        [Book("1", "late"), Book("2", "in time")], in: .answer(asOf: asOf))
      #expect(stored.map(\.title) == ["new", "in time"])
      let read = try await store.search(withQuery: .all, in: .local)
      #expect(read.entities == stored)
    }
  }
}
