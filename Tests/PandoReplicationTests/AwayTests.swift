import PandoFixtures
import PandoMetrics
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Machines whose log is away, gone, or another one.
@Suite struct AwayTests {
  private func open(_ path: String, _ log: any ReplicationLog) throws -> ReplicatedStore {
    try ReplicatedStore(path: path, log: log, configuration: .forTests)
  }

  /// A connection that reaches nobody while it is told so.
  private func connection(_ log: MemoryLog, _ isAway: Locked<Bool>) -> MemoryConnection {
    MemoryConnection(log) { _, _ in
      if isAway.withLock(\.self) { throw LogFault.unavailable("nobody answers at port 1") }
    }
  }

  private func wait(until body: () -> Bool) async { while !body() { await Task.yield() } }

  @Test func `a store opens while its log is away, and follows when it is there`() async throws {
    let (log, isAway) = (MemoryLog(), Locked(true))
    try await withTemporaryDirectory { path in
      let other = try open("\(path)/other", MemoryConnection(log))
      let before = try open("\(path)/a", MemoryConnection(log))
      try await before.store.write { try $0.set(Leaf(id: "1")) }
      await before.close()
      let store = try open("\(path)/a", connection(log, isAway))
      #expect(try await store.store.read { try $0.count() } == 1)
      let error = await #expect(throws: StoreError.self) {
        try await store.store.write { try $0.set(Leaf(id: "2")) }
      }
      #expect(error?.code == .unavailable)
      #expect(error?.description.contains("nobody answers at port 1") == true, "\(error as Any)")
      #expect(throws: StoreError.self) { try store.checkHealth() }
      #expect(!store.status.isStopped)
      try await other.store.write { try $0.set(Leaf(id: "3")) }
      isAway.withLock { $0 = false }
      await wait { (try? store.store.read { try $0.contains("Leaf:3") }) == true }
      try await store.store.write { try $0.set(Leaf(id: "4")) }
      await wait { store.status.failure == nil }
      try store.checkHealth()
      try await other.caughtUp()
      #expect(try other.store.dumpLines() == store.store.dumpLines())
      await store.close()
      await other.close()
    }
  }

  @Test func `a new store does not open while its log is away`() {
    withTemporaryDirectory { path in
      let error = #expect(throws: StoreError.self) {
        try open("\(path)/a", connection(MemoryLog(), Locked(true)))
      }
      #expect(error?.code == .unavailable)
    }
  }

  @Test func `a store that has opened without its log looks at it before it writes`() async throws {
    let (log, isAway) = (MemoryLog(), Locked(true))
    try await withTemporaryDirectory { path in
      let before = try open("\(path)/a", MemoryConnection(log))
      for id in ["1", "2"] { try await before.store.write { try $0.set(Leaf(id: id)) } }
      await before.close()
      let another = MemoryLog()
      let foreign = try open("\(path)/b", MemoryConnection(another))
      for id in ["x", "y", "z"] { try await foreign.store.write { try $0.set(Leaf(id: id)) } }
      // Open for long it would append marks.
      await foreign.close()
      let messages = another.messages
      let store = try open("\(path)/a", connection(another, isAway))
      isAway.withLock { $0 = false }
      let error = await #expect(throws: StoreError.self) {
        try await store.store.write { try $0.set(Leaf(id: "3")) }
      }
      #expect(error?.code == .logLost, "\(error as Any)")
      #expect(another.messages == messages)
      #expect(try await store.store.read { try $0.count() } == 2)
      await store.close()
    }
  }

  @Test func `a machine that only reads reports that its log is away, and that it is back`()
    async throws
  {
    let (log, isAway) = (MemoryLog(), Locked(false))
    try await withTemporaryDirectory { path in
      let store = try open("\(path)/a", connection(log, isAway))
      await wait { store.status.lastHeard != nil }
      try store.checkHealth()
      let heard = store.status.lastHeard
      isAway.withLock { $0 = true }
      await wait { store.status.failure != nil }
      #expect(store.status.failure?.code == .unavailable)
      #expect(!store.status.isStopped)
      let error = #expect(throws: StoreError.self) { try store.checkHealth() }
      #expect(error?.code == .unavailable)
      isAway.withLock { $0 = false }
      await wait { store.status.failure == nil }
      try store.checkHealth()
      #expect(try #require(store.status.lastHeard) > (try #require(heard)))
      let late = #expect(throws: StoreError.self) { try store.checkHealth(silence: .zero) }
      #expect(late?.code == .unavailable)
      await store.close()
      let closed = #expect(throws: StoreError.self) { try store.checkHealth() }
      #expect(closed?.code == .closed)
    }
  }

  @Test(arguments: [false, true])
  func `a machine that only reads detects another log, and a shorter one`(
    isShorter: Bool
  ) async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let store = try open("\(path)/a", MemoryConnection(log))
      try await store.store.write { try $0.set(Leaf(id: "1")) }
      let identity = store.status.log
      #expect(identity.count == 32)
      if isShorter {
        log.truncate(to: 1)
      } else {
        let another = MemoryLog()
        let foreign = try open("\(path)/b", MemoryConnection(another))
        for id in ["x", "y"] { try await foreign.store.write { try $0.set(Leaf(id: id)) } }
        #expect(foreign.status.log != identity)
        await foreign.close()
        log.state.withLock { $0.messages = another.messages }
      }
      await wait { store.status.isStopped }
      #expect(store.status.failure?.code == .logLost)
      let error = #expect(throws: StoreError.self) { try store.checkHealth() }
      #expect(error?.code == .logLost)
      #expect(try await store.store.read { try $0.count() } == 1)
      #expect(store.status.log == identity)
      await store.close()
    }
  }

  @Test func `figures for a metrics system equal the status`() async throws {
    let (log, isAway) = (MemoryLog(), Locked(false))
    try await withTemporaryDirectory { path in
      let store = try open("\(path)/a", connection(log, isAway))
      let metrics = StoreMetrics()
      metrics.watch(store)
      func figures() -> [String: Measurement] {
        let all = metrics.measurements().filter { $0.name.hasPrefix("pando_replication_") }
        return Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
      }
      log.append([1, 2, 3])
      try await store.caughtUp()
      await wait { store.status.failure == nil }
      let good = figures()
      #expect(good["pando_replication_failing"]?.value == .gauge(0))
      #expect(good["pando_replication_stopped"]?.value == .gauge(0))
      #expect(good["pando_replication_warnings"]?.value == .gauge(0))
      #expect(good["pando_replication_copy_failing"]?.value == .gauge(0))
      #expect(good["pando_replication_malformed_total"]?.value == .counter(1))
      #expect(good["pando_replication_replaced_total"]?.value == .counter(0))
      #expect(good["pando_replication_log_info"]?.labels == ["log": store.status.log])
      #expect(good["pando_replication_silence_seconds"] != nil)
      // This log knows no ages.
      #expect(good["pando_replication_copy_age_seconds"] == nil)
      isAway.withLock { $0 = true }
      await wait { store.status.failure != nil }
      #expect(figures()["pando_replication_failing"]?.value == .gauge(1))
      await store.close()
    }
  }

  /// A log that does not answer, and says how long it was to be waited for.
  private final class SilentLog: Sendable {
    let isSilent = Locked(false)
    let deadlines = Locked<[Int64?]>([])

    func connection(_ log: MemoryLog) -> MemoryConnection {
      MemoryConnection(log) { [self] call, moment in
        guard isSilent.withLock(\.self), moment == .before else { return }
        deadlines.withLock { $0.append(LogDeadline.nanoseconds) }
        throw call == .append ? LogFault.noAnswer : .unavailable("no answer")
      }
    }
  }

  @Test func `all that a write waits for has one end`() throws {
    let (log, silent) = (MemoryLog(), SilentLog())
    try withTemporaryDirectory { path in
      var configuration = ReplicaConfiguration.forTests
      configuration.resendDurationMaximum = .seconds(1000)
      let fixture = try ReplicaFixture(path, silent.connection(log), configuration)
      defer { fixture.store.close() }
      silent.isSilent.withLock { $0 = true }
      let start = monotonicNanoseconds()
      #expect(throws: StoreError.self) { try fixture.store.write { try $0.set(Leaf(id: "1")) } }
      let deadlines = silent.deadlines.withLock(\.self)
      let deadline = try #require(deadlines.first ?? nil)
      // The append, and the question what became of it.
      #expect(deadlines == [deadline, deadline])
      let second: Int64 = 1_000_000_000
      #expect(deadline >= start + 1000 * second)
      #expect(deadline <= monotonicNanoseconds() + 1000 * second)
    }
  }

  @Test func `a write that waited for others waits twice as long, all in all`() throws {
    let (log, silent) = (MemoryLog(), SilentLog())
    try withTemporaryDirectory { path in
      var configuration = ReplicaConfiguration.forTests
      configuration.resendDurationMaximum = .seconds(1000)
      let fixture = try ReplicaFixture(path, silent.connection(log), configuration)
      defer { fixture.store.close() }
      let second: Int64 = 1_000_000_000
      let now = monotonicNanoseconds()
      let replica = fixture.replica
      #expect(replica.deadline(ofWritesSince: now) >= now + 1000 * second)
      // It was queued 1 500 s ago, and 500 s are left.
      #expect(replica.deadline(ofWritesSince: now - 1500 * second) == now + 500 * second)
      #expect(replica.deadline(ofWritesSince: now - 5000 * second) <= monotonicNanoseconds())
    }
  }

  @Test func `a write queued while others wait in vain for the log waits for its own time`() throws
  {
    let (log, isAway) = (MemoryLog(), Locked(false))
    let gate = Monitor((isOpen: false, count: 0))
    try withTemporaryDirectory { path in
      let connection = MemoryConnection(log) { call, moment in
        guard isAway.withLock(\.self), call == .messages else { return }
        gate.withLock { $0.count += 1 }
        gate.notifyAll()
        gate.waiting { $0.isOpen ? () : nil }
        throw LogFault.unavailable("no answer")
      }
      let fixture = try ReplicaFixture(path, connection)
      defer { fixture.store.close() }
      isAway.withLock { $0 = true }
      // There is something to be taken in before.
      fixture.replica.noteEnd(99)
      try onThreads(3) { thread in
        if thread > 0 { gate.waiting { $0.count > 0 ? () : nil } }
        guard thread < 2 else {
          while fixture.store.queuedWriteCount < 2 { sched_yield() }
          gate.withLock { $0.isOpen = true }
          return gate.notifyAll()
        }
        let error = #expect(throws: StoreError.self) {
          try fixture.store.write { try $0.set(Leaf(id: "\(thread)")) }
        }
        #expect(error?.code == .unavailable)
      }
      #expect(gate.withLock(\.count) == 2)
    }
  }

  @Test func `closing does not wait for a log that never answers`() async throws {
    let log = MemoryLog()
    let gate = Monitor((isClosed: false, isMet: false, isEnded: false))
    try await withTemporaryDirectory { path in
      let connection = GatedConnection(MemoryConnection(log), gate)
      let store = try open("\(path)/a", connection)
      try await store.store.write { try $0.set(Leaf(id: "1")) }
      gate.withLock { $0.isClosed = true }
      let write = Task { try await store.store.write { try $0.set(Leaf(id: "2")) } }
      await blocking { gate.waiting { $0.isMet ? () : nil } }
      await store.close()
      let error = await #expect(throws: StoreError.self) { try await write.value }
      #expect(error?.code == .unavailable, "\(error as Any)")
    }
  }
}

/// A connection whose appends wait, once a gate is closed, until the log is closed.
private final class GatedConnection: ForwardedLog, @unchecked Sendable {
  typealias Gate = Monitor<(isClosed: Bool, isMet: Bool, isEnded: Bool)>
  private let gate: Gate

  init(_ base: MemoryConnection, _ gate: Gate) {
    self.gate = gate
    super.init(base)
  }

  override func append(
    _ message: [UInt8], named name: String, expecting end: UInt64?
  ) throws -> UInt64 {
    gate.withLock { if $0.isClosed { $0.isMet = true } }
    gate.notifyAll()
    gate.waiting { $0.isClosed && !$0.isEnded ? nil : () }
    if gate.withLock(\.isEnded) { throw LogFault.noAnswer }
    return try super.append(message, named: name, expecting: end)
  }

  override func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
    if gate.withLock(\.isEnded) { throw LogFault.unavailable("the log is closed") }
    return try super.messages(after: position, limit: limit)
  }

  override func close() {
    gate.withLock { $0.isEnded = true }
    gate.notifyAll()
    super.close()
  }
}
