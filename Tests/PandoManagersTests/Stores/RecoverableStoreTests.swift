import PandoManagers
import PandoModels
import PandoSystem
import Testing

@testable import PandoManagersFixtures

@Suite struct RecoverableStoreTests {
  private struct Pair {
    let main: ScriptedStore<Book>
    let recovery: ScriptedStore<Book>
    let store: RecoverableStore<Book>
    let events = Locked<[ManagerEvent.Kind]>([])

    init(main: [Book], recovery: [Book]) {
      self.main = ScriptedStore(.disk, main)
      self.recovery = ScriptedStore(.disk, recovery)
      store = RecoverableStore(mainStore: self.main, recoveryStore: self.recovery) {
        [events] event in events.withLock { $0.append(event.kind) }
      }
    }

    func titles() async throws -> [String] {
      try await store.search(withQuery: .all, in: .local).entities.map(\.title)
    }
  }

  @Test func `an empty main store is filled from the recovery store`() async throws {
    let pair = Pair(main: [], recovery: [Book("1", "A")])
    #expect(try await pair.titles() == ["A"])
    #expect(pair.main.entities == [Book("1", "A")])
  }

  @Test func `a main store that has something fills the recovery store`() async throws {
    let pair = Pair(main: [Book("1", "A")], recovery: [Book("1", "old"), Book("2", "gone")])
    #expect(try await pair.titles() == ["A"])
    #expect(pair.recovery.entities == [Book("1", "A")])
  }

  @Test func `a main store that fails at first is filled from the recovery store`() async throws {
    let main = FailsOnce(ScriptedStore<Book>(.disk))
    let store = RecoverableStore(
      mainStore: main, recoveryStore: ScriptedStore(.disk, [Book("1", "A")]))
    #expect(try await store.search(withQuery: .all, in: .local).first?.title == "A")
    #expect(main.store.entities.count == 1)
  }

  @Test func `writes and removals reach both, reads come from the main store`() async throws {
    let pair = Pair(main: [Book("1", "A")], recovery: [])
    _ = try await pair.store.set([Book("2", "B")], in: .local)
    #expect(pair.recovery.entities.map(\.title) == ["A", "B"])
    try await pair.store.remove([.remote("1")], in: .local)
    _ = try await pair.store.removeAll(withQuery: Query(filter: \.id == .remote("2")), in: .local)
    #expect(pair.main.entities.isEmpty)
    #expect(pair.recovery.entities.isEmpty)
    pair.recovery.entities = [Book("3")]
    #expect(try await pair.titles().isEmpty)
  }

  @Test func `errors of the recovery store are reported and hinder no call`() async throws {
    let pair = Pair(main: [Book("1", "A")], recovery: [])
    pair.recovery.fail(.refused)
    #expect(try await pair.titles() == ["A"])
    _ = try await pair.store.set([Book("2", "B")], in: .local)
    #expect(try await pair.titles() == ["A", "B"])
    #expect(pair.events.withLock { $0 } == [.failedRecovery, .failedRecovery])
  }

  @Test func `a main store that goes on failing is an error, and nothing is lost`() async throws {
    let pair = Pair(main: [], recovery: [Book("1", "A")])
    pair.main.fail(.broken("disk"))
    await #expect(throws: TestFailure.broken("disk")) { try await pair.titles() }
    pair.main.fail(nil)
    #expect(try await pair.titles() == ["A"])
  }

  @Test func `changes that the recovery store has missed come with its next write`()
    async throws
  {
    let pair = Pair(main: [Book("1", "A"), Book("2", "B")], recovery: [Book("9", "gone")])
    pair.recovery.fail(.refused)
    _ = try await pair.store.set([Book("3", "C")], in: .local)
    try await pair.store.remove([.remote("1")], in: .local)
    #expect(pair.recovery.entities == [Book("9", "gone")])
    pair.recovery.fail(nil)
    _ = try await pair.store.set([Book("4", "D")], in: .local)
    #expect(pair.main.entities.map(\.title) == ["B", "C", "D"])
    #expect(Set(pair.recovery.entities.map(\.title)) == ["B", "C", "D"])
  }

