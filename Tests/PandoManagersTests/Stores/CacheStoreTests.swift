import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import Testing

@testable import PandoManagersFixtures

@Suite struct CacheStoreTests {
  private struct Cache {
    let memory = InMemoryStore<Book>()
    let disk: ScriptedStore<Book>
    let store: CacheStore<Book>

    init(_ books: [Book] = []) {
      disk = ScriptedStore(.disk, books)
      store = CacheStore(keyValueStore: memory, persistentStore: disk)
    }
  }

  @Test
  func
    `a read by identifiers comes from memory if all are there, else from disk, and fills memory`()
    async throws
  {
    let cache = Cache([Book("1", "A"), Book("2", "B")])
    let query = Query<Book>(ids: [.remote("1"), .remote("2")])
    let first = try await cache.store.get(withQuery: query, in: .local)
    #expect(first.entities.map(\.title) == ["A", "B"])
    #expect(cache.disk.calls == ["get"])
    #expect(cache.memory.count == 2)
    let second = try await cache.store.get(withQuery: query, in: .local)
    #expect(second == first)
    #expect(cache.disk.calls == ["get"])
    cache.memory.drop([.remote("1")])
    _ = try await cache.store.get(withQuery: query, in: .local)
    #expect(cache.disk.calls == ["get", "get"])
  }

  /// Whether a cache stands before the store of a service's own.
  @Test(arguments: [false, true])
  func `an answer without an entity removes it from a store of a service's own`(
    hasCache: Bool
  ) async throws {
    let own = ScriptedStore(.disk, [Book("1", "A"), Book("2", "B")])
    let store: any Storing<Book> =
      hasCache ? CacheStore(keyValueStore: InMemoryStore(), persistentStore: own) : own
    let books = CoreManager<Book>(stores: [store, ScriptedStore(.remote, [Book("2", "C")])])
    _ = try await books.get(byIDs: [.remote("1"), .remote("2")])
    let all = try await books.all(
      in: .remote(persistenceStrategy: .discardExtraLocalData))
    #expect(all.entities == [Book("2", "C")])
    #expect(own.entities == [Book("2", "C")])
    #expect(try await books.get(byID: .remote("1")) == nil)
  }

  @Test func `a limited memory beside a model store in memory is its cache, in any order`()
    async throws
  {
    // It counted as a store of its own: a search returned the few notes that it kept.
    let model = try ModelStore.inMemory()
    let disk = DiskStore<Draft>(modelStore: model)
    let drafts = (0..<5).map { Draft(id: .local("\($0)"), revision: 1, text: "\($0)") }
    try await model.write { transaction in
      for draft in drafts.prefix(2) { try transaction.set(draft) }
    }
    func memory() -> LRUStore<Draft> { LRUStore(store: InMemoryStore(), limit: 2) }
    for stores: [any Storing<Draft>] in [[memory(), disk], [disk, memory()]] {
      let manager = CoreManager<Draft>(stores: stores)
      try await manager.set(Array(drafts.dropFirst(2)))
      #expect(try await manager.all().entities == drafts)
      #expect(try await manager.answer(.count, to: .all) == 5)
      #expect(try await model.read { try $0.find(Query<Draft>.all).count } == 5)
      try await manager.remove(drafts.dropFirst(2).map(\.id))
    }
    await model.close()
  }

