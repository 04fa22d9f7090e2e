import PandoManagers
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

@Suite struct CoreManagerReadingTests {
  private struct Stack {
    let memory: ScriptedStore<Book>
    let disk: ScriptedStore<Book>
    let remote: ScriptedStore<Book>
    let manager: CoreManager<Book>
    let events = Locked<[ManagerEvent.Kind]>([])

    init(memory: [Book] = [], disk: [Book] = [], remote: [Book] = []) {
      self.memory = ScriptedStore(.memory, memory)
      self.disk = ScriptedStore(.disk, disk)
      self.remote = ScriptedStore(.remote, remote)
      // In any order: levels decide.
      manager = CoreManager(stores: [self.remote, self.disk, self.memory]) { [events] event in
        events.withLock { $0.append(event.kind) }
      }
    }

    func get(
      _ keys: String..., in context: ReadContext<Book> = .local
    ) async throws -> [String] {
      try await manager.get(byIDs: keys.map { .remote($0) }, in: context).entities.map(\.title)
    }

    func search(
      in context: ReadContext<Book> = .local
    ) async throws -> [String] {
      try await manager.search(withQuery: .all, in: context).entities.map(\.title)
    }

    /// How often each store was asked.
    var counts: [Int] { [memory.calls.count, disk.calls.count, remote.calls.count] }
  }

  @Test func `a stack is asked level by level, and an empty answer goes on to the next`()
    async throws
  {
    let stack = Stack(disk: [Book("1", "disk")])
    #expect(try await stack.get("1") == ["disk"])
    #expect(stack.counts == [1, 1, 0])
    stack.memory.entities = [Book("1", "memory")]
    #expect(try await stack.get("1") == ["memory"])
    #expect(stack.counts == [2, 1, 0])
  }

