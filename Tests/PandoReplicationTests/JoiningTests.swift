import PandoFixtures
import PandoLMDB
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Copies beside a log: who joins by one, who has been away too long, and logs that have lost something.
@Suite struct JoiningTests {
  private func open(_ path: String, _ log: MemoryLog) throws -> ReplicatedStore {
    try ReplicatedStore(path: path, log: MemoryConnection(log), configuration: .forTests)
  }

  /// A store with some of everything that replicas have alike, and with rows of its own.
  private func fill(_ store: ModelStore, _ range: Range<Int>) async throws {
    for number in range {
      try await store.write { transaction in
        try transaction.set(
          Card(
            id: "\(number)", text: "text \(number)",
            required: Leaf(id: "shared", text: "\(number)"),
            leaves: [Leaf(id: "of \(number)")]))
        try transaction.append([Mark(number: number)], toCollection: "marks")
        if number % 5 == 4 { try transaction.deleteIfPresent("Leaf:of \(number - 2)") }
      }
    }
    try await store.write { try $0.setProperty("own", to: Array("\(range)".utf8)) }
  }

  /// The lines of a dump that all replicas have alike.
  private func shared(_ store: ReplicatedStore) throws -> [String] {
    try store.store.dumpLines().filter { !$0.contains("\"property\"") }
  }

