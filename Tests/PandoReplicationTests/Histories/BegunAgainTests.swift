import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Machines that are open while their log is begun again from the store of another one.
@Suite struct BegunAgainTests {
  /// Has the log go on from what a store holds, which nobody has open; not on a thread that runs tests.
  private static func republish(_ path: String, _ log: MemoryLog) throws {
    let isDone = Event()
    let outcome = Locked<Result<UInt64, any Error>?>(nil)
    Task.detached {
      do {
        let position = try await ReplicatedStore.republish(path: path, log: MemoryConnection(log))
        outcome.withLock { $0 = .success(position) }
      } catch {
        outcome.withLock { $0 = .failure(error) }
      }
      isDone.signal()
    }
    isDone.wait()
    _ = try outcome.withLock(\.self)?.get()
  }

  private func number(_ store: ModelStore) throws -> CommitNumber {
    try store.read { try $0.commitNumber }
  }

  /// Fixed: where the copy had as many commits, the next one got the mark of the history that was left.
  @Test func `the first commit behind a log that was begun again has its history`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      defer { first.store.close() }
      let second = try ReplicaFixture("\(path)/2", MemoryConnection(log))
      try await second.store.write { try $0.set(Leaf(id: "1")) }
      try first.replica.catchUp()
      // Written at once: the writer remembers whose the last commit is.
      try await first.store.write { try $0.set(Leaf(id: "2")) }
      try second.replica.catchUp()
      await second.store.close()
      let before = try number(first.store)
      try await ReplicatedStore.republish(path: "\(path)/2", log: MemoryConnection(log))
      try first.replica.catchUp()
      #expect(first.replica.statistics.replaced == 1)
      #expect(try number(first.store) == before)
      let heard = Locked<[CommitNumber]>([])
      first.store.setCommitHandler { change in heard.withLock { $0.append(change.commitNumber) } }
      try await first.store.write { try $0.set(Leaf(id: "3")) }
      let after = try number(first.store)
      #expect(after.value == before.value + 1)
      #expect(after.history != before.history)
      #expect(heard.withLock(\.self) == [after])
      #expect(
        try await first.store.read { try $0.changes(since: before) }.map(\.commitNumber) == [after])
      let again = try ReplicaFixture("\(path)/2", MemoryConnection(log))
      defer { again.store.close() }
      try again.replica.catchUp()
      #expect(try number(again.store) == after)
    }
  }

  /// Fixed: such an entry was taken for malformed, and its write failed as one of which nobody knows.
  ///
  /// It says that it was made from more commits than there are now. One that was made from the last message before was taken
  /// for one of another log.
  @Test(arguments: 0...2)
  func `a write that was sent before its log was begun again runs again behind that`(
    between: Int
  ) async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let isDue = Locked(false)
      let connection = MemoryConnection(log) { call, moment in
        guard call == .append, moment == .before, isDue.withLock({ exchange(&$0, with: false) })
        else { return }
        for _ in 0..<between { log.append([7]) }
        try Self.republish("\(path)/2", log)
      }
      let first = try ReplicaFixture("\(path)/1", connection)
      defer { first.store.close() }
      let second = try ReplicaFixture("\(path)/2", MemoryConnection(log))
      try await first.store.write { try $0.set(Leaf(id: "kept")) }
      try second.replica.catchUp()
      await second.store.close()
      for id in 1...4 { try await first.store.write { try $0.set(Leaf(id: "\(id)")) } }
      let runs = Locked(0)
      isDue.withLock { $0 = true }
      try await blocking {
        try first.store.write { transaction in
          runs.withLock { $0 += 1 }
          try transaction.set(Leaf(id: "sent"))
        }
      }
      #expect(runs.withLock(\.self) == 2)
      #expect(first.replica.statistics.refused == 1)
      #expect(first.replica.statistics.foreign == 0)
      #expect(try await first.store.read { try $0.count() } == 2)
      #expect(try await first.store.read { try $0.contains("Leaf:sent") })
      let again = try ReplicaFixture("\(path)/2", MemoryConnection(log))
      defer { again.store.close() }
      try again.replica.catchUp()
      #expect(try again.dump() == first.dump())
    }
  }
}
