import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Machines that come to a log whose beginning only a copy could bring, before there is a copy.
@Suite struct EarlyMachineTests {
  private func open(_ path: String, _ log: any ReplicationLog) throws -> ReplicatedStore {
    try ReplicatedStore(path: path, log: log, configuration: .forTests)
  }

  /// A replica that puts no copy by itself.
  private func begin(_ path: String, _ log: MemoryLog, holdsSomething: Bool) throws
    -> ReplicaFixture
  {
    if holdsSomething {
      let plain = try ModelStore(path: path, configuration: .forTests)
      try plain.write { try $0.set(Leaf(id: "held")) }
      plain.close()
    }
    let fixture = try ReplicaFixture(path, MemoryConnection(log))
    for id in 1...5 { try fixture.store.write { try $0.set(Leaf(id: "\(id)")) } }
    if !holdsSomething { log.forget(first: 3) }
    return fixture
  }

  /// Fixed: the folder kept an empty store, which could never join.
  @Test(arguments: [false, true])
  func `a machine that came before there was a copy joins when there is one`(
    holdsSomething: Bool
  ) async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try begin("\(path)/a", log, holdsSomething: holdsSomething)
      defer { first.store.close() }
      for _ in 0..<2 {
        let error = #expect(throws: StoreError.self) {
          try open("\(path)/b", MemoryConnection(log))
        }
        #expect(
          error?.code == .unavailable && error?.reason.contains("copy") == true, "\(error as Any)")
      }
      try await ReplicatedStore.putSnapshot(path: first.store.path, log: MemoryConnection(log))
      try await first.store.write { try $0.set(Leaf(id: "6")) }
      let second = try open("\(path)/b", MemoryConnection(log))
      try await second.caughtUp()
      #expect(try second.store.dumpLines() == first.dump())
      #expect(try second.store.verify().isClean)
      try await second.store.write { try $0.set(Leaf(id: "7")) }
      try first.replica.catchUp()
      #expect(try second.store.dumpLines() == first.dump())
      let identifiers = try [first.store, second.store].map { try $0.statistics().storeIdentifier }
      #expect(identifiers[0] != identifiers[1])
      await second.close()
    }
  }

  @Test func `an empty store with properties keeps them when it becomes a copy`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try begin("\(path)/a", log, holdsSomething: true)
      defer { first.store.close() }
      try await ReplicatedStore.putSnapshot(path: first.store.path, log: MemoryConnection(log))
      let plain = try ModelStore(path: "\(path)/b", configuration: .forTests)
      try await plain.write { try $0.setProperty("own", to: [1]) }
      await plain.close()
      let second = try open("\(path)/b", MemoryConnection(log))
      try await second.caughtUp()
      #expect(try await second.store.read { try $0.property("own") } == [1])
      #expect(try await second.store.read { try $0.get("Leaf:held", as: Leaf.self) } != nil)
      await second.close()
    }
  }

  @Test func `a store that holds something of its own stays as it is`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try begin("\(path)/a", log, holdsSomething: true)
      defer { first.store.close() }
      try await ReplicatedStore.putSnapshot(path: first.store.path, log: MemoryConnection(log))
      let plain = try ModelStore(path: "\(path)/b", configuration: .forTests)
      try await plain.write { try $0.set(Leaf(id: "own")) }
      let lines = try plain.dumpLines()
      await plain.close()
      let error = #expect(throws: StoreError.self) { try open("\(path)/b", MemoryConnection(log)) }
      #expect(error?.code == .replicated, "\(error as Any)")
      let again = try ModelStore(path: "\(path)/b", configuration: .forTests)
      #expect(try again.dumpLines() == lines)
      await again.close()
    }
  }

  /// Why a machine can't catch up; one that has just come back may be told that the log was away.
  private func failure(of machine: ReplicatedStore) async -> StoreError? {
    while true {
      do {
        try await machine.caughtUp()
        return nil
      } catch let error as StoreError {
        if error.code != .unavailable { return error }
      } catch {
        return nil
      }
    }
  }

  /// Fixed: it stayed stopped until its process was started again.
  @Test(arguments: [false, true])
  func `a replica that lacks a copy goes on when one comes`(isAsked: Bool) async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try ReplicaFixture("\(path)/a", MemoryConnection(log))
      defer { first.store.close() }
      let isAway = Locked(false)
      let away = MemoryConnection(log) { _, _ in
        if isAway.withLock(\.self) { throw LogFault.unavailable("out of reach") }
      }
      let second = try open("\(path)/b", away)
      try await first.store.write { try $0.set(Leaf(id: "0")) }
      try await second.caughtUp()
      isAway.withLock { $0 = true }
      for id in 1...9 { try await first.store.write { try $0.set(Leaf(id: "\(id)")) } }
      log.forget(first: 6)
      isAway.withLock { $0 = false }
      for _ in 0..<2 {
        #expect(await self.failure(of: second)?.code == .logLost)
        let refusal = await #expect(throws: StoreError.self) {
          try await second.store.write { try $0.set(Leaf(id: "refused")) }
        }
        #expect(refusal?.code == .logLost, "\(refusal as Any)")
      }
      #expect(second.status.isStopped && second.status.failure?.code == .logLost)
      let seen = try await second.store.read { try $0.commitNumber }
      let followed = second.store.changes(since: seen)
      try await ReplicatedStore.putSnapshot(path: first.store.path, log: MemoryConnection(log))
      if isAsked {
        try await second.caughtUp()
      } else {
        for try await change in followed where change.commitNumber.value == seen.value + 9 { break }
      }
      #expect(try second.store.dumpLines() == first.dump())
      try await second.store.write { try $0.set(Leaf(id: "again")) }
      #expect(!second.status.isStopped)
      try first.replica.catchUp()
      #expect(try second.store.dumpLines() == first.dump())
      await second.close()
    }
  }
}
