import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Writes that name nodes which the store has already, and live trees show otherwise.
@Suite struct NamedNodesTests {
  private struct Shelf: Model, Codable, Equatable {
    var id: Int
    var title: String
    var books: [Contact]
    var modelIdentifier: String? { "Shelf:\(id)" }
  }

  /// Views of contact 1, after it was stored as "stored" and set to "live" in memory.
  private func withViews(
    _ body: (ModelStore, DataModelManager, () -> Set<String>) async throws -> Void
  ) async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let contact = DataProvider<Contact>(dataModelManager: manager)
      let shelf = DataProvider<Shelf>(dataModelManager: manager)
      let list = CollectionDataProvider<Contact>(dataModelManager: manager)
      let stored = [Contact(1, "stored"), Contact(2)]
      try await contact.setData(stored[0]).committed()
      try await shelf.setData(Shelf(id: 1, title: "a", books: stored)).committed()
      try await list.setData(stored, cacheKey: "c").committed()
      try await manager.updateModel(Contact(1, "live"), updateCache: false).committed()
      let shown: () -> Set<String> = {
        manager.snapshot { snapshot in
          var names = Set<String>()
          let roots = [snapshot.data(of: contact)].compactMap { $0 }
          let inside = snapshot.data(of: shelf)?.books ?? []
          for model in roots + inside + snapshot.data(of: list) where model.id == 1 {
            names.insert(model.name)
          }
          return names
        }
      }
      #expect(shown() == ["live"])
      try await body(store, manager, shown)
      await manager.close()
    }
  }

  @Test func `a tree that is set counts for all nodes in it, also those that are stored so`()
    async throws
  {
    try await withViews { store, _, shown in
      let books = [Contact(1, "stored"), Contact(2)]
      try await store.write { try $0.set(Shelf(id: 1, title: "b", books: books)) }
      #expect(shown() == ["stored"])
    }
  }

  @Test func `a list that is set counts for all its elements, also those that are stored so`()
    async throws
  {
    try await withViews { store, _, shown in
      try await store.write {
        try $0.setCollection("c", to: [Contact(2), Contact(1, "stored")])
      }
      #expect(shown() == ["stored"])
    }
  }

  @Test func `a node that a write does not name stays as it is shown`() async throws {
    try await withViews { store, _, shown in
      try await store.write { try $0.set(Contact(2, "other")) }
      #expect(shown() == ["live"])
    }
  }
}
