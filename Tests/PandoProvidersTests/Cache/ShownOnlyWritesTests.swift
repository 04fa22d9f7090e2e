import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Data set with `updateCache: false` over a store, and writes and fetches beside them.
@Suite struct ShownOnlyWritesTests {
  private struct Shelf: Model, Codable, Equatable {
    var name: String
    var books: [Contact]
    var modelIdentifier: String? { "Shelf:1" }
  }

  /// Contacts 1 and 2 in a provider, a tree and a list.
  private struct Views {
    static let stored = [Contact(1, "stored"), Contact(2)]

    let store: ModelStore
    let manager: DataModelManager
    let item: DataProvider<Contact>
    let shelf: DataProvider<Shelf>
    let list: CollectionDataProvider<Contact>

    init(_ store: ModelStore) async throws {
      self.store = store
      manager = try DataModelManager(store: store)
      item = DataProvider(dataModelManager: manager)
      shelf = DataProvider(dataModelManager: manager)
      list = CollectionDataProvider(dataModelManager: manager)
      try await item.setData(Self.stored[0]).committed()
      try await shelf.setData(Shelf(name: "a", books: Self.stored)).committed()
      try await list.setData(Self.stored, cacheKey: "c").committed()
    }

    /// The names under which contact 1 is shown: by its provider, in the tree, in the list.
    var shown: [[String]] {
      manager.snapshot { snapshot in
        let shown = [
          snapshot.data(of: item).map { [$0] } ?? [], snapshot.data(of: shelf)?.books ?? [],
          snapshot.data(of: list),
        ]
        return shown.map { $0.filter { $0.id == 1 }.map(\.name) }
      }
    }

    @discardableResult
    func setInMemory(_ name: String = "live") -> PendingWrite {
      manager.updateModel(Contact(1, name), updateCache: false)
    }
  }

  private func withViews(_ body: (Views) async throws -> Void) async throws {
    try await withStore { store in
      let views = try await Views(store)
      try await body(views)
      await views.manager.close()
    }
  }

  private func everywhere(_ name: String) -> [[String]] { Array(repeating: [name], count: 3) }

  /// A write that no given model says all of.
  private static func mix(_ transaction: inout ModelTransaction) throws {
    try transaction.deleteIfPresent("Contact:2")
    try transaction.set(Contact(2, "mixed"))
  }

  @Test func `a write that has to be read leaves it as it is in all views`() async throws {
    try await withViews { views in
      try await views.setInMemory().committed()
      try await views.store.write { try Self.mix(&$0) }
      #expect(views.item.data == Contact(1, "live"))
      #expect(views.shown == everywhere("live"))
    }
  }

  @Test func `a fetch shows the value in memory`() async throws {
    try await withViews { views in
      try await views.setInMemory().committed()
      let item = DataProvider<Contact>(dataModelManager: views.manager)
      try await item.fetchDataFromCache(withCacheKey: "Contact:1")
      let shelf = DataProvider<Shelf>(dataModelManager: views.manager)
      try await shelf.fetchDataFromCache(withCacheKey: "Shelf:1")
      #expect(item.data == Contact(1, "live"))
      #expect(shelf.data?.books == [Contact(1, "live"), Contact(2)])
    }
  }

  @Test func `a later write counts that stores what is stored already`() async throws {
    try await withViews { views in
      try await views.setInMemory().committed()
      try await views.store.write { try $0.set(Contact(1, "stored")) }
      #expect(views.shown == everywhere("stored"))
    }
  }

