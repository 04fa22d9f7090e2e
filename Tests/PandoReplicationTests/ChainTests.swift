import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// The hashes of the last positions, which stores and their copies keep.
@Suite struct ChainTests {
  private func chains(_ store: ModelStore) throws -> [[UInt8]: [UInt8]] {
    let meta = try store.environment.rawTable("meta")
    var rows: [[UInt8]: [UInt8]] = [:]
    try store.environment.read { snapshot in
      try snapshot.scan(meta, prefix: ChainRows.prefix) { key, value in
        rows[Array(copying: key)] = Array(copying: value)
        return true
      }
    }
    return rows
  }

  /// As a program of an earlier version leaves a store.
  private func removeChains(_ store: ModelStore) throws {
    let meta = try store.environment.rawTable("meta")
    let keys = try chains(store).keys
    try store.environment.write { transaction in
      for key in keys { try transaction.delete(key: key.span, in: meta) }
    }
  }

  private func expectCode<Result>(
    _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Result
  ) -> StoreError? {
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { _ = try body() }
    #expect(error?.code == code, "\(error as Any)", sourceLocation: sourceLocation)
    return error
  }

  @Test(arguments: [3, 20_500])
  func `all replicas keep the same hashes, of the last 10 000 positions and some more`(
    count: Int
  ) throws {
    let log = MemoryLog()
    var configuration = ReplicaConfiguration.forTests
    configuration.messageByteCountMaximum = 1024
    try withReplicas(2, on: log, configuration) { replicas in
      // In parts, over the edge of what is let go at once.
      for _ in 0..<count - 3 { log.append([0]) }
      try replicas[0].store.write { transaction in
        for id in 0..<40 { try transaction.set(Leaf(id: "\(id)", text: "a text of some length")) }
      }
      try replicas[0].store.write { try $0.set(Leaf(id: "1")) }
      for replica in replicas { try replica.replica.catchUp() }
      let rows = try chains(replicas[0].store)
      #expect(try rows == chains(replicas[1].store))
      let end = log.messages.count
      let first = count > 10_000 ? end / 1000 * 1000 - 10_000 : 0
      #expect(rows.count == end - first + 1)
      #expect(try replicas[0].store.read { try $0.firstChain?.position } == UInt64(first))
      var chain = EntryChain()
      for (index, message) in log.messages.enumerated() {
        chain = chain.appending(message)
        if index + 1 < first { continue }
        #expect(rows[ChainRows.key(UInt64(index + 1))] == ChainRows.bytes(chain))
      }
      #expect(try replicas[0].dump() == replicas[1].dump())
    }
  }

  @Test func `a store of an earlier version goes on, and keeps hashes from its next commit on`()
    throws
  {
    let log = MemoryLog()
    try withReplicas(2, on: log) { replicas in
      for id in ["1", "2"] { try replicas[0].store.write { try $0.set(Leaf(id: id)) } }
      for replica in replicas {
        try replica.replica.catchUp()
        try removeChains(replica.store)
        try replica.replica.catchUp()
        #expect(try chains(replica.store).isEmpty)
      }
      try replicas[0].store.write { try $0.set(Leaf(id: "3")) }
      try replicas[1].replica.catchUp()
      for replica in replicas {
        #expect(try replica.store.read { try $0.firstChain?.position } == 3)
        #expect(try chains(replica.store).count == 2)
      }
      // One that an earlier version has led on meanwhile begins them again.
      try replicas[1].store.environment.write { transaction in
        let meta = try replicas[1].store.environment.rawTable("meta")
        try transaction.delete(key: ChainRows.key(4).span, in: meta)
      }
      for replica in replicas { try replica.store.write { try $0.set(Leaf(id: "4")) } }
      #expect(try replicas[1].store.read { try $0.firstChain?.position } == 4)
      for replica in replicas { try replica.replica.catchUp() }
      #expect(try replicas[0].dump() == replicas[1].dump())
      #expect(replicas[0].replica.statistics.foreign + replicas[1].replica.statistics.foreign == 0)
    }
  }