  @Test func `a write fills memory with what is stored, whatever kind of store is behind it`()
    async throws
  {
    try await withModelStore { model in
      let behind: [any Storing<Draft>] = [
        DiskStore(modelStore: model), ScriptedStore<Draft>(.disk),
        RecoverableStore(mainStore: InMemoryStore(), recoveryStore: InMemoryStore()),
      ]
      for persistent in behind {
        let memory = InMemoryStore<Draft>()
        let store = CacheStore(
          keyValueStore: LRUStore(store: memory, limit: 3), persistentStore: persistent)
        func kept() -> [String] {
          memory.entities(forIDs: ["a", "b"].map { .local($0) }).map(\.text)
        }
        let first = [
          Draft(id: .local("a"), revision: 5, text: "five"),
          Draft(id: .local("b"), revision: 1, text: "b"),
        ]
        #expect(try await store.set(first, in: .local) == first)
        #expect(kept() == ["five", "b"])
        // The merged value, and not the one that was given.
        _ = try await store.set([Draft(id: .local("a"), revision: 6, text: "six")], in: .local)
        #expect(kept() == ["five six", "b"])
        memory.dropAll()
        // Nothing is written, and memory has it all the same.
        _ = try await store.set([Draft(id: .local("a"), revision: 4, text: "four")], in: .local)
        #expect(kept() == ["five six"])
        let id: EntityIdentifier<Draft> = .local("a")
        _ = try await store.get(withQuery: Query(ids: [id]), in: .local)
        #expect(store.counters.hits == 1)
        #expect(store.counters.misses == 0)
        try await store.remove([id], in: .local)
        #expect(kept() == [])
        _ = try await store.set(
          (0..<65).map { Draft(id: .local("\($0)"), revision: 1, text: "many") }, in: .local)
        #expect(memory.count == 0, "a long write leaves memory as it is")
      }
    }
  }

  @Test func `a write with children fills memory with the children as they are stored`()
    async throws
  {
    try await withModelStore { model in
      let container = try CoreManagerContainer(
        entities: Shelf.self, diskStoreConfig: .store(model))
      let shelf = Shelf(id: .local("s"), books: [Book("1", "A"), Book("2", "B")])
      try await container[Shelf.self].set(shelf)
      #expect(try await container[Shelf.self].get(byID: .local("s")) == shelf)
      #expect(container[Shelf.self].cacheCounters.misses == 0)
      try await model.write { try $0.set(Book("2", "C")) }
      let read = try await container[Shelf.self].get(byID: .local("s"))
      #expect(read?.books.map(\.title) == ["A", "C"])
      #expect(container[Shelf.self].cacheCounters.misses == 1)
      await container.close()
    }
  }

  @Test func `a write does not bring back what is removed at the same time`() async throws {
    for _ in 0..<100 {
      let cache = Cache()
      async let written = cache.store.set([Book("1", "A")], in: .local)
      async let removed = cache.store.removeAll(withQuery: .all, in: .local)
      _ = try await (written, removed)
      #expect(cache.memory.count == cache.disk.entities.count)
    }
  }

  @Test func `a search by identifiers is answered from memory only if complete`() async throws {
    let cache = Cache([Book("1", "A"), Book("2", "B")])
    let query = Query<Book>(filter: .ids([.remote("1"), .remote("2")]))
    _ = try await cache.store.get(withQuery: Query(ids: [.remote("1")]), in: .local)
    _ = try await cache.store.search(withQuery: query, in: .local)
    #expect(cache.disk.calls == ["get", "search"])
    let found = try await cache.store.search(withQuery: query, in: .local)
    #expect(found.entities.map(\.title) == ["A", "B"])
    #expect(cache.disk.calls == ["get", "search"])
  }

  @Test func `other searches go to disk and fill memory`() async throws {
    let cache = Cache([Book("1", "A", year: 1), Book("2", "B", year: 2)])
    for _ in 0..<2 {
      let found = try await cache.store.search(withQuery: Query(filter: \.year == 2), in: .local)
      #expect(found.entities.map(\.title) == ["B"])
    }
    #expect(cache.disk.calls == ["search", "search"])
    #expect(cache.memory.count == 1)
  }