  @Test func `so does an untyped tree, a merge and a list`() async throws {
    try await withViews { views in
      try await views.setInMemory().committed()
      let tree = try await views.store.read { try $0.tree("Contact:1") }
      try await views.store.write { try $0.set(#require(tree)) }
      #expect(views.shown == everywhere("stored"))
      try await views.setInMemory().committed()
      try await views.store.write { try $0.merge(Contact(1, "stored")) }
      #expect(views.shown == everywhere("stored"))
      try await views.setInMemory().committed()
      try await views.store.write { try $0.setCollection("c", to: Views.stored) }
      #expect(views.shown == everywhere("stored"))
    }
  }

  @Test func `in a group a later write counts that stores what is stored already`() async throws {
    try await withViews { views in
      let gate = Gate(stopping: views.manager)
      views.setInMemory()
      try views.store.writeAndWait { try $0.set(Contact(1, "stored")) }
      try views.store.writeAndWait { try Self.mix(&$0) }
      gate.open()
      await views.manager.drain()
      #expect(views.shown == everywhere("stored"))
    }
  }

  /// What the deletion has taken stayed away.
  @Test func `in a group a set counts that stores what is stored, behind a deletion in memory`()
    async throws
  {
    try await withViews { views in
      let gate = Gate(stopping: views.manager)
      try views.store.writeAndWait { try Self.mix(&$0) }
      views.manager.deleteModel(Contact(1), updateCache: false)
      views.manager.updateModel(Contact(1, "stored"))
      try views.store.writeAndWait { try $0.set(Contact(7)) }
      gate.open()
      await views.manager.drain()
      #expect(views.item.data == Contact(1, "stored"))
      #expect(views.shown[2].isEmpty)
    }
  }

  @Test(arguments: [false, true])
  func `a later set of a tree counts for the nodes in it`(ofProvider: Bool) async throws {
    try await withViews { views in
      let gate = Gate(stopping: views.manager)
      try views.store.writeAndWait { try Self.mix(&$0) }
      views.setInMemory()
      let shelf = Shelf(name: "b", books: Views.stored)
      if ofProvider { views.shelf.setData(shelf) } else { views.manager.updateModel(shelf) }
      try views.store.writeAndWait { _ in }
      gate.open()
      await views.manager.drain()
      #expect(views.shelf.data?.name == "b")
      #expect(views.shown == everywhere("stored"))
    }
  }

  @Test func `a later set of a list counts for its elements`() async throws {
    try await withViews { views in
      let gate = Gate(stopping: views.manager)
      try views.store.writeAndWait { try Self.mix(&$0) }
      views.setInMemory()
      views.list.setData([Contact(2), Contact(1, "stored")], cacheKey: "c")
      try views.store.writeAndWait { _ in }
      gate.open()
      await views.manager.drain()
      #expect(views.shown == everywhere("stored"))
    }
  }

  /// A change of contact 1.
  private enum Change: CaseIterable {
    case rowInMemory, newRowInMemory, inMemory, newRow, write

    func make(_ name: String, _ views: Views) throws {
      let new = Contact(1, name)
      switch self {
      case .rowInMemory:
        guard let row = views.list.data.firstIndex(where: { $0.id == 1 }) else { return }
        views.list.update(new, at: row, updateCache: false)
      case .newRowInMemory: views.list.append([new], updateCache: false)
      case .inMemory: views.setInMemory(name)
      case .newRow: views.list.append([new])
      case .write: try views.store.writeAndWait { try $0.set(new) }
      }
    }
  }

  @Test(arguments: Change.allCases)
  private func `of three changes in a group all views show the last`(first: Change) async throws {
    for second in Change.allCases {
      for third in Change.allCases {
        try await withViews { views in
          let gate = Gate(stopping: views.manager)
          try views.store.writeAndWait { try Self.mix(&$0) }
          for (name, change) in zip(["1", "2", "3"], [first, second, third]) {
            try change.make(name, views)
          }
          try views.store.writeAndWait { _ in }
          gate.open()
          await views.manager.drain()
          for shown in views.shown {
            #expect(Set(shown) == ["3"], "\(first), \(second), \(third)")
          }
        }
      }
    }
  }

  /// Live trees did not contain the node before the group, so the write was not read.
  @Test func `in a group a later write counts for what only a new row shows`() async throws {
    try await withViews { views in
      try await views.store.write { try $0.set(Contact(5, "stored")) }
      let gate = Gate(stopping: views.manager)
      try views.store.writeAndWait { try Self.mix(&$0) }
      views.list.append([Contact(5, "live")], updateCache: false)
      try views.store.writeAndWait { try $0.set(Contact(5, "stored")) }
      try views.store.writeAndWait { try $0.set(Contact(7)) }
      gate.open()
      await views.manager.drain()
      #expect(views.list.data.last == Contact(5, "stored"))
    }
  }

  @Test func `a deletion by name takes it away, though it was never stored`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let item = DataProvider<Contact>(dataModelManager: manager)
      try await item.setData(Contact(1), updateCache: false).committed()
      try await store.write { try $0.deleteIfPresent("Contact:1") }
      #expect(item.data == nil)
      await manager.close()
    }
  }

  @Test(arguments: [false, true])
  func `in a group a deletion by name takes it away where it is the last`(isLast: Bool) async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let item = DataProvider<Contact>(dataModelManager: manager)
      let other = DataProvider<Contact>(dataModelManager: manager)
      try await other.setData(Contact(2)).committed()
      let gate = Gate(stopping: manager)
      item.setData(Contact(1), updateCache: false)
      try store.writeAndWait { try $0.deleteIfPresent("Contact:1") }
      if !isLast { item.setData(Contact(1, "again"), updateCache: false) }
      try store.writeAndWait { try Self.mix(&$0) }
      gate.open()
      await manager.drain()
      #expect(other.data == Contact(2, "mixed"))
      #expect(item.data == (isLast ? nil : Contact(1, "again")))
      await manager.close()
    }
  }
}

extension ModelStore {
  /// The blocking form, which does not wait for live trees.
  fileprivate func writeAndWait(
    _ body: @Sendable (inout ModelTransaction) throws -> Void
  ) throws { try write(body) }
}
