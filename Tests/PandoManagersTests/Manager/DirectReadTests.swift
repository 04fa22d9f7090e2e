import PandoManagers
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

/// Reads of one entity that the nearest store answers at once: by the same rules as all others.
@Suite struct DirectReadTests {
  /// Says one access after another, then always the last.
  private final class Accesses: UserAccessValidating {
    private let rest: Locked<[UserAccess]>
    let count = Locked(0)

    init(_ accesses: UserAccess...) { rest = Locked(accesses) }

    var userAccess: UserAccess {
      count.withLock { $0 += 1 }
      return rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    }
  }

  @Test func `access is checked before and after a read, and lost access is an error`()
    async throws
  {
    let manager = CoreManager(stores: [InMemoryStore<Book>()])
    try await manager.set(Book("1", "A"))
    func get(_ accesses: Accesses) async throws -> String? {
      let context = ReadContext<Book>.local.with(accessValidator: accesses)
      return try await manager.get(byID: .remote("1"), in: context)?.title
    }
    let kept = Accesses(.local)
    #expect(try await get(kept) == "A")
    #expect(kept.count.withLock { $0 } == 2)
    for accesses in [Accesses(.none), Accesses(.local, .none), Accesses(.none, .local)] {
      let error = await #expect(throws: ManagerError.self) { try await get(accesses) }
      #expect(error?.code == .userAccessInvalid)
    }
  }

  @Test func `an entity that the nearest store lacks, or has invalid, is read from the next`()
    async throws
  {
    let (memory, next) = (InMemoryStore<Book>(), ScriptedStore<Book>(.memory))
    let server = ScriptedStore<Book>(.remote, [Book("1", "server")])
    let manager = CoreManager(stores: [memory, next, server])
    let ask = ReadContext<Book>.localOr(.remote(persistenceStrategy: .doNotPersist))
    func get(_ context: ReadContext<Book>) async throws -> String? {
      try await manager.get(byID: .remote("1"), in: context)?.title
    }
    #expect(try await get(.local) == nil)
    #expect(try await get(ask) == "server")
    #expect(next.calls == ["get", "get"])
    next.entities = [Book("1", "next")]
    #expect(try await get(.local) == "next")
    #expect(try await get(ask) == "next")
    memory.keep([Book("1", "memory")])
    #expect(try await get(.local) == "memory")
    #expect(try await get(ask) == "memory")
    #expect(next.calls.count == 4)
    #expect(server.calls.count == 1)
    func refusing(_ titles: String..., in context: ReadContext<Book>) -> ReadContext<Book> {
      context.with { book, _ in !titles.contains(book.title) }
    }
    #expect(try await get(refusing("memory", in: .local)) == "next")
    #expect(try await get(refusing("next", in: .local)) == "memory")
    #expect(try await get(refusing("memory", "next", in: .local)) == nil)
    #expect(try await get(refusing("memory", "next", in: ask)) == "server")
  }

  @Test func `an invalid entity of the only store is none`() async throws {
    let manager = CoreManager(stores: [InMemoryStore<Book>()])
    try await manager.set(Book("1", "A"))
    let context = ReadContext<Book>.local.with { _, _ in false }
    let found = try await manager.get(byID: .remote("1"), in: context)
    #expect(found == nil)
  }

  @Test func `the server is asked behind the caller's back though memory has the answer`()
    async throws
  {
    let server = ScriptedStore<Book>(.remote, [Book("1", "server")])
    let manager = CoreManager(stores: [InMemoryStore<Book>(), server])
    try await manager.set(Book("1", "memory"))
    let found = try await manager.get(byID: .remote("1"), in: .localThen(.remote()))
    #expect(found?.title == "memory")
    await manager.drain()
    #expect(server.calls == ["get"])
    let later = try await manager.get(byID: .remote("1"))
    #expect(later?.title == "server")
  }

  @Test func `the error of the only store is thrown unchanged, that of another one is reported`()
    async throws
  {
    try await withModelStore { store in
      await store.close()
      let disk = DiskStore<Book>(modelStore: store)
      let error = await #expect(throws: StoreError.self) {
        try await CoreManager(stores: [disk]).get(byID: .remote("1"))
      }
      #expect(error?.code == .closed)
      let told = Locked<[ManagerEvent.Kind]>([])
      let spare = ScriptedStore<Book>(.disk, [Book("1", "spare")])
      let manager = CoreManager(stores: [disk, spare]) { event in
        told.withLock { $0.append(event.kind) }
      }
      let found = try await manager.get(byID: .remote("1"))
      #expect(found?.title == "spare")
      #expect(told.withLock { $0 } == [.failedStore])
    }
  }

  @Test func `one identifier in a list is answered as alone, and a group is the same`() async throws
  {
    try await withModelStore { store in
      let manager = CoreManager(stores: [DiskStore<Book>(modelStore: store)])
      try await manager.set([Book("1", "A"), Book("2", "B")])
      let one = try await manager.get(byIDs: [.remote("1")])
      #expect(one == QueryResult([Book("1", "A")]))
      #expect(one.groups.map(\.entities) == [[Book("1", "A")]])
      #expect(try await manager.get(byIDs: [.remote("3")]) == .empty)
      let both = try await manager.get(byIDs: [.remote("2"), .remote("1"), .remote("2")])
      #expect(both.entities.map(\.title) == ["B", "A"])
    }
  }
}
