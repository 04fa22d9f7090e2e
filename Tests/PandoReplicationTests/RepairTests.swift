import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// What mends a log, where it does not fit, and copies of a store that this process has open.
@Suite struct RepairTests {
  private func open(_ path: String, _ log: MemoryLog) throws -> ReplicatedStore {
    try ReplicatedStore(path: path, log: MemoryConnection(log), configuration: .forTests)
  }

  private func begin(_ path: String, _ log: MemoryLog, _ ids: ClosedRange<Int>) async throws {
    let store = try open(path, log)
    for id in ids { try await store.store.write { try $0.set(Leaf(id: "\(id)")) } }
    await store.close()
  }

  /// Fixed: the log had two beginnings, and neither of the two machines could go on behind them.
  @Test func `a log that another store has begun is not made to go on from this one`() async throws
  {
    try await withTemporaryDirectory { path in
      let (lost, new) = (MemoryLog(), MemoryLog())
      try await begin("\(path)/a", lost, 1...5)
      try await begin("\(path)/b", new, 6...7)
      let messages = new.messages
      for call in [ReplicatedStore.republish, ReplicatedStore.putSnapshot] {
        let error = await #expect(throws: StoreError.self) {
          try await call("\(path)/a", MemoryConnection(new))
        }
        #expect(error?.code == .logLost, "\(error as Any)")
        #expect(error?.reason.contains("another store") == true, "\(error as Any)")
        #expect(
          error?.reason.contains("ends at position \(messages.count)") == true, "\(error as Any)")
      }
      #expect(new.messages == messages)
      #expect(new.state.withLock { $0.snapshot } == nil)
      let second = try open("\(path)/b", new)
      try await second.store.write { try $0.set(Leaf(id: "8")) }
      await second.close()
      // Emptied, it goes on from the first, and the second can become that.
      let end = new.messages.count
      new.forget(first: end)
      let position = try await ReplicatedStore.republish(
        path: "\(path)/a", log: MemoryConnection(new))
      #expect(position == UInt64(end + 1))
      let other = try open("\(path)/b", new)
      let error = await #expect(throws: StoreError.self) { try await other.caughtUp() }
      await other.close()
      #expect(error?.code == .logLost, "\(error as Any)")
      try await ReplicatedStore.replace(path: "\(path)/b", log: MemoryConnection(new))
      let stores = [try open("\(path)/a", new), try open("\(path)/b", new)]
      try await stores[1].store.write { try $0.set(Leaf(id: "10")) }
      for store in stores { try await store.caughtUp() }
      #expect(try stores[0].store.dumpLines() == stores[1].store.dumpLines())
      #expect(try await stores[0].store.read { try $0.count() } == 6)
      for store in stores { await store.close() }
    }
  }

  @Test func `a copy of another log is not begun with`() async throws {
    try await withTemporaryDirectory { path in
      let logs = [MemoryLog(), MemoryLog()]
      try await begin("\(path)/0", logs[0], 1...3)
      try await begin("\(path)/1", logs[1], 4...9)
      try await ReplicatedStore.putSnapshot(path: "\(path)/0", log: MemoryConnection(logs[0]))
      let copy = logs[0].state.withLock { $0.snapshot }
      logs[1].state.withLock { $0.snapshot = copy }
      let error = #expect(throws: StoreError.self) { try open("\(path)/2", logs[1]) }
      #expect(error?.code == .logLost, "\(error as Any)")
      #expect(access("\(path)/2/data.mdb", F_OK) != 0)
    }
  }

  /// Fixed: they opened the folder a second time, which LMDB forbids.
  @Test func `a store that this process has open is copied, and its copy put beside the log`()
    async throws
  {
    try await withTemporaryDirectory { path in
      let log = MemoryLog()
      let first = try open("\(path)/a", log)
      try await first.store.write { try $0.set(Leaf(id: "1")) }
      symlink("\(path)/a", "\(path)/link")
      // A message without writes may have come behind it, where that took long.
      #expect(
        try await ReplicatedStore.putSnapshot(path: "\(path)/link", log: MemoryConnection(log)) >= 2
      )
      #expect(try await ReplicatedStore.copy(path: "\(path)/a", to: "\(path)/b") >= 2)
      try await first.store.write { try $0.set(Leaf(id: "2")) }
      let second = try open("\(path)/b", log)
      try await second.caughtUp()
      #expect(try second.store.dumpLines() == first.store.dumpLines())
      for store in [first, second] { await store.close() }
      #expect(try await ReplicatedStore.copy(path: "\(path)/a", to: "\(path)/c") >= 3)
    }
  }
}