  @Test func `if all fail, one composite error has the errors of all, in order`() async throws {
    let stack = Stack()
    stack.memory.fail(.broken("memory"))
    stack.disk.fail(.broken("disk"))
    stack.remote.fail(.refused)
    let error = await #expect(throws: ManagerError.self) {
      try await stack.get("1", in: .localOr(.remote()))
    }
    #expect(error?.code == .composite)
    #expect(
      error?.underlying as? [TestFailure] == [.broken("memory"), .broken("disk"), .refused])
    #expect(error?.description.contains("refused") == true)
  }

  @Test func `a failed store beside one with the answer is reported only`() async throws {
    let stack = Stack(disk: [Book("1", "disk")])
    stack.memory.fail(.broken("memory"))
    #expect(try await stack.get("1") == ["disk"])
    #expect(stack.events.withLock { $0 } == [.failedStore])
  }

  @Test func `a failing disk is no empty answer`() async throws {
    let stack = Stack()
    stack.disk.fail(.broken("disk"))
    await #expect(throws: TestFailure.broken("disk")) { try await stack.get("1") }
  }

  @Test func `localOr asks the server if an identifier is missing, or for a query if all are`()
    async throws
  {
    let stack = Stack(
      disk: [Book("1", "disk")], remote: [Book("1", "remote"), Book("2", "remote")])
    let context = ReadContext<Book>.localOr(.remote(persistenceStrategy: .doNotPersist))
    #expect(try await stack.get("1", in: context) == ["disk"])
    #expect(try await stack.search(in: context) == ["disk"])
    #expect(stack.remote.calls.isEmpty)
    #expect(try await stack.get("1", "2", in: context) == ["remote", "remote"])
    stack.disk.entities = []
    #expect(try await stack.search(in: context) == ["remote", "remote"])
  }

  @Test func `localThen answers from here and asks the server all the same`() async throws {
    try await withModelStore { store in
      let remote = ScriptedStore<Book>(.remote, [Book("1", "remote")])
      let manager = CoreManager(stores: [DiskStore<Book>(modelStore: store), remote])
      try await manager.set(Book("1", "local"))
      let first = try await manager.get(byID: .remote("1"), in: .localThen(.remote()))
      #expect(first?.title == "local")
      await manager.drain()
      #expect(remote.calls == ["get"])
      #expect(try await manager.get(byID: .remote("1"))?.title == "remote")
      // With too little here, the answer of the server is waited for.
      remote.entities = [Book("2", "second")]
      let second = try await manager.get(byID: .remote("2"), in: .localThen(.remote()))
      #expect(second?.title == "second")
    }
  }

  @Test func `a failed background read is reported`() async throws {
    let stack = Stack(disk: [Book("1", "disk")])
    stack.remote.fail(.refused)
    #expect(try await stack.get("1", in: .localThen(.remote())) == ["disk"])
    await stack.manager.drain()
    #expect(stack.events.withLock { $0 } == [.failedBackgroundRead])
  }

  @Test func `remoteOrLocal falls back without connection and on an empty answer`() async throws {
    let stack = Stack(disk: [Book("1", "disk")], remote: [Book("1", "remote")])
    let context = ReadContext<Book>.remoteOrLocal(persistenceStrategy: .doNotPersist)
    #expect(try await stack.get("1", in: context) == ["remote"])
    stack.remote.fail(.connection)
    #expect(try await stack.get("1", in: context) == ["disk"])
    stack.remote.fail(nil)
    stack.remote.entities = []
    #expect(try await stack.get("1", in: context) == ["disk"])
  }

  @Test func `remoteOrLocal throws all other errors`() async throws {
    let stack = Stack(disk: [Book("1", "disk")])
    stack.remote.fail(.refused)
    await #expect(throws: TestFailure.refused) { try await stack.get("1", in: .remoteOrLocal) }
    stack.remote.fail(.connection)
    stack.disk.fail(.broken("disk"))
    let error = await #expect(throws: ManagerError.self) {
      try await stack.get("1", in: .remoteOrLocal)
    }
    #expect(error?.underlying as? [TestFailure] == [.connection, .broken("disk")])
  }

  @Test(arguments: [PersistenceStrategy.persist, .doNotPersist])
  func `an entity that the server does not have any more goes, if answers are stored`(
    strategy: PersistenceStrategy
  ) async throws {
    try await withModelStore { store in
      let remote = ScriptedStore<Book>(.remote, [Book("1", "A")])
      let manager = CoreManager(stores: [DiskStore<Book>(modelStore: store), remote])
      try await manager.set(Book("1", "A"))
      remote.fail(.notFound)
      let context = ReadContext<Book>.remote(persistenceStrategy: strategy)
      #expect(try await manager.get(byID: .remote("1"), in: context) == nil)
      let left = try await manager.get(byID: .remote("1"))
      #expect((left == nil) == (strategy == .persist))
    }
  }

  @Test func `an entity that was set while the server was asked stays`() async throws {
    try await withModelStore { store in
      let remote = ScriptedStore<Book>()
      let manager = CoreManager(stores: [DiskStore<Book>(modelStore: store), remote])
      remote.fail(.notFound)
      remote.beforeAnswer { _ = try? await manager.set(Book("1", "new")) }
      let answer = try await manager.get(byID: .remote("1"), in: .remote())
      #expect(answer == nil)
      let left = try await manager.get(byID: .remote("1"))
      #expect(left?.title == "new")
    }
  }

  @Test(arguments: [PersistenceStrategy.discardExtraLocalData, .retainExtraLocalData])
  func `a complete answer removes what it lacks, if it is synchronized and not newer`(
    strategy: PersistenceStrategy
  ) async throws {
    try await withModelStore { store in
      let remote = ScriptedStore<Book>(.remote, ["1", "2", "3", "4"].map { Book($0, year: 1) })
      let manager = CoreManager(stores: [DiskStore<Book>(modelStore: store), remote])
      _ = try await manager.all(in: .remote())
      try await manager.set([Book(id: .local("draft"), year: 1), Book("5", year: 1)])
      try await manager.set(Book("3", "edited", year: 1))
      remote.entities = [Book("1", year: 1)]
      remote.beforeAnswer { _ = try? await manager.set(Book("4", "meanwhile", year: 1)) }
      let context = ReadContext<Book>.remote(persistenceStrategy: strategy)
      _ = try await manager.search(withQuery: Query(filter: \.year == 1), in: context)
      let left = try await manager.all().entities.map(\.id.text).sorted()
      let isDiscarded = strategy == .discardExtraLocalData
      #expect(
        left
          == (isDiscarded ? [] : ["2"]).reduce(into: ["1", "3", "4", "5", "local:draft"]) {
            $0.append($1)
          }.sorted())
    }
  }

  @Test func `entities that do not match the query, or lie outside its window, stay`() async throws
  {
    try await withModelStore { store in
      let remote = ScriptedStore<Book>(.remote, [Book("1", year: 1), Book("2", year: 2)])
      let manager = CoreManager(stores: [DiskStore<Book>(modelStore: store), remote])
      _ = try await manager.all(in: .remote())
      remote.entities = []
      let discard = ReadContext<Book>.remote(persistenceStrategy: .discardExtraLocalData)
      _ = try await manager.search(withQuery: Query(limit: 1), in: discard)
      #expect(try await manager.all().count == 2)
      _ = try await manager.search(withQuery: Query(filter: \.year == 2), in: discard)
      #expect(try await manager.all().entities.map(\.id) == [.remote("1")])
      _ = try await manager.get(byIDs: [.remote("1")], in: discard)
      #expect(try await manager.all().isEmpty)
    }
  }

  @Test(arguments: [true, false])
  func `natural order is the server's order`(onDisk: Bool) async throws {
    try await withModelStore { store in
      let remote = ScriptedStore<Book>(.remote, ["c", "a", "d", "b"].map { Book($0, year: 1) })
      let local: any Storing<Book> =
        onDisk ? DiskStore(modelStore: store) : InMemoryStore()
      let manager = CoreManager(stores: [local, remote])
      try await manager.set(["a", "x", "b"].map { Book($0, year: $0 == "x" ? 2 : 1) })
      let all = Query<Book>(filter: \.year == 1)
      func order(_ query: Query<Book>) async throws -> String {
        try await manager.search(withQuery: query).entities.map(\.id.text).joined()
      }
      let answer = try await manager.search(withQuery: all, in: .remote())
      #expect(answer.entities.map(\.id.text).joined() == "cadb")
      #expect(try await order(all) == "cadb")
      #expect(try await order(Query(filter: \.year == 1, offset: 1, limit: 2)) == "ad")
      #expect(try await order(.all).filter { $0 != "x" } == "cadb")
      remote.entities.reverse()
      _ = try await manager.search(withQuery: all, in: .remote())
      #expect(try await order(all) == "bdac")
    }
  }

  @Test func `one invalid entity in a local answer means that the next store is asked`()
    async throws
  {
    let full = Book(id: .remote("1"), title: "full", summary: .requested("all of it"))
    let stack = Stack(
      memory: [Book("1", "memory"), full.renamed("2")],
      disk: [Book("1", "disk"), full.renamed("2")],
      remote: [full, full.renamed("2"), Book("3", "bare")])
    let context = ReadContext<Book>.localOr(.remote(persistenceStrategy: .doNotPersist))
      .with { book, _ in book.summary.isRequested }
    #expect(try await stack.get("1", "2", in: context) == ["full", "full"])
    #expect(stack.counts == [1, 1, 1])
    stack.disk.entities = [full, full.renamed("2")]
    #expect(try await stack.get("1", "2", in: context) == ["full", "full"])
    #expect(stack.counts == [2, 2, 1])
    // What a server has that is invalid is left out.
    let all = ReadContext<Book>.remote(persistenceStrategy: .doNotPersist)
      .with { book, _ in book.summary.isRequested }
    #expect(try await stack.search(in: all) == ["full", "full"])
    // Nobody has a valid one.
    stack.disk.entities = [Book("1", "disk")]
    let local = ReadContext<Book>.local
      .with { book, _ in book.summary.isRequested }
    #expect(try await stack.get("1", in: local).isEmpty)
  }

  @Test func `access that is lost before the answer comes is an error, and nothing is stored`()
    async throws
  {
    try await withModelStore { store in
      let remote = ScriptedStore<Book>(.remote, [Book("1")])
      let manager = CoreManager(stores: [DiskStore<Book>(modelStore: store), remote])
      for later in [UserAccess.none, .local, UserAccess(.remote, user: "eve")] {
        let access = Access(UserAccess(.remote, user: "ada"))
        remote.beforeAnswer { access.value.withLock { $0 = later } }
        let context = ReadContext<Book>.remote().with(accessValidator: access)
        let error = await #expect(throws: ManagerError.self) {
          try await manager.get(byID: .remote("1"), in: context)
        }
        #expect(error?.code == .userAccessInvalid)
        let stored = try await manager.all()
        #expect(stored.isEmpty)
      }
    }
  }

  @Test func `no access reads no store, and local access no server`()
    async throws
  {
    let stack = Stack(disk: [Book("1", "disk")], remote: [Book("1", "remote")])
    let none = Access(.none)
    let local = Access(.local)
    for context in [ReadContext<Book>.local, .remote(), .localOr(.remote())] {
      let error = await #expect(throws: ManagerError.self) {
        try await stack.get("1", in: context.with(accessValidator: none))
      }
      #expect(error?.code == .userAccessInvalid)
    }
    #expect(stack.counts == [0, 0, 0])
    let error = await #expect(throws: ManagerError.self) {
      try await stack.get("1", in: ReadContext.remote().with(accessValidator: local))
    }
    #expect(error?.code == .userAccessInvalid)
    for context in [ReadContext<Book>.remoteOrLocal, .localOr(.remote()), .localThen(.remote())] {
      #expect(try await stack.get("1", in: context.with(accessValidator: local)) == ["disk"])
    }
    #expect(stack.remote.calls.isEmpty)
    let written = await #expect(throws: ManagerError.self) {
      try await stack.manager.set(
        Book("1", "new"), in: .localAndRemote.with(accessValidator: local))
    }
    #expect(written?.code == .userAccessInvalid)
    #expect(stack.disk.entities == [Book("1", "disk")])
  }

  @Test func `a manager without the store that a context asks for says so`() async throws {
    let localOnly = CoreManager(stores: [InMemoryStore<Book>()])
    let remoteOnly = CoreManager(stores: [ScriptedStore<Book>()])
    let errors = [
      await #expect(throws: ManagerError.self) { try await localOnly.all(in: .remote()) },
      await #expect(throws: ManagerError.self) { try await remoteOnly.all() },
      await #expect(throws: ManagerError.self) {
        try await localOnly.set(Book("1"), in: .remote())
      },
      await #expect(throws: ManagerError.self) { try await remoteOnly.set(Book("1")) },
    ]
    #expect(errors.map { $0?.code } == [.noStore, .noStore, .noStore, .noStore])
  }

  @Test func `first gives one entity, and no identifiers read no store`() async throws {
    let stack = Stack(disk: [Book("1", "A", year: 1), Book("2", "B", year: 2)])
    #expect(try await stack.manager.first()?.title == "A")
    let last = Query<Book>(order: [.descending(\.year)])
    #expect(try await stack.manager.first(for: last)?.title == "B")
    let calls = stack.counts
    #expect(try await stack.manager.get(byIDs: []).isEmpty)
    #expect(stack.counts == calls)
  }
}

/// The access of a user, set by the test.
private final class Access: UserAccessValidating {
  let value: Locked<UserAccess>

  init(_ access: UserAccess) { value = Locked(access) }

  var userAccess: UserAccess { value.withLock { $0 } }
}

extension Book {
  fileprivate func renamed(_ key: String) -> Book {
    var book = self
    book.id = .remote(key)
    return book
  }
}
