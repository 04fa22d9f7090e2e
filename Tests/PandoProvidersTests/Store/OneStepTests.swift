import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

/// A commit, or a change in memory, is shown by all live views in one step.
@Suite struct OneStepTests {
  private static let updateCount = 250

  /// Views of contact 1 in one manager.
  private struct Views {
    let tree: DataProvider<Contact>
    let around: DataProvider<Team>
    let list: CollectionDataProvider<Contact>

    init(_ manager: DataModelManager) async throws {
      tree = DataProvider(dataModelManager: manager)
      around = DataProvider(dataModelManager: manager)
      list = CollectionDataProvider(dataModelManager: manager)
      try await tree.setData(Contact(1)).committed()
      try await around.setData(
        Team(id: 1, lead: Contact(1), helper: Contact(2), members: Contact.list(3, 1))
      ).committed()
      try await list.setData(Contact.list(2, 1), cacheKey: "contacts").committed()
      await manager.drain()
    }

    /// The names that they show.
    var names: Set<String?> {
      [tree.data?.name, around.data?.lead.name, around.data?.members.last?.name, list.data[1].name]
    }

    /// The names that they show at one moment.
    func names(in snapshot: borrowing ProviderSnapshot) -> Set<String?> {
      let team = snapshot.data(of: around)
      return [
        snapshot.data(of: tree)?.name, team?.lead.name, team?.members.last?.name,
        snapshot.data(of: list)[1].name,
      ]
    }
  }

  /// Takes a snapshot at each call.
  private final class Watcher: DataProviderDelegate {
    private let views: Views
    private let manager: DataModelManager
    private let torn = Locked((count: 0, calls: 0))

    init(_ views: Views, _ manager: DataModelManager) {
      self.views = views
      self.manager = manager
    }

    var seen: (count: Int, calls: Int) { torn.withLock { $0 } }

    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: (any Sendable)?) {
      let names = manager.snapshot { views.names(in: $0) }
      torn.withLock { torn in
        torn.calls += 1
        if names.count != 1 { torn.count += 1 }
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func `in any snapshot trees and lists show a node alike`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let views = try await Views(manager)
      var torn = 0
      for number in 0..<Self.updateCount {
        manager.updateModel(Contact(1, "\(number)"))
        if manager.snapshot({ views.names(in: $0) }).count != 1 { torn += 1 }
      }
      #expect(torn == 0)
      await manager.drain()
      #expect(views.names == ["\(Self.updateCount - 1)"])
    }
  }

  @Test(arguments: Backing.allCases)
  func `in a snapshot in a callback trees and lists show a node alike`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let views = try await Views(manager)
      let watcher = Watcher(views, manager)
      views.tree.delegate = watcher
      views.around.delegate = watcher
      for number in 0..<Self.updateCount { manager.updateModel(Contact(1, "\(number)")) }
      await manager.drain()
      #expect(watcher.seen.calls == 2 * Self.updateCount)
      #expect(watcher.seen.count == 0)
    }
  }

  @Test func `in a snapshot the providers of all managers of a store show a node alike`()
    async throws
  {
    try await withStore { store in
      let managers = [try DataModelManager(store: store), try DataModelManager(store: store)]
      let (first, second) = (try await Views(managers[0]), try await Views(managers[1]))
      var torn = 0
      for number in 0..<Self.updateCount {
        let write = managers[number % 2].updateModel(Contact(1, "\(number)"))
        for _ in 0..<20 {
          let names = managers[0].snapshot { first.names(in: $0).union(second.names(in: $0)) }
          if names.count != 1 { torn += 1 }
        }
        try await write.committed()
      }
      #expect(torn == 0)
      for manager in managers { await manager.close() }
    }
  }

  /// A write of contact 1 that is awaited.
  enum Write: CaseIterable, Sendable {
    case update, set, edit, storeWrite
  }

  /// How many writes are made until views of a manager show something else than what was just written;
  /// `nil` if they never do.
  private func writesUntilStale(
    _ write: Write, viewsOf place: Int, among count: Int
  ) async throws -> Int? {
    try await withStore { store in
      let managers = [try DataModelManager(store: store), try DataModelManager(store: store)]
      let views = [try await Views(managers[0]), try await Views(managers[1])]
      let writer = DataProvider<Contact>(dataModelManager: managers[0])
      var found: Int?
      for number in 0..<count where found == nil {
        let contact = Contact(1, "\(number)")
        switch write {
        case .update: try await managers[0].updateModel(contact).committed()
        case .set: try await writer.setData(contact).committed()
        case .edit: try await views[0].list.update(contact, at: 1).committed()
        case .storeWrite: try await store.write { try $0.set(contact) }
        }
        if views[place].names != [contact.name] { found = number }
      }
      for manager in managers { await manager.close() }
      return found
    }
  }

  @Test(arguments: [Write.update, .set, .edit])
  func `after an awaited write no view of its manager is behind`(write: Write) async throws {
    let found = try await writesUntilStale(write, viewsOf: 0, among: 200)
    #expect(found == nil)
  }

  @Test(arguments: Write.allCases)
  func `after an awaited write no view of another manager is behind`(write: Write) async throws {
    let found = try await writesUntilStale(write, viewsOf: 1, among: 1_000)
    #expect(found == nil)
  }
}
