import PandoFixtures
import PandoLMDB
import PandoManagers
import PandoModels
import PandoProviders
import PandoStore
import Testing

@testable import PandoManagersFixtures

/// Entities, providers and persisted trees are one system.
@Suite struct ProvidersAndManagersTests {
  private func withContainer(
    _ body: (CoreManagerContainer, ModelStore) async throws -> Void
  ) async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Book.self, Shelf.self, diskStoreConfig: .store(store))
      try await body(container, store)
      await container.close()
    }
  }

  /// Waits until everything that is committed shows in providers.
  private func settle(_ container: CoreManagerContainer) async {
    await container.dataModelManager.drain()
  }

  @Test func `an entity set through a manager changes every provider and tree that holds it`()
    async throws
  {
    try await withContainer { container, store in
      let books = container[Book.self]
      let shelf = DataProvider<Shelf>(dataModelManager: container.dataModelManager)
      let book = DataProvider<Book>(dataModelManager: container.dataModelManager)
      _ = try await shelf.setData(
        Shelf(id: .local("s"), books: [Book("1", "A"), Book("2", "B")])
      ).committed()
      _ = try await book.setData(Book("1", "A")).committed()
      try await books.set(Book("1", "C"))
      await settle(container)
      #expect(shelf.data?.books.map(\.title) == ["C", "B"])
      #expect(book.data?.title == "C")
      let stored = try await store.read { try $0.get("Shelf:local:s", as: Shelf.self) }
      #expect(stored?.books.map(\.title) == ["C", "B"])
      try await books.remove(atID: .remote("1"))
      await settle(container)
      #expect(shelf.data?.books.map(\.title) == ["B"])
      #expect(book.data == nil)
    }
  }

  @Test func `managers read the value that a provider sets, also as a child`() async throws {
    try await withContainer { container, _ in
      let books = container[Book.self]
      let shelves = container[Shelf.self]
      try await shelves.set(Shelf(id: .local("s"), books: [Book("1", "A")]))
      // In memory now.
      _ = try await books.get(byID: .remote("1"))
      _ = try await shelves.get(byID: .local("s"))
      let provider = DataProvider<Book>(dataModelManager: container.dataModelManager)
      _ = try await provider.setData(Book("1", "B")).committed()
      let book = try await books.get(byID: .remote("1"))
      let shelf = try await shelves.get(byID: .local("s"))
      #expect(book?.title == "B")
      #expect(shelf?.books.map(\.title) == ["B"])
      let found = try await books.search(withQuery: Query(filter: \.title == "B"))
      #expect(found.count == 1)
      container.dataModelManager.deleteModel(Book("1"))
      await settle(container)
      let gone = try await books.get(byID: .remote("1"))
      let shorter = try await shelves.get(byID: .local("s"))
      #expect(gone == nil)
      #expect(shorter?.books.isEmpty == true)
    }
  }

  @Test func `a manager sees at once what another process has committed`() async throws {
    try await withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration()
      configuration.mapSizeInBytes = 64 << 20
      let container = try CoreManagerContainer(
        entities: Person.self, diskStoreConfig: .path(path, configuration: configuration))
      let people = container[Person.self]
      try await people.set(Person(id: .remote(1), name: "Ada", isOnline: false))
      // In memory now.
      _ = try await people.get(byID: .remote(1))
      let other = try OtherProcess(path)
      try other.perform("set 1 Grace")
      let changed = try await people.get(byID: .remote(1))
      #expect(changed?.name == "Grace")
      try other.perform("delete 1")
      let gone = try await people.get(byID: .remote(1))
      #expect(gone == nil)
      other.end()
      await container.close()
    }
  }
}

/// As the other process writes it.
private struct Person: PersistentEntity {
  typealias RemoteID = Int
  static let modelTypeName = "Person"
  var id: EntityIdentifier<Person>
  var name: String
  var isOnline: Bool
}
