import FoundationEssentials
import PandoFixtures
import PandoModels
import PandoProviders
import PandoReplication
import PandoStore
import Testing

/// Stores whose content was replaced by a copy that does not come out of what they held: consumers and live data notice.
@Suite struct ReplacedStoreTests {
  private func open(_ path: String, _ log: MemoryLog) throws -> ReplicatedStore {
    try ReplicatedStore(path: path, log: MemoryConnection(log), configuration: .forTests)
  }

  private func write(_ ids: Range<Int>, _ text: String, to store: ReplicatedStore) async throws {
    for id in ids { try await store.store.write { try $0.set(Leaf(id: "\(id)", text: text)) } }
  }

  /// A cursor expires, and goes on behind what its consumer has read afresh.
  private func expectExpired(_ store: ReplicatedStore) async throws {
    let cursor = try store.store.cursor(named: "index")
    var changes = cursor.changes().makeAsyncIterator()
    let error = await #expect(throws: StoreError.self) { _ = try await changes.next() }
    #expect(error?.code == .changesExpired, "\(error as Any)")
    #expect("\(error as Any)".contains("cursor index"), "\(error as Any)")
    let last = try await store.store.read { try $0.commitNumber }
    try await cursor.acknowledge(last)
    #expect(try cursor.state.position == last)
    try await write(90..<91, "later", to: store)
    var later = cursor.changes().makeAsyncIterator()
    #expect(try await later.next()?.inserted == ["Leaf:90"])
    #expect(try store.store.verify().isClean)
  }

  /// Fixed: it went on from a number of the former history, and left out what was committed up to it.
  @Test(arguments: [0, 3, 12])
  func `a cursor of a store that join --replace has replaced expires`(count: Int) async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let (first, second) = try (open("\(path)/a", log), open("\(path)/b", log))
      try await write(0..<5, "both", to: first)
      try await second.caughtUp()
      await second.close()
      let length = log.messages.count
      try await write(5..<10, "lost", to: first)
      _ = try first.store.cursor(named: "index")
      await first.close()
      log.truncate(to: length)
      let other = try open("\(path)/b", log)
      try await write(5..<5 + count, "kept", to: other)
      try await other.putSnapshot()
      try await ReplicatedStore.replace(path: "\(path)/a", log: MemoryConnection(log))
      let again = try open("\(path)/a", log)
      try await again.caughtUp()
      try await expectExpired(again)
      await again.close()
      await other.close()
    }
  }

  /// Fixed: a lost commit and the one in its place have one number and one history.
  @Test(arguments: [0, 3, 5, 12])
  func `a number of a lost commit expires, also when the store has come as far`(count: Int)
    async throws
  {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let (first, second) = try (open("\(path)/a", log), open("\(path)/b", log))
      try await write(0..<5, "both", to: first)
      try await second.caughtUp()
      await second.close()
      let length = log.messages.count
      let common = try await first.store.read { try $0.commitNumber }
      try await write(5..<10, "lost", to: first)
      let lost = try await first.store.read { try $0.commitNumber }
      await first.close()
      log.truncate(to: length)
      let other = try open("\(path)/b", log)
      try await write(5..<5 + count, "kept", to: other)
      try await other.putSnapshot()
      try await ReplicatedStore.replace(path: "\(path)/a", log: MemoryConnection(log))
      let again = try open("\(path)/a", log)
      try await again.caughtUp()
      let next = try await again.store.read { try $0.commitNumber }
      try await write(20..<32, "later", to: other)
      try await again.caughtUp()
      for number in [common, lost] {
        let error = #expect(throws: StoreError.self) {
          try again.store.read { _ = try $0.changes(since: number) }
        }
        #expect(error?.code == .changesExpired, "\(error as Any)")
      }
      // What was read since the replacement goes on, and is the machine's own.
      let changes = try await again.store.read { try $0.changes(since: next) }
      #expect(changes.flatMap(\.inserted) == (20..<32).map { "Leaf:\($0)" })
      let error = #expect(throws: StoreError.self) {
        try other.store.read { _ = try $0.changes(since: next) }
      }
      #expect(error?.code == .changesExpired)
      let contents = try [again, other].map { store in
        try store.store.read { try $0.commitNumber.value }
      }
      #expect(contents[0] == contents[1])
      #expect(try again.store.verify().isClean)
      await again.close()
      await other.close()
    }
  }

  @Test func `a cursor stays if a copy has the commits of the store`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let (first, second) = try (open("\(path)/a", log), open("\(path)/b", log))
      try await write(0..<5, "both", to: first)
      try await second.caughtUp()
      let cursor = try second.store.cursor(named: "index")
      let position = try cursor.state.position
      await second.close()
      try await write(5..<10, "new", to: first)
      try await first.putSnapshot()
      try await ReplicatedStore.replace(path: "\(path)/b", log: MemoryConnection(log))
      let again = try open("\(path)/b", log)
      try await again.caughtUp()
      let found = try again.store.cursor(named: "index")
      #expect(try found.state.position == position && position.value == 5)
      var changes = found.changes().makeAsyncIterator()
      #expect(try await changes.next()?.inserted == ["Leaf:5"])
      await again.close()
      await first.close()
    }
  }

  /// Fixed: providers went on to show what a copy with a lower commit number does not have, and the cursor went on.
  @Test func `a machine that runs while all go back to a backup shows the backup`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try open("\(path)/a", log)
      try await write(0..<5, "old", to: first)
      try await ReplicatedStore.copy(path: "\(path)/a", to: "\(path)/backup")
      try await write(3..<10, "lost", to: first)
      let second = try open("\(path)/b", log)
      try await second.caughtUp()
      _ = try second.store.cursor(named: "index")
      let manager = try DataModelManager(store: second.store)
      let (kept, gone) = (
        DataProvider<Leaf>(dataModelManager: manager), DataProvider<Leaf>(dataModelManager: manager)
      )
      try await kept.fetchDataFromCache(withCacheKey: "Leaf:3")
      try await gone.fetchDataFromCache(withCacheKey: "Leaf:9")
      #expect(kept.data?.text == "lost" && gone.data?.text == "lost")
      await first.close()
      try FileManager.default.removeItem(atPath: "\(path)/a")
      try FileManager.default.moveItem(atPath: "\(path)/backup", toPath: "\(path)/a")
      try await ReplicatedStore.republish(path: "\(path)/a", log: MemoryConnection(log))
      let restored = try open("\(path)/a", log)
      try await second.caughtUp()
      try await manager.refresh()
      #expect(kept.data?.text == "old" && gone.data == nil)
      // As commits come again that had their numbers before.
      try await write(9..<10, "new", to: restored)
      try await second.caughtUp()
      try await manager.refresh()
      #expect(kept.data?.text == "old" && gone.data?.text == "new")
      try await expectExpired(second)
      await manager.close()
      await second.close()
      await restored.close()
    }
  }
}
