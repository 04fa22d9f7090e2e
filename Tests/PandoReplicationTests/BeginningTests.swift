import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// The first message of a log: who begins it, and who finds it begun.
@Suite struct BeginningTests {
  /// What happens to the first append of a store.
  enum Trouble: CaseIterable {
    /// It did not arrive.
    case lost
    /// It arrived, and nobody says so.
    case noAnswer
    /// It arrives when another store has begun the log.
    case delayed
    /// Another store begins the log before it arrives.
    case late
  }

  /// Opens two stores on one empty log, the second one inside of the first append of the first.
  private func begin(
    _ trouble: Trouble, isForgotten: Bool,
    _ check: (ReplicaFixture, ReplicaFixture, MemoryLog) throws -> Void
  ) throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      let second = Locked<ReplicaFixture?>(nil)
      let hasMet = Locked(false)
      let connection = MemoryConnection(log) { call, moment in
        let isLast = moment == .after || trouble != .noAnswer
        guard call == .append, isLast, !hasMet.withLock({ exchange(&$0, with: true) }) else {
          return
        }
        if trouble != .lost {
          let other = try ReplicaFixture("\(path)/2", MemoryConnection(log))
          second.withLock { $0 = other }
        }
        if isForgotten { log.forgetNames() }
        switch trouble {
        case .lost, .noAnswer: throw LogFault.noAnswer
        case .delayed: throw MemoryConnection.Delay()
        case .late: break
        }
      }
      let first = try ReplicaFixture("\(path)/1", connection)
      defer { first.store.close() }
      let other = try second.withLock { $0 } ?? ReplicaFixture("\(path)/2", MemoryConnection(log))
      defer { other.store.close() }
      log.deliverDelayed()
      try check(first, other, log)
    }
  }

  /// A first append that was lost had the log taken for one that does not begin like one.
  @Test(arguments: Trouble.allCases, [true, false])
  func `two stores that begin a log at the same time follow one log`(
    trouble: Trouble, isForgotten: Bool
  ) throws {
    try begin(trouble, isForgotten: isForgotten) { first, second, log in
      for (index, fixture) in [first, second].enumerated() {
        try fixture.store.write { try $0.set(Leaf(id: "\(index)")) }
      }
      try first.replica.catchUp()
      let rows = try [first, second].map { try $0.store.read { try $0.replicationRow } }
      #expect(rows[0] != nil)
      #expect(rows[0] == rows[1])
      #expect(try first.dump() == second.dump())
      let beginnings = try log.messages.count { bytes in
        if case .genesis = try LogMessage(bytes) { true } else { false }
      }
      // One that comes late, where names are forgotten, is malformed for all.
      #expect(beginnings == (trouble == .delayed && isForgotten ? 2 : 1))
      for fixture in [first, second] {
        #expect(fixture.replica.statistics.malformed == beginnings - 1)
      }
    }
  }

  @Test func `a log that accepts no first message counts as one that does not answer`() throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      let connection = MemoryConnection(log) { call, _ in
        if call == .append { throw LogFault.noAnswer }
      }
      let error = #expect(throws: StoreError.self) { try ReplicaFixture("\(path)/1", connection) }
      #expect(error?.code == .unavailable, "\(error as Any)")
      // It is not marked, and begins the log when that is there.
      let fixture = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      defer { fixture.store.close() }
      try fixture.store.write { try $0.set(Leaf(id: "1")) }
      #expect(log.messages.count == 2)
    }
  }

  @Test func `of two stores that hold something only one begins a log`() throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      for index in 1...2 {
        let store = try ModelStore(path: "\(path)/\(index)", configuration: .forTests)
        try store.write { try $0.set(Leaf(id: "\(index)")) }
        store.close()
      }
      let second = Locked<ReplicaFixture?>(nil)
      let connection = MemoryConnection(log) { call, moment in
        guard call == .append, moment == .before, log.messages.isEmpty else { return }
        let other = try ReplicaFixture("\(path)/2", MemoryConnection(log))
        second.withLock { $0 = other }
      }
      let error = #expect(throws: StoreError.self) { try ReplicaFixture("\(path)/1", connection) }
      #expect(error?.code == .replicated)
      let other = try #require(second.withLock { $0 })
      defer { other.store.close() }
      try other.store.write { try $0.set(Leaf(id: "3")) }
      // Who could not join is as it was, and goes on without a log.
      let store = try ModelStore(path: "\(path)/1", configuration: .forTests)
      defer { store.close() }
      try store.write { try $0.set(Leaf(id: "4")) }
      #expect(try store.read { try $0.get("Leaf:2", as: Leaf.self) } == nil)
      #expect(log.messages.count == 2)
    }
  }

  /// Fixed: a second copy was taken for a message that begins the log again, and every write failed from then on.
  @Test func `a second copy of the first message is skipped`() throws {
    let log = MemoryLog()
    try withReplicas(2, on: log) { replicas in
      let first = try #require(log.messages.first)
      log.append(first)
      try replicas[0].store.write { try $0.set(Leaf(id: "1")) }
      log.append(first)
      try replicas[1].store.write { try $0.set(Leaf(id: "2")) }
      for replica in replicas { try replica.replica.catchUp() }
      #expect(try replicas[0].dump() == replicas[1].dump())
      #expect(try replicas[0].store.read { try $0.count() } == 2)
      for replica in replicas { #expect(replica.replica.statistics.malformed == 0) }
      #expect(log.messages.count == 5)
    }
  }
}