  /// A machine that has a write of its own was away, and the log has forgotten what it had and what came next.
  private func comeBack(
    lost: Bool, then count: Int, _ body: (ReplicaFixture) throws -> Void
  ) throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      let here = try ReplicaFixture("\(path)/here", MemoryConnection(log))
      let there = try ReplicaFixture("\(path)/there", MemoryConnection(log))
      for store in [here.store, there.store] { try store.write { try $0.set(Leaf(id: "1")) } }
      try here.replica.catchUp()
      try here.store.write { try $0.set(Leaf(id: "mine")) }
      here.store.close()
      if lost { log.truncate(to: 3) }
      for _ in 0..<count { log.append([0]) }
      try there.store.write { try $0.set(Leaf(id: "theirs")) }
      _ = try there.replica.putSnapshot()
      log.forget(first: log.messages.count)
      defer { there.store.close() }
      let again = try ReplicaFixture("\(path)/here", MemoryConnection(log))
      defer { again.store.close() }
      try body(again)
      if !lost { #expect(try again.dump() == there.dump()) }
    }
  }

  @Test func `a copy replaces the contents of a store if it continues the store's history`() throws
  {
    try comeBack(lost: false, then: 9_000) { fixture in
      try fixture.replica.catchUp()
      #expect(fixture.replica.statistics.replaced == 1)
      #expect(try fixture.store.read { try $0.get("Leaf:theirs", as: Leaf.self) } != nil)
    }
  }

  /// It was overwritten where the change log did not reach back on both sides.
  @Test func `a copy does not overwrite a write that the log has lost`() throws {
    try comeBack(lost: true, then: 9_000) { fixture in
      let lines = try fixture.dump()
      let error = expectCode(.forked) { try fixture.replica.catchUp() }
      #expect(error?.reason.contains("applied 4") == true, "\(error as Any)")
      #expect(try fixture.dump() == lines)
      _ = expectCode(.forked) { try fixture.store.write { try $0.set(Leaf(id: "no")) } }
      #expect(try fixture.store.read { try $0.get("Leaf:mine", as: Leaf.self) } != nil)
    }
  }

  @Test(arguments: [true, false])
  func `a copy whose hashes do not reach back to a store does not take its place`(
    lost: Bool
  ) throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      let here = try ReplicaFixture("\(path)/here", MemoryConnection(log))
      let there = try ReplicaFixture("\(path)/there", MemoryConnection(log))
      try here.store.write { try $0.set(Leaf(id: "1")) }
      try there.replica.catchUp()
      try here.store.write { try $0.set(Leaf(id: "mine")) }
      here.store.close()
      if lost { log.truncate(to: 2) }
      for _ in 0..<12_000 { log.append([0]) }
      try there.replica.catchUp()
      _ = try there.replica.putSnapshot()
      there.store.close()
      log.forget(first: log.messages.count)
      let again = try ReplicaFixture("\(path)/here", MemoryConnection(log))
      defer { again.store.close() }
      let lines = try again.dump()
      let error = expectCode(.logLost) { try again.replica.catchUp() }
      for words in ["position 3,", "from position 2000 on"] {
        #expect(error?.reason.contains(words) == true, "\(error as Any)")
      }
      #expect(try again.dump() == lines)
    }
  }

  /// It took the place of a newer one, and whoever needed that waited for ever.
  @Test func `a copy from which no machine could continue is not put`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let ahead = try ReplicaFixture("\(path)/a", MemoryConnection(log))
      defer { ahead.store.close() }
      let behind = try ReplicaFixture("\(path)/b", MemoryConnection(log))
      defer { behind.store.close() }
      for id in 0..<3 { try await ahead.store.write { try $0.set(Leaf(id: "\(id)")) } }
      #expect(try ahead.replica.putSnapshot() == 4)
      log.forget(first: 3)
      let error = #expect(throws: LogFault.self) { try behind.replica.putSnapshot() }
      guard case .unavailable(let reason)? = error else { return }
      #expect(reason.contains("ends at position 4"))
      #expect(reason.contains("after 1,"))
      let refusal = await #expect(throws: StoreError.self) {
        try await ReplicatedStore.putSnapshot(
          path: "\(path)/b", log: MemoryConnection(log))
      }
      #expect(refusal?.code == .unavailable)
      #expect(log.state.withLock { $0.snapshot?.position } == 4)
      try behind.replica.catchUp()
      #expect(behind.replica.statistics.replaced == 1)
      #expect(try behind.dump() == ahead.dump())
    }
  }

  @Test func `a forked store puts no copy, and no store begins with a forked copy`() throws {
    let log = MemoryLog()
    try withTemporaryDirectory { path in
      let first = try ReplicaFixture("\(path)/a", MemoryConnection(log))
      defer { first.store.close() }
      for id in 0..<3 { try first.store.write { try $0.set(Leaf(id: "\(id)")) } }
      _ = try first.replica.putSnapshot()
      let messages = log.messages
      log.truncate(to: 3)
      log.append([0])
      _ = expectCode(.forked) { try first.replica.putSnapshot() }
      #expect(first.replica.halt?.code == .forked)
      // The copy that lies there is of the same history.
      func begin() throws -> ModelStore {
        try ReplicatedStore.begin("\(path)/b", MemoryConnection(log), .forTests)
      }
      let error = expectCode(.forked) { try begin() }
      #expect(error?.reason.contains("applied 4") == true, "\(error as Any)")
      // Nothing is in its way once the log has what was lost.
      log.state.withLock { $0.messages = messages }
      let second = try begin()
      defer { second.close() }
      #expect(try second.dumpLines() == first.dump())
    }
  }
}