  @Test func `only what should overwrite is written, and the merged value goes to disk`()
    async throws
  {
    let memory = InMemoryStore<Draft>()
    let disk = ScriptedStore<Draft>(.disk, [Draft(id: .local("a"), revision: 5, text: "five")])
    let store = CacheStore(keyValueStore: memory, persistentStore: disk)
    let late = try await store.set([Draft(id: .local("a"), revision: 4, text: "four")], in: .local)
    #expect(late.map(\.text) == ["five"])
    #expect(disk.calls == ["get"])
    let merged = try await store.set(
      [Draft(id: .local("a"), revision: 6, text: "six"), Draft(id: .local("b"), revision: 1)],
      in: .local)
    #expect(merged.map(\.text) == ["five six", ""])
    #expect(disk.calls == ["get", "get", "set 2"])
    #expect(disk.entities.map(\.text) == ["five six", ""])
    let read = try await store.get(withQuery: Query(ids: [.local("a")]), in: .local)
    #expect(read.first?.text == "five six")
  }

  @Test func `the disk store compares and merges in its transaction`() async throws {
    try await withModelStore { model in
      let memory = InMemoryStore<Draft>()
      let store = CacheStore(keyValueStore: memory, persistentStore: DiskStore(modelStore: model))
      _ = try await store.set([Draft(id: .local("a"), revision: 5, text: "five")], in: .local)
      let number = try await model.read { try $0.commitNumber.value }
      _ = try await store.set([Draft(id: .local("a"), revision: 4, text: "four")], in: .local)
      #expect(try await model.read { try $0.commitNumber.value } == number)
      let merged = try await store.set(
        [Draft(id: .local("a"), revision: 6, text: "six")], in: .local)
      #expect(merged.map(\.text) == ["five six"])
      #expect(
        try await model.read { try $0.get("Draft:local:a", as: Draft.self)?.text } == "five six")
    }
  }

  @Test func `removals reach both`() async throws {
    let cache = Cache([Book("1"), Book("2"), Book("3")])
    _ = try await cache.store.search(withQuery: .all, in: .local)
    #expect(cache.memory.count == 3)
    try await cache.store.remove([.remote("1")], in: .local)
    #expect(cache.memory.count == 2)
    #expect(cache.disk.entities.count == 2)
    _ = try await cache.store.removeAll(withQuery: Query(filter: \.id == .remote("2")), in: .local)
    #expect(
      cache.memory.entities(forIDs: [.remote("2"), .remote("3")]).map(\.id) == [.remote("3")])
    #expect(cache.disk.entities.map(\.id) == [.remote("3")])
  }

  @Test func `the result of a slow read does not stay in memory after a write`() async throws {
    let cache = Cache([Book("1", "old")])
    cache.disk.beforeAnswer { [store = cache.store, disk = cache.disk] in
      disk.beforeAnswer(nil)
      _ = try? await store.set([Book("1", "new")], in: .local)
    }
    let query = Query<Book>(ids: [.remote("1")])
    _ = try await cache.store.get(withQuery: query, in: .local)
    #expect(try await cache.store.get(withQuery: query, in: .local).first?.title == "new")
  }

  @Test func `memory follows what others write to the model store`() async throws {
    try await withModelStore { model in
      let memory = InMemoryStore<Book>()
      let store = CacheStore(keyValueStore: memory, persistentStore: DiskStore(modelStore: model))
      let query = Query<Book>(ids: [.remote("1")])
      _ = try await store.set([Book("1", "A")], in: .local)
      #expect(try await store.get(withQuery: query, in: .local).first?.title == "A")
      #expect(memory.count == 1)
      try await model.write { try $0.set(Book("1", "B")) }
      #expect(memory.count == 0)
      #expect(try await store.get(withQuery: query, in: .local).first?.title == "B")
      try await model.write { try $0.deleteIfPresent("Book:1") }
      #expect(try await store.get(withQuery: query, in: .local).isEmpty)
    }
  }

  @Test func `memory and disk of a manager are one cache, in whatever order they are given`()
    async throws
  {
    try await withModelStore { model in
      let memory = InMemoryStore<Book>()
      let manager = CoreManager(stores: [DiskStore(modelStore: model), memory])
      try await manager.set(Book("1", "A"))
      #expect(try await manager.get(byID: .remote("1"))?.title == "A")
      #expect(memory.count == 1)
      try await model.write { try $0.set(Book("1", "B")) }
      #expect(memory.count == 0, "dropped, not updated")
      #expect(try await manager.get(byID: .remote("1"))?.title == "B")
      #expect(memory.count == 1)
    }
  }

  @Test func `memory removes an entity when a child of it changes`() async throws {
    try await withModelStore { model in
      let memory = InMemoryStore<Shelf>()
      let store = CacheStore(keyValueStore: memory, persistentStore: DiskStore(modelStore: model))
      let query = Query<Shelf>(ids: [.local("s")])
      let shelf = Shelf(id: .local("s"), books: [Book("1", "A"), Book("2", "B")])
      _ = try await store.set([shelf], in: .local)
      #expect(try await store.get(withQuery: query, in: .local).first == shelf)
      #expect(memory.count == 1)
      try await model.write { try $0.set(Book("2", "C")) }
      let read = try await store.get(withQuery: query, in: .local)
      #expect(read.first?.books.map(\.title) == ["A", "C"])
      try await model.write { try $0.deleteIfPresent("Book:1") }
      let shorter = try await store.get(withQuery: query, in: .local)
      #expect(shorter.first?.books.map(\.title) == ["C"])
    }
  }

  /// Random writes of two caches, of that of a container and of the model store itself; memory never
  /// shows anything old.
  @Test(arguments: seeds(4))
  func `random reads show what was written last`(seed: UInt64) async throws {
    try await withModelStore { model in
      var random = SeededGenerator(seed: seed)
      let stores = (0..<2).map { _ in
        CacheStore(
          keyValueStore: LRUStore(store: InMemoryStore<Book>(), limit: 3),
          persistentStore: DiskStore(modelStore: model))
      }
      let container = try CoreManagerContainer(
        entities: Book.self, cacheLimit: 3, diskStoreConfig: .store(model))
      let managers = stores.map { CoreManager(stores: [$0]) } + [container[Book.self]]
      var expected: [String: String] = [:]
      for step in 0..<200 {
        let key = "\(Int.random(in: 0..<6, using: &random))"
        let store = stores[Int.random(in: 0..<2, using: &random)]
        let manager = managers[Int.random(in: 0..<3, using: &random)]
        switch Int.random(in: 0..<9, using: &random) {
        case 0:
          try await store.remove([.remote(key)], in: .local)
          expected[key] = nil
        case 1:
          _ = try await store.set([Book(key, "\(step)")], in: .local)
          expected[key] = "\(step)"
        case 2:
          try await model.write { try $0.set(Book(key, "\(step)")) }
          expected[key] = "\(step)"
        case 3:
          _ = try await manager.search(withQuery: .all)
        case 4:
          let keys = ["0", "1", key]
          let read = try await manager.get(byIDs: keys.map { .remote($0) })
          try #require(
            Set(read.entities.map(\.title)) == Set(keys.compactMap { expected[$0] }),
            "seed \(seed), step \(step)")
        case 5, 6:
          let read = try await manager.get(byID: .remote(key))
          try #require(read?.title == expected[key], "seed \(seed), step \(step)")
        default:
          let read = try await store.get(withQuery: Query(ids: [.remote(key)]), in: .local)
          try #require(read.first?.title == expected[key], "seed \(seed), step \(step)")
        }
      }
      await container.close()
    }
  }
}

/// Only a later revision overwrites; texts are put together.
struct Draft: PersistentEntity {
  var id: EntityIdentifier<Draft>
  var revision: Int
  var text = ""

  func shouldOverwrite(with new: Draft) -> Bool { new.revision > revision }

  func merging(_ new: Draft) -> Draft {
    Draft(id: id, revision: new.revision, text: "\(text) \(new.text)")
  }
}

/// Holds other entities as children.
struct Shelf: PersistentEntity, RemoteEntity {
  var id: EntityIdentifier<Shelf>
  var books: [Book] = []
}