  @Test func `a recovery store that can't be read at first is read later`() async throws {
    let pair = Pair(main: [], recovery: [Book("1", "A"), Book("2", "B"), Book("3", "C")])
    pair.recovery.fail(.refused)
    #expect(try await pair.titles() == [])
    _ = try await pair.store.set([Book("2", "newer"), Book("4", "D")], in: .local)
    try await pair.store.remove([.remote("3")], in: .local)
    #expect(try await pair.titles() == ["newer", "D"])
    pair.recovery.fail(nil)
    #expect(try await pair.titles() == ["newer", "D", "A"])
    _ = try await pair.store.set([Book("5", "E")], in: .local)
    #expect(Set(pair.recovery.entities.map(\.title)) == ["A", "newer", "D", "E"])
  }

  @Test func `a main store that fails at first fills an empty recovery store later`() async throws {
    let main = FailsOnce(ScriptedStore<Book>(.disk, [Book("1", "A")]))
    let recovery = ScriptedStore<Book>(.disk)
    let store = RecoverableStore(mainStore: main, recoveryStore: recovery)
    #expect(try await store.search(withQuery: .all, in: .local).first?.title == "A")
    _ = try await store.set([Book("2", "B")], in: .local)
    #expect(recovery.entities.map(\.title) == ["A", "B"])
  }

  @Test func `a followed query or graph shows recovered entities`() async throws {
    let recovery = ScriptedStore<Book>(.disk, [Book("1", "A")])
    try await withModelStore { model in
      let manager = CoreManager<Book>(stores: [
        RecoverableStore(mainStore: DiskStore(modelStore: model), recoveryStore: recovery)
      ])
      var results = manager.followAll().makeAsyncIterator()
      let result = try await results.next()
      #expect(result?.entities.map(\.title) == ["A"])
    }
    try await withModelStore { model in
      let manager = CoreManager<Book>(stores: [
        InMemoryStore(),
        RecoverableStore(mainStore: DiskStore(modelStore: model), recoveryStore: recovery),
      ])
      let graph = try await manager.graph()
      #expect(graph.roots.map(\.title) == ["A"])
    }
    try await withModelStore { model in
      let manager = CoreManager<Book>(stores: [
        RecoverableStore(mainStore: DiskStore(modelStore: model), recoveryStore: recovery)
      ])
      var graphs = manager.followGraph().makeAsyncIterator()
      #expect(try await graphs.next()?.roots.map(\.title) == ["A"])
      try await manager.set(Book("2", "B"))
      #expect(try await graphs.next()?.roots.map(\.title) == ["A", "B"])
      #expect(recovery.entities.map(\.title) == ["A", "B"])
    }
  }

  @Test func `a main store in memory can be followed`() async throws {
    let manager = CoreManager<Note>(stores: [
      RecoverableStore(
        mainStore: InMemoryStore<Note>(),
        recoveryStore: ScriptedStore(.disk, [Note(id: .local("a"), text: "kept")]))
    ])
    var results = manager.followAll().makeAsyncIterator()
    #expect(try await results.next()?.entities.map(\.text) == ["kept"])
    try await manager.set(Note(id: .local("a"), text: "new"))
    #expect(try await results.next()?.entities.map(\.text) == ["new"])
  }
}

/// A store whose first search fails.
private final class FailsOnce: Storing {
  let store: ScriptedStore<Book>
  private let hasFailed = Locked(false)
  var level: StoreLevel { .disk }

  init(_ store: ScriptedStore<Book>) { self.store = store }

  func get(
    withQuery query: Query<Book>, in context: ReadContext<Book>
  ) async throws -> QueryResult<Book> { try await store.get(withQuery: query, in: context) }

  func search(
    withQuery query: Query<Book>, in context: ReadContext<Book>
  ) async throws -> QueryResult<Book> {
    let fails = hasFailed.withLock { hasFailed in
      defer { hasFailed = true }
      return !hasFailed
    }
    if fails { throw TestFailure.broken("not mounted") }
    return try await store.search(withQuery: query, in: context)
  }

  func set(_ entities: [Book], in context: WriteContext<Book>) async throws -> [Book] {
    try await store.set(entities, in: context)
  }

  func remove(
    _ identifiers: [EntityIdentifier<Book>], in context: WriteContext<Book>
  ) async throws { try await store.remove(identifiers, in: context) }

  func removeAll(
    withQuery query: Query<Book>, in context: WriteContext<Book>
  ) async throws -> [EntityIdentifier<Book>] {
    try await store.removeAll(withQuery: query, in: context)
  }
}
