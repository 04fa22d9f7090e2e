import PandoFixtures
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

/// Entities that the cache of a container keeps, and old ones that it never shows.
@Suite struct CacheMemoryTests {
  private func withManager(
    of limit: Int, _ body: (CoreManager<Traced>, ModelStore) async throws -> Void
  ) async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Traced.self, cacheLimit: limit, diskStoreConfig: .store(store))
      try await body(container[Traced.self], store)
      await container.close()
    }
  }

  @Test func `an entity in memory is not read again until it changes`() async throws {
    try await withManager(of: 10) { manager, store in
      let traced = Traced("unchanged")
      try await manager.set(traced)
      let first = try await manager.get(byID: traced.id)
      let count = Traced.count(of: traced.id)
      let second = try await manager.get(byID: traced.id)
      let third = try await manager.get(byIDs: [traced.id, .local("nobody")])
      #expect([first, second] == [traced, traced])
      #expect(third.entities == [traced])
      #expect(Traced.count(of: traced.id) == count + 1, "the list is not in memory as a whole")
      try await store.write { try $0.set(Traced("other")) }
      _ = try await manager.get(byID: traced.id)
      #expect(Traced.count(of: traced.id) == count + 1, "a change of others does not matter")
      try await store.write { try $0.set(Traced("unchanged", "changed")) }
      #expect(try await manager.get(byID: traced.id)?.text == "changed")
      #expect(Traced.count(of: traced.id) > count + 1)
      try await store.write { try $0.deleteIfPresent(traced.id.modelIdentifier) }
      #expect(try await manager.get(byID: traced.id) == nil)
    }
  }

  @Test func `over the limit the one read longest ago goes`() async throws {
    try await withManager(of: 2) { manager, _ in
      let all = ["limit a", "limit b", "limit c"].map { Traced($0) }
      try await manager.set(all)
      for index in [0, 1, 0, 2] { _ = try await manager.get(byID: all[index].id) }
      let counts = all.map { Traced.count(of: $0.id) }
      _ = try await manager.get(byIDs: [all[0].id, all[2].id])
      #expect(all.map { Traced.count(of: $0.id) } == counts)
      _ = try await manager.get(byID: all[1].id)
      #expect(Traced.count(of: all[1].id) == counts[1] + 1)
    }
  }

  @Test func `an entity read before a write and returned after it does not stay in memory`()
    async throws
  {
    // So many changes at once are not kept one by one.
    for otherCount in [0, 5_000] {
      try await withManager(of: 10) { manager, store in
        let name = "overtaken by \(otherCount)"
        let traced = Traced(name, "old")
        try await store.write { try $0.set(traced) }
        let hook: @Sendable () -> Void = {
          Traced.hook(traced.id, nil)
          let written = Event()
          Task {
            try? await store.write { transaction in
              try transaction.set(Traced(name, "new"))
              for number in 0..<otherCount { try transaction.set(Traced("other \(number)")) }
            }
            written.signal()
          }
          written.wait()
        }
        Traced.hook(traced.id, hook)
        #expect(try await manager.get(byID: traced.id)?.text == "old")
        #expect(try await manager.get(byID: traced.id)?.text == "new")
      }
    }
  }

  @Test func `an entity goes when a child of it changes, and another one does not`() async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Shelf.self, diskStoreConfig: .store(store))
      let shelves = container[Shelf.self]
      func titles(_ key: String) async throws -> [String]? {
        try await shelves.get(byID: .local(key))?.books.map(\.title)
      }
      try await shelves.set([
        Shelf(id: .local("s"), books: [Book("1", "A"), Book("2", "B")]),
        Shelf(id: .local("t"), books: [Book("2", "B")]),
      ])
      #expect(try await titles("s") == ["A", "B"])
      #expect(try await titles("t") == ["B"])
      try await store.write { try $0.set(Book("2", "C")) }
      #expect(try await titles("s") == ["A", "C"])
      #expect(try await titles("t") == ["C"])
      try await store.write { try $0.deleteIfPresent("Book:1") }
      #expect(try await titles("s") == ["C"])
      try await store.write { try $0.set(Book("2", "D")) }
      #expect(try await titles("s") == ["D"])
      #expect(try await titles("t") == ["D"])
      await container.close()
    }
  }

  /// The caches get the nodes together when one of them reads, or when there are many.
  @Test(arguments: [1, 5_000])
  func `nodes that change while no cache reads leave memory, and others stay`(
    otherCount: Int
  ) async throws {
    try await withManager(of: 10) { manager, store in
      let names = ["kept", "changed", "deleted"].map { "\($0) beside \(otherCount)" }
      let all = names.map { Traced($0) }
      try await manager.set(all)
      for entity in all { _ = try await manager.get(byID: entity.id) }
      let count = Traced.count(of: all[0].id)
      try await store.write { transaction in
        try transaction.set(Traced(names[1], "new"))
        try transaction.deleteIfPresent(all[2].id.modelIdentifier)
      }
      try await store.write { transaction in
        for number in 0..<otherCount { try transaction.set(Traced("other \(number)")) }
      }
      #expect(try await manager.get(byID: all[0].id) == all[0])
      #expect(Traced.count(of: all[0].id) == count)
      #expect(try await manager.get(byID: all[1].id)?.text == "new")
      #expect(try await manager.get(byID: all[2].id) == nil)
    }
  }

  @Test func `a closed store is an error, whatever memory has`() async throws {
    try await withManager(of: 10) { manager, store in
      let traced = Traced("closed")
      try await manager.set(traced)
      _ = try await manager.get(byID: traced.id)
      await store.close()
      let error = await #expect(throws: StoreError.self) {
        try await manager.get(byID: traced.id)
      }
      #expect(error?.code == .closed)
    }
  }

  @Test func `a long answer leaves memory as it is`() async throws {
    try await withModelStore { model in
      let memory = InMemoryStore<Book>()
      let store = CacheStore(keyValueStore: memory, persistentStore: DiskStore(modelStore: model))
      _ = try await store.set((0..<65).map { (key: Int) in Book("\(key)", year: key) }, in: .local)
      _ = try await store.search(withQuery: .all, in: .local)
      #expect(memory.count == 0)
      _ = try await store.search(withQuery: Query(filter: \.year < 64), in: .local)
      #expect(memory.count == 64)
      _ = try await store.get(
        withQuery: Query(ids: (0..<65).map { .remote("\($0)") }), in: .local)
      #expect(memory.count == 65, "what was asked for by name is kept")
    }
  }

  /// Does something for each commit before anybody hears of it who follows later.
  private final class First: CommitFollower {
    let body = Locked<(@Sendable () -> Void)?>(nil)

    func receive(_ flush: [CommitEffects]) { body.withLock { $0.take() }?() }
    func afterReceived(_ body: @escaping @Sendable () -> Void) { body() }
    func othersMayHaveCommitted() {}
  }

  @Test func `all that memory has at a time is of one version`() async throws {
    try await withModelStore { model in
      let first = First()
      model.feed.add(first)
      let memory = InMemoryStore<Book>()
      let store = CacheStore(keyValueStore: memory, persistentStore: DiskStore(modelStore: model))
      let ids: [EntityIdentifier<Book>] = [.remote("1"), .remote("2")]
      _ = try await store.set([Book("1", "old"), Book("2", "old")], in: .local)
      _ = try await store.get(withQuery: Query(ids: ids), in: .local)
      #expect(memory.count == 2)
      let seen = Locked<[String]>([])
      first.body.withLock { body in
        body = {
          let done = Event()
          Task {
            let query = Query<Book>(filter: \.title == "new", limit: 1)
            _ = try? await store.search(withQuery: query, in: .local)
            done.signal()
          }
          done.wait()
          seen.withLock { $0 = memory.entities(forIDs: ids).map(\.title) }
        }
      }
      try await model.write { transaction in
        for key in ["1", "2"] { try transaction.set(Book(key, "new")) }
      }
      #expect(seen.withLock { $0 } == ["new"])
    }
  }

  /// Other tasks write and read at the same time.
  @Test func `a task reads the entity that it has set`() async throws {
    try await withModelStore { store in
      let containers = try [2, 100].map { limit in
        try CoreManagerContainer(
          entities: Book.self, cacheLimit: limit, diskStoreConfig: .store(store))
      }
      try await withThrowingTaskGroup { group in
        for task in 0..<4 {
          group.addTask {
            for step in 0..<50 {
              let writer = containers[(task + step) % 2][Book.self]
              let reader = containers[step % 2][Book.self]
              if step % 7 == 6 {
                try await writer.remove(atID: .remote("\(task)"))
              } else {
                try await writer.set(Book("\(task)", "\(step)"))
              }
              let read = try await reader.get(byID: .remote("\(task)"))?.title
              #expect(read == (step % 7 == 6 ? nil : "\(step)"))
              _ = try await reader.get(byID: .remote("\((task + 1) % 4)"))
            }
          }
        }
        try await group.waitForAll()
      }
      for container in containers { await container.close() }
    }
  }
}

/// Counts how often each entity is read from disk.
struct Traced: PersistentEntity {
  private static let counts = Locked<[EntityIdentifier<Traced>: Int]>([:])
  private static let hooks = Locked<[EntityIdentifier<Traced>: @Sendable () -> Void]>([:])

  var id: EntityIdentifier<Traced>
  var text: String

  init(_ key: String, _ text: String = "") {
    id = .local(key)
    self.text = text
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let id = try container.decode(EntityIdentifier<Traced>.self, forKey: .id)
    self.id = id
    text = try container.decode(String.self, forKey: .text)
    Self.counts.withLock { $0[id, default: 0] += 1 }
    Self.hooks.withLock { $0[id] }?()
  }

  static func count(of id: EntityIdentifier<Traced>) -> Int { counts.withLock { $0[id] ?? 0 } }

  /// Has something done when an entity has been read and its reader goes on.
  static func hook(_ id: EntityIdentifier<Traced>, _ body: (@Sendable () -> Void)?) {
    hooks.withLock { $0[id] = body }
  }
}
