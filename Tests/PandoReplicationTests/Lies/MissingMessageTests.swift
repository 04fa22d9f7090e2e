import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// A log that says that it has a message, and does not give it.
@Suite struct MissingMessageTests {
  /// A replica that has the first two messages of a log whose third one is not to be had.
  private func withReplica(
    skipsGaps: Bool, isThere: Bool = true, _ body: (LyingLog, ReplicaFixture) throws -> Void
  ) throws {
    let log = LyingLog()
    try withTemporaryDirectory { path in
      let maker = try ReplicaFixture("\(path)/0", LyingConnection(log, server: 0) { _, _ in })
      defer { maker.store.close() }
      try maker.store.write { try $0.set(Leaf(id: "1")) }
      let replica = try ReplicaFixture("\(path)/1", LyingConnection(log, server: 1) { _, _ in })
      defer { replica.store.close() }
      try replica.replica.catchUp()
      try maker.store.write { try $0.set(Leaf(id: "2")) }
      log.skipsGaps = skipsGaps
      for server in log.servers.indices {
        if isThere {
          log.servers[server].messages[2] = nil
        } else {
          log.servers[server].messages.removeLast()
        }
      }
      try body(log, replica)
    }
  }

  /// Fixed: nothing proved the gap where nobody else appended, and the store was `unavailable` for ever.
  @Test(arguments: [true, false])
  func `a store proves by a message of its own that the last one is lost`(skipsGaps: Bool) throws {
    try withReplica(skipsGaps: skipsGaps) { log, replica in
      let error = #expect(throws: StoreError.self) { try replica.replica.catchUp() }
      #expect(error?.code == .logLost, "\(error as Any)")
      #expect(replica.replica.halt?.code == .logLost)
      let position = try replica.store.position()
      #expect(position == 2)
      // It appends no more than that.
      #expect(log.end <= 4)
    }
  }

  /// Fixed: its writes were `unavailable` until others had written.
  @Test func `a store continues without a lost message that the log had announced`() throws {
    try withReplica(skipsGaps: false, isThere: false) { log, replica in
      replica.replica.noteEnd(3)
      try replica.store.write { try $0.set(Leaf(id: "3")) }
      #expect(replica.replica.halt == nil)
      #expect(try replica.store.position() == UInt64(log.end))
      #expect(try replica.store.read { try $0.count() } == 2)
    }
  }

  @Test func `a server that is late gets one message, and others less and less often`() throws {
    let (log, isLate, time) = (MemoryLog(), Locked(false), Locked<Int64>(1))
    try withTemporaryDirectory { path in
      let maker = try ReplicaFixture("\(path)/0", MemoryConnection(log))
      defer { maker.store.close() }
      var configuration = ReplicaConfiguration.forTests
      configuration.clock = { time.withLock(\.self) }
      let late = try ReplicaFixture(
        "\(path)/1", LateLog(MemoryConnection(log), isLate), configuration)
      defer { late.store.close() }
      isLate.withLock { $0 = true }
      try maker.store.write { try $0.set(Leaf(id: "1")) }
      var counts: [Int] = []
      for seconds in [0, 0, 3, 1, 4, 3, 1] as [Int64] {
        time.withLock { $0 += seconds * 1_000_000_000 }
        let error = #expect(throws: StoreError.self) { try late.replica.takeIn(upTo: 2) }
        #expect(error?.code == .unavailable, "\(error as Any)")
        counts.append(log.messages.count)
      }
      #expect(counts == [3, 3, 3, 4, 4, 4, 5])
      isLate.withLock { $0 = false }
      try late.replica.catchUp()
      #expect(try late.dump() == maker.dump())
    }
  }

  /// A log that gives no messages for a while.
  private final class LateLog: ForwardedLog, @unchecked Sendable {
    private let isLate: Locked<Bool>

    init(_ base: any ReplicationLog, _ isLate: Locked<Bool>) {
      self.isLate = isLate
      super.init(base)
    }

    override func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
      isLate.withLock(\.self) ? [] : try super.messages(after: position, limit: limit)
    }
  }
}