  private func expectEqual(
    _ stores: [ReplicatedStore], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for store in stores { try await store.caughtUp() }
    let dump = try shared(stores[0])
    let number = try await stores[0].store.read { try $0.commitNumber }
    #expect(number.history != 0, sourceLocation: sourceLocation)
    for store in stores {
      #expect(
        try await store.store.read { try $0.commitNumber } == number, sourceLocation: sourceLocation
      )
      #expect(try shared(store) == dump, sourceLocation: sourceLocation)
      #expect(try store.store.verify().isClean, sourceLocation: sourceLocation)
      #expect(!store.status.isStopped, sourceLocation: sourceLocation)
    }
  }

  private func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

  private func close(_ stores: [ReplicatedStore]) async {
    for store in stores { await store.close() }
  }

  @Test func `a new store begins as the newest copy, and goes on from there`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try open("\(path)/a", log)
      try await fill(first.store, 0..<20)
      let position = try await first.putSnapshot()
      // A machine that is quiet for long appends marks.
      #expect(position >= 21)
      // The beginning is not kept: only the copy has it.
      log.forget(first: 15)
      try await fill(first.store, 20..<25)
      let second = try open("\(path)/b", log)
      try await expectEqual([first, second])
      try await fill(second.store, 25..<30)
      try await expectEqual([first, second])
      // What is a store's own does not go along, and the two are two.
      #expect(try await second.store.read { try $0.property("own") } == Array("25..<30".utf8))
      let identifiers = try [first, second].map { try $0.store.statistics().storeIdentifier }
      #expect(identifiers[0] != identifiers[1])
      await close([first, second])
    }
  }

  @Test func `rows of one store alone are in no copy, not even on a free page`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let store = try open("\(path)/a", log)
      try await fill(store.store, 0..<3)
      try await store.store.write { try $0.setProperty("own", to: Array("a secret".utf8)) }
      let table = try store.store.environment.rawTable("mine")
      try store.store.environment.write { transaction in
        let (key, value) = (Array("key".utf8), Array("another secret".utf8))
        try transaction.put(value.span, forKey: key.span, in: table)
      }
      try await store.putSnapshot()
      let bytes = try #require(log.state.withLock { $0.snapshot }).parts.flatMap(\.self)
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.contains("text 1"))
      #expect(!text.contains("secret"))
      await store.close()
    }
  }

  @Test func `a copy from behind the end of a log that has lost its end is not begun with`()
    async throws
  {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try open("\(path)/a", log)
      try await fill(first.store, 0..<5)
      try await first.putSnapshot()
      await close([first])
      log.truncate(to: 3)
      let error = #expect(throws: StoreError.self) { try open("\(path)/b", log) }
      #expect(error?.code == .logLost)
      #expect(error?.reason.contains("ends at position 3") == true, "\(error as Any)")
      #expect(error?.reason.contains("newest copy has 6") == true, "\(error as Any)")
      #expect(!isThere("\(path)/b/data.mdb") && !isThere("\(path)/b/joining"))
      // The machine that has the end brings it back, and who was told may begin.
      let connection = MemoryConnection(log)
      try await ReplicatedStore.republish(path: "\(path)/a", log: connection)
      let (again, second) = try (open("\(path)/a", log), open("\(path)/b", log))
      try await fill(second.store, 5..<7)
      try await expectEqual([again, second])
      await close([again, second])
    }
  }

  @Test func `a log that begins with a store that held something is joined by a copy`() async throws
  {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let plain = try ModelStore(path: "\(path)/a", configuration: .forTests)
      try await fill(plain, 0..<10)
      await plain.close()
      let first = try open("\(path)/a", log)
      // It makes the copy by itself.
      await blocking { log.waitForSnapshot() }
      let second = try open("\(path)/b", log)
      try await fill(second.store, 10..<12)
      try await expectEqual([first, second])
      await close([first, second])
    }
  }

  @Test func `a store that was away too long becomes the newest copy, notifies followers`()
    async throws
  {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try open("\(path)/a", log)
      let isAway = Locked(false)
      let away = MemoryConnection(log) { _, _ in
        if isAway.withLock(\.self) { throw LogFault.unavailable("out of reach") }
      }
      let second = try ReplicatedStore(path: "\(path)/b", log: away, configuration: .forTests)
      try await fill(first.store, 0..<10)
      try await second.caughtUp()
      try await second.store.write { try $0.setProperty("own", to: [1]) }
      isAway.withLock { $0 = true }
      try await fill(first.store, 10..<30)
      try await first.store.write { try $0.deleteIfPresent("Card:3") }
      try await first.putSnapshot()
      try await fill(first.store, 30..<33)
      log.forget(first: 25)
      let seen = try await second.store.read { try $0.commitNumber.value }
      let followed = second.store.changes(since: CommitNumber(value: seen))
      isAway.withLock { $0 = false }
      try await expectEqual([first, second])
      #expect(second.status.replacedCount == 1)
      #expect(try await second.store.read { try $0.property("own") } == [1])
      let last = try await second.store.read { try $0.commitNumber.value }
      var numbers: [UInt64] = []
      for try await change in followed {
        numbers.append(change.commitNumber.value)
        if change.commitNumber.value == last { break }
      }
      #expect(numbers == Array(seen + 1...last))
      // And it writes as before.
      try await fill(second.store, 40..<42)
      try await expectEqual([first, second])
      await close([first, second])
    }
  }

  @Test func `a store that was closed for too long becomes the newest copy when it is opened`()
    async throws
  {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try open("\(path)/a", log)
      let second = try open("\(path)/b", log)
      try await fill(first.store, 0..<5)
      try await second.caughtUp()
      await second.close()
      try await fill(first.store, 5..<20)
      log.forget(first: 10)
      let error = #expect(throws: StoreError.self) { try open("\(path)/b", log) }
      #expect(error?.code == .logLost, "\(error as Any)")
      try await first.putSnapshot()
      let again = try open("\(path)/b", log)
      try await expectEqual([first, again])
      #expect(again.status.replacedCount == 1)
      await close([first, again])
    }
  }

  /// What becomes of a copy on its way.
  enum Damage: CaseIterable {
    case cutOff
    case changed
    case empty
  }

  @Test(arguments: Damage.allCases)
  func `a damaged copy is refused, and nothing is left of it`(damage: Damage) async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try open("\(path)/a", log)
      try await fill(first.store, 0..<200)
      try await first.putSnapshot()
      log.state.withLock { state in
        var bytes = state.snapshot?.parts.flatMap(\.self) ?? []
        switch damage {
        case .cutOff: bytes.removeLast(bytes.count / 2)
        case .changed: for index in 0..<16 { bytes[bytes.count * 3 / 4 + index] ^= 255 }
        case .empty: bytes = []
        }
        state.snapshot?.parts = [bytes]
      }
      #expect(throws: (any Error).self) { try open("\(path)/b", log) }
      #expect(!isThere("\(path)/b/data.mdb"))
      #expect(!isThere("\(path)/b/joining"))
      // Another copy, and it goes.
      try await first.putSnapshot()
      let second = try open("\(path)/b", log)
      try await expectEqual([first, second])
      await close([first, second])
    }
  }

  @Test(arguments: [0, 1, 7])
  func `a log that lost its end goes on from a store that has it`(kept: Int) async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      var stores = try ["a", "b", "c"].map { try open("\(path)/\($0)", log) }
      try await fill(stores[0].store, 0..<10)
      try await stores[1].caughtUp()
      try await fill(stores[0].store, 10..<15)
      try await stores[2].caughtUp()
      let dump = try stores[0].store.dumpLines()
      let last = try await stores[0].store.read { try $0.commitNumber }
      await close(stores)
      log.truncate(to: kept)
      let error = #expect(throws: StoreError.self) { try open("\(path)/a", log) }
      #expect(kept == 0 || error?.code == .logLost, "\(error as Any)")
      let position = try await ReplicatedStore.republish(
        path: "\(path)/a", log: MemoryConnection(log))
      #expect(position == UInt64(kept + 1))
      stores[0] = try open("\(path)/a", log)
      #expect(try stores[0].store.dumpLines() == dump)
      // Who is ahead of the log is told, and is made equal when it is asked for.
      for (index, name) in [(1, "b"), (2, "c")] {
        #expect(throws: StoreError.self) { try open("\(path)/\(name)", log) }
        try await ReplicatedStore.replace(path: "\(path)/\(name)", log: MemoryConnection(log))
        stores[index] = try open("\(path)/\(name)", log)
      }
      try await fill(stores[1].store, 20..<24)
      try await expectEqual(stores)
      // What was written before the log began again is known by the same numbers.
      for store in stores {
        let changes = try await store.store.read { try $0.changes(since: last) }
        #expect(changes.count == 4)
        #expect(Set(changes.map(\.commitNumber.history)).count == 1)
        #expect(changes.allSatisfy { $0.commitNumber.history != last.history })
      }
      await close(stores)
    }
  }

  @Test func `a store behind the position where a log was begun again continues by itself`()
    async throws
  {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try open("\(path)/a", log)
      let second = try open("\(path)/b", log)
      try await fill(first.store, 0..<4)
      try await second.caughtUp()
      await second.close()
      try await fill(first.store, 4..<12)
      await first.close()
      log.truncate(to: 8)
      try await ReplicatedStore.republish(path: "\(path)/a", log: MemoryConnection(log))
      let stores = [try open("\(path)/a", log), try open("\(path)/b", log)]
      try await expectEqual(stores)
      #expect(stores[1].status.replacedCount == 1)
      await close(stores)
    }
  }

  @Test func `a plain store is neither published again nor replaced`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let store = try ModelStore(path: "\(path)/a", configuration: .forTests)
      try await fill(store, 0..<1)
      await store.close()
      for call in [ReplicatedStore.republish, ReplicatedStore.replace] {
        let error = await #expect(throws: StoreError.self) {
          try await call("\(path)/a", MemoryConnection(log))
        }
        #expect(error?.code == .replicated)
      }
      #expect(log.messages.isEmpty)
    }
  }
}
