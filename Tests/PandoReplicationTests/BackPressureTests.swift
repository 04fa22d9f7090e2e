import PandoFixtures
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Writes that come while the log does not answer.
@Suite struct BackPressureTests {
  /// A log whose appends wait until they are let go.
  private struct Gate {
    enum State { case open, closed, waitedAt }
    let state = Monitor(State.open)

    func pass() {
      state.withLock { if $0 == .closed { $0 = .waitedAt } }
      state.notifyAll()
      state.waiting { $0 == .open ? () : nil }
    }

    func close() { state.withLock { $0 = .closed } }

    func waitForOne() { state.waiting { $0 == .waitedAt ? () : nil } }

    func open() {
      state.withLock { $0 = .open }
      state.notifyAll()
    }
  }

  @Test func `writes beyond the limit of waiting ones fail as busy`()
    async throws
  {
    let (log, gate) = (MemoryLog(), Gate())
    let connection = MemoryConnection(log) { call, moment in
      if call == .append, moment == .before { gate.pass() }
    }
    try await withTemporaryDirectory { path in
      let replica = try ReplicatedStore(path: path, log: connection, configuration: .forTests)
      gate.close()
      let first = Task { try await replica.store.write { try $0.set(Leaf(id: "first")) } }
      await blocking { gate.waitForOne() }
      let outcomes = await withTaskGroup(of: Result<Void, any Error>.self) { group in
        for number in 0..<10_100 {
          group.addTask {
            do {
              try await replica.store.write { try $0.set(Leaf(id: "\(number)")) }
              return .success(())
            } catch {
              return .failure(error)
            }
          }
        }
        var outcomes: [Result<Void, any Error>] = []
        for await outcome in group {
          outcomes.append(outcome)
          // These come at once; the others wait for the log.
          if outcomes.count == 100 { gate.open() }
        }
        return outcomes
      }
      try await first.value
      var isFull = 0
      for outcome in outcomes {
        guard case .failure(let error) = outcome else { continue }
        isFull += 1
        let busy = try #require(error as? StoreError)
        #expect(busy.code == .busy)
        #expect(busy.description.contains("10000 writes wait for the log"))
      }
      #expect(isFull == 100)
      // What was not refused is there, and it goes on.
      try await replica.store.write { try $0.set(Leaf(id: "last")) }
      #expect(try await replica.store.read { try $0.count(ofType: "Leaf") } == 10_002)
      await replica.close()
    }
  }

  @Test func `an entry without an answer is sent again for some time only`() throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      let (isLost, appends) = (Locked(false), Locked(0))
      let connection = MemoryConnection(log) { call, moment in
        guard call == .append, moment == .before else { return }
        appends.withLock { $0 += 1 }
        if isLost.withLock(\.self) { throw LogFault.noAnswer }
      }
      var configuration = ReplicaConfiguration()
      configuration.resendCountMaximum = .max
      configuration.resendDurationMaximum = .zero
      let fixture = try ReplicaFixture(path, connection, configuration)
      defer { fixture.store.close() }
      isLost.withLock { $0 = true }
      appends.withLock { $0 = 0 }
      let error = #expect(throws: StoreError.self) {
        try fixture.store.write { try $0.set(Leaf(id: "lost")) }
      }
      #expect(error?.code == .unavailable)
      // Once, and once again.
      #expect(appends.withLock(\.self) == 2)
      isLost.withLock { $0 = false }
      try fixture.store.write { try $0.set(Leaf(id: "1")) }
      #expect(log.messages.count == 2)
    }
  }

  /// Fixed: it was looked for behind each message of the others, and sent again when they paused.
  @Test func `a message that the log did not get is sent again while others append`() throws {
    let log = MemoryLog()
    let rival = Rival()
    let isLost = Locked(false)
    let countAtResend = Locked<Int?>(nil)
    try withReplicas(
      2, on: log,
      onCall: { index, call, moment in
        guard index == 1, moment == .before else { return }
        if call == .messages { return try rival.write() }
        guard call == .append else { return }
        if isLost.withLock({ exchange(&$0, with: false) }) { throw LogFault.noAnswer }
        countAtResend.withLock { $0 = rival.count }
      }
    ) { replicas in
      rival.begin { number in
        if number == 50 { rival.end() }
        try replicas[0].store.write { try $0.set(Leaf(id: "\(number)")) }
      }
      isLost.withLock { $0 = true }
      try replicas[1].store.write { try $0.set(Leaf(id: "lost")) }
      let found = countAtResend.withLock(\.self)
      let count = try #require(found)
      #expect(count > 0 && count < 10, "\(count)")
      try replicas[0].replica.catchUp()
      try replicas[1].replica.catchUp()
      #expect(try replicas[0].dump() == replicas[1].dump())
      #expect(try replicas[0].store.read { try $0.contains("Leaf:lost") })
    }
  }
}
