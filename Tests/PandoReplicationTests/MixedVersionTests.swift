import PandoFixtures
import PandoLMDB
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Machines whose programs have different schema versions of a type, and migrations that all get.
@Suite struct MixedVersionTests {
  /// The migration of the newer program, which counts the records it is given.
  private func migration(_ count: Locked<Int> = Locked(0)) -> Migration {
    Migration(typeName: "Book", version: 2) { record in
      count.withLock { $0 += 1 }
      record["isbn"] = "978-0"
    }
  }

  private func open(
    _ path: String, _ log: any ReplicationLog, _ migrations: [Migration] = []
  ) throws -> ReplicatedStore {
    var configuration = ModelStore.Configuration.forTests
    configuration.migrations = migrations
    return try ReplicatedStore(path: path, log: log, configuration: configuration)
  }

  private func expectNewerSchema(
    _ store: ModelStore, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let error = await #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
      try await store.write { try $0.set(First.Book(id: 1, title: "older")) }
    }
    #expect(error?.code == .newerSchema, "\(error as Any)", sourceLocation: sourceLocation)
  }

  private func expectEqual(
    _ stores: [ReplicatedStore], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for store in stores { try await store.caughtUp() }
    let dump = try stores[0].store.dumpLines()
    for store in stores {
      #expect(try store.store.dumpLines() == dump, sourceLocation: sourceLocation)
      #expect(try store.store.verify().isClean, sourceLocation: sourceLocation)
      #expect(!store.status.isStopped, sourceLocation: sourceLocation)
    }
  }

  @Test func `a migration runs at one machine, all get it, and older programs only read`()
    async throws
  {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      var first = try open("\(path)/a", MemoryConnection(log))
      var second = try open("\(path)/b", MemoryConnection(log))
      for id in 1...5 {
        try await first.store.write { try $0.set(First.Book(id: id, title: "\(id)")) }
      }
      await first.close()
      let counts = [Locked(0), Locked(0)]
      first = try open("\(path)/a", MemoryConnection(log), [migration(counts[0])])
      #expect(counts[0].withLock(\.self) == 5)
      try await expectEqual([first, second])
      let book = try await first.store.read { try $0.get("Book:3", as: Second.Book.self) }
      #expect(book == Second.Book(id: 3, title: "3", isbn: "978-0"))
      // The older program reads on, and deletes.
      #expect(
        try await second.store.read { try $0.get("Book:3", as: First.Book.self) }?.title == "3")
      await expectNewerSchema(second.store)
      try await second.store.write { try $0.deleteIfPresent("Book:5") }
      try await second.store.write { try $0.set(Leaf(id: "another type")) }
      await second.close()
      second = try open("\(path)/b", MemoryConnection(log), [migration(counts[1])])
      #expect(counts[1].withLock(\.self) == 0)
      try await second.store.write { try $0.set(Second.Book(id: 6, title: "6", isbn: "1")) }
      // One that joins by the log, and one by a copy, know it too.
      let third = try open("\(path)/c", MemoryConnection(log))
      try await third.caughtUp()
      await expectNewerSchema(third.store)
      try await first.putSnapshot()
      let fourth = try open("\(path)/d", MemoryConnection(log))
      await expectNewerSchema(fourth.store)
      try await expectEqual([first, second, third, fourth])
      for store in [first, second, third, fourth] { await store.close() }
    }
  }

  @Test func `a newer program that writes a type guards it on all machines`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try open("\(path)/a", MemoryConnection(log))
      let second = try open("\(path)/b", MemoryConnection(log))
      try await second.store.write { try $0.set(First.Book(id: 1, title: "a")) }
      try await first.caughtUp()
      try await first.store.write { try $0.set(Second.Book(id: 2, title: "b", isbn: "2")) }
      #expect(log.messages.last?[4] == 3)
      // Only the first write of the type says so.
      try await first.store.write { try $0.set(Second.Book(id: 3, title: "c", isbn: "3")) }
      #expect(log.messages.last?[4] == 1)
      try await second.caughtUp()
      await expectNewerSchema(second.store)
      try await first.putSnapshot()
      let third = try open("\(path)/c", MemoryConnection(log))
      await expectNewerSchema(third.store)
      try await first.store.write { try $0.set(Second.Book(id: 4, title: "d", isbn: "4")) }
      try await expectEqual([first, second, third])
      for store in [first, second, third] { await store.close() }
    }
  }

  @Test func `a newer program's failed write leaves it to the next one to say so`() async throws {
    struct Stop: Error {}
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try open("\(path)/a", MemoryConnection(log))
      let second = try open("\(path)/b", MemoryConnection(log))
      for isOwn in [false, true] {
        await #expect(throws: (any Error).self) {
          try await first.store.write { transaction in
            try transaction.set(Second.Book(id: 1, title: "b", isbn: "2"))
            if isOwn { try transaction.setProperty("own", to: [1]) }
            throw Stop()
          }
        }
      }
      try await first.store.write { try $0.set(Second.Book(id: 1, title: "b", isbn: "2")) }
      try await second.caughtUp()
      await expectNewerSchema(second.store)
      try await expectEqual([first, second])
      for store in [first, second] { await store.close() }
    }
  }

  @Test func `an older program's write that has not seen the newer one is refused`() throws {
    try withReplicas(3) { replicas in
      let (new, old, newest) = (replicas[0], replicas[1], replicas[2])
      try new.store.write { try $0.set(Second.Book(id: 1, title: "b", isbn: "2")) }
      let error = #expect(throws: StoreError.self) {
        try old.store.write { try $0.set(First.Book(id: 2, title: "older")) }
      }
      #expect(error?.code == .newerSchema, "\(error as Any)")
      // One of no program may: it runs again.
      let behind = TreeNode("Book:3", type: "Book", fields: ["id": .integer(3), "title": "c"])
      try newest.store.write { try $0.set(Third.Book(id: 1, title: "b", isbn: "2", year: 1)) }
      try old.store.write { try $0.set(behind) }
      for replica in replicas { try replica.replica.catchUp() }
      #expect(try new.dump() == old.dump())
      #expect(try new.store.read { try $0.identifiers() } == ["Book:1", "Book:3"])
    }
  }

  @Test func `a record that came between is migrated too, and one of another type costs nothing`()
    async throws
  {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let other = try ReplicaFixture("\(path)/b", MemoryConnection(log))
      let hasWritten = Locked(0)
      let isArmed = Locked(false)
      let connection = MemoryConnection(log) { call, moment in
        guard call == .append, moment == .before, isArmed.withLock(\.self) else { return }
        // The marker of caughtUp, then the migration, then the migration again.
        switch hasWritten.withLock({ count in (count, count += 1).0 }) {
        case 1: try other.store.write { try $0.set(First.Book(id: 9, title: "between")) }
        case 2: try other.store.write { try $0.set(Leaf(id: "between")) }
        default: break
        }
      }
      let first = try open("\(path)/a", connection)
      try await first.store.write { try $0.set(First.Book(id: 1, title: "a")) }
      await first.close()
      try other.replica.catchUp()
      isArmed.withLock { $0 = true }
      let count = Locked(0)
      let again = try open("\(path)/a", connection, [migration(count)])
      #expect(count.withLock(\.self) == 3)
      isArmed.withLock { $0 = false }
      let book = try await again.store.read { try $0.get("Book:9", as: Second.Book.self) }
      #expect(book == Second.Book(id: 9, title: "between", isbn: "978-0"))
      try other.replica.catchUp()
      #expect(try other.dump() == again.store.dumpLines())
      await again.close()
      await other.store.close()
    }
  }

  @Test func `a migration that fails, or whose log is away, leaves everything as it was`()
    async throws
  {
    struct Stop: Error {}
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let isAway = Locked(false)
      let connection = MemoryConnection(log) { _, _ in
        if isAway.withLock(\.self) { throw LogFault.unavailable("out of reach") }
      }
      let first = try open("\(path)/a", MemoryConnection(log))
      try await first.store.write { try $0.set(First.Book(id: 1, title: "a")) }
      let lines = try first.store.dumpLines()
      await first.close()
      let failing = Migration(typeName: "Book", version: 2) { _ in throw Stop() }
      let failed = #expect(throws: StoreError.self) {
        try open("\(path)/a", connection, [failing])
      }
      #expect(failed?.code == .migrationFailed, "\(failed as Any)")
      isAway.withLock { $0 = true }
      let away = #expect(throws: StoreError.self) {
        try open("\(path)/a", connection, [migration()])
      }
      #expect(away?.code == .unavailable, "\(away as Any)")
      isAway.withLock { $0 = false }
      let again = try open("\(path)/a", connection)
      #expect(try again.store.dumpLines() == lines)
      await again.close()
      let migrated = try open("\(path)/a", connection, [migration()])
      #expect(
        try await migrated.store.read { try $0.get("Book:1", as: Second.Book.self) }?.isbn
          == "978-0")
      await migrated.close()
    }
  }

  @Test func `new machines with migrations begin a log and join it`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try open("\(path)/a", MemoryConnection(log), [migration()])
      let second = try open("\(path)/b", MemoryConnection(log), [migration()])
      try await second.store.write { try $0.set(Second.Book(id: 1, title: "a", isbn: "1")) }
      let third = try open("\(path)/c", MemoryConnection(log))
      try await third.caughtUp()
      await expectNewerSchema(third.store)
      // A store that held something is migrated before it gets its log.
      let old = try ModelStore(path: "\(path)/d", configuration: .forTests)
      try await old.write { try $0.set(First.Book(id: 1, title: "a")) }
      await old.close()
      let own = MemoryLog()
      let fourth = try open("\(path)/d", MemoryConnection(own), [migration()])
      #expect(
        try await fourth.store.read { try $0.get("Book:1", as: Second.Book.self) }?.isbn == "978-0")
      try await expectEqual([first, second, third])
      for store in [first, second, third, fourth] { await store.close() }
    }
  }

  /// Fixed: positions of the log that was lost counted in the one that took its place.
  @Test func `a log that begins again keeps the guard, and takes writes`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      var first = try open("\(path)/a", MemoryConnection(log))
      for id in 1...9 { try await first.store.write { try $0.set(Leaf(id: "\(id)")) } }
      try await first.store.write { try $0.set(Second.Book(id: 1, title: "a", isbn: "1")) }
      await first.close()
      log.truncate(to: 0)
      log.forgetNames()
      try await ReplicatedStore.republish(path: "\(path)/a", log: MemoryConnection(log))
      first = try open("\(path)/a", MemoryConnection(log))
      let second = try open("\(path)/b", MemoryConnection(log))
      try await second.caughtUp()
      await expectNewerSchema(second.store)
      let free = TreeNode("Book:2", type: "Book", fields: ["id": .integer(2), "title": "c"])
      for (turn, store) in [first, second].enumerated() {
        // Behind what it has not seen: it is judged.
        try await first.store.write { try $0.set(Leaf(id: "at \(turn)")) }
        try await store.store.write { try $0.set(free) }
      }
      try await expectEqual([first, second])
      for store in [first, second] { await store.close() }
    }
  }

  @Test func `a version that an earlier library has noted in one store refuses no entry`() throws {
    try withReplicas(2) { replicas in
      let environment = replicas[1].store.environment
      let table = try environment.rawTable("meta", create: false)
      let (key, value) = (Array("schema:Book".utf8), [3, 0, 0, 0] as [UInt8])
      try environment.write { try $0.put(value.span, forKey: key.span, in: table) }
      try replicas[0].store.write { try $0.set(Second.Book(id: 1, title: "b", isbn: "2")) }
      try replicas[1].replica.catchUp()
      #expect(try replicas[0].dump() == replicas[1].dump())
      #expect(try replicas[1].store.read { try $0.identifiers() } == ["Book:1"])
    }
  }

  @Test func `a store that is migrated without its log is refused`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try open("\(path)/a", MemoryConnection(log))
      try await first.store.write { try $0.set(First.Book(id: 1, title: "a")) }
      await first.close()
      var configuration = ModelStore.Configuration.forTests
      configuration.migrations = [migration()]
      let error = #expect(throws: StoreError.self) {
        try ModelStore(path: "\(path)/a", configuration: configuration)
      }
      #expect(error?.code == .replicated, "\(error as Any)")
    }
  }
}

private enum First {
  struct Book: Model, Codable, Equatable {
    var id: Int
    var title: String
    var modelIdentifier: String? { "Book:\(id)" }
    static let modelTypeName = "Book"
  }
}

private enum Second {
  struct Book: Model, Codable, Equatable, SchemaVersioned {
    var id: Int
    var title: String
    var isbn: String?
    var modelIdentifier: String? { "Book:\(id)" }
    static let modelTypeName = "Book"
    static let schemaVersion = 2
  }
}

private enum Third {
  struct Book: Model, Codable, Equatable, SchemaVersioned {
    var id: Int
    var title: String
    var isbn: String?
    var year: Int?
    var modelIdentifier: String? { "Book:\(id)" }
    static let modelTypeName = "Book"
    static let schemaVersion = 3
  }
}
