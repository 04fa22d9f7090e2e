import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Reads behind a barrier see all that had returned before, also where a server has lost the lead and still answers.
@Suite struct BarrierTests {
  private struct Machine {
    let connection: ServedConnection
    let fixture: ReplicaFixture

    init(_ path: String, _ log: MemoryLog) throws {
      connection = ServedConnection(log)
      fixture = try ReplicaFixture(path, connection)
    }

    func write(_ value: Int, _ key: String = "a") throws {
      try fixture.store.write { try $0.set(Leaf(id: key, text: "\(value)")) }
    }

    func read(_ key: String = "a") throws -> Int? {
      try fixture.store.read { snapshot in
        try snapshot.get("Leaf:\(key)", as: Leaf.self).flatMap { Int($0.text) }
      }
    }
  }

  private func withMachines<Result>(
    _ count: Int, on log: MemoryLog = MemoryLog(), _ body: ([Machine]) throws -> Result
  ) throws -> Result {
    try withTemporaryDirectory { path in
      let machines = try (0..<count).map { try Machine("\(path)/\($0)", log) }
      defer { for machine in machines { machine.fixture.store.close() } }
      return try body(machines)
    }
  }

  @Test func `a machine behind a server that has lost the lead gets an error, no old data`()
    throws
  {
    try withMachines(2) { machines in
      try machines[0].write(1)
      try machines[1].fixture.replica.passBarrier()
      #expect(try machines[1].read() == 1)
      machines[1].connection.leaveLeader()
      try machines[0].write(2)
      // The server says where it ends, and that is not the end.
      try machines[1].fixture.replica.catchUp()
      #expect(try machines[1].read() == 1)
      let error = #expect(throws: StoreError.self) {
        try machines[1].fixture.replica.passBarrier()
      }
      #expect(error?.code == .unavailable, "\(error as Any)")
      machines[1].connection.findLeader()
      try machines[1].fixture.replica.passBarrier()
      #expect(try machines[1].read() == 2)
    }
  }

  @Test func `a server with fewer messages than the store stops no store`() throws {
    let log = MemoryLog()
    try withMachines(1, on: log) { machines in
      for value in 1...3 { try machines[0].write(value) }
      machines[0].connection.leaveLeader(knowing: 2)
      for body: () throws -> Void in [
        { try machines[0].fixture.replica.look() }, { try machines[0].write(4) },
        { try machines[0].fixture.replica.passBarrier() },
      ] {
        let error = #expect(throws: (any Error).self) { try body() }
        #expect(
          (error as? StoreError)?.code == .unavailable || error as? LogFault == .noAnswer,
          "\(error as Any)")
      }
      machines[0].connection.findLeader()
      try machines[0].fixture.replica.look()
      try machines[0].write(5)
      #expect(try machines[0].read() == 5)
    }
  }

  @Test func `a log that has lost its end says so with the next message that it takes`() throws {
    let log = MemoryLog()
    try withMachines(1, on: log) { machines in
      for value in 1...3 { try machines[0].write(value) }
      log.truncate(to: 2)
      let error = #expect(throws: StoreError.self) { try machines[0].fixture.replica.look() }
      #expect(error?.code == .logLost)
      #expect(error?.description.contains("ends at position 2") == true, "\(error as Any)")
      #expect(error?.description.contains("applied 4") == true, "\(error as Any)")
      #expect(throws: StoreError.self) { try machines[0].write(4) }
    }
  }

  @Test
  func
    `all machines have the same numbers behind barriers, and other messages than writes cost none`()
    throws
  {
    let log = MemoryLog()
    try withMachines(3, on: log) { machines in
      for value in 0..<9 {
        try machines[value % 3].write(value, "\(value)")
        try machines[(value + 1) % 3].fixture.replica.passBarrier()
        #expect(try machines[(value + 1) % 3].read("\(value)") == value)
      }
      for machine in machines { try machine.fixture.replica.passBarrier() }
      let first = machines[0].fixture
      let dump = try first.dump()
      for machine in machines {
        #expect(try machine.fixture.dump() == dump)
        #expect(try machine.fixture.store.read { try $0.commitNumber.value } == 9)
        #expect(machine.fixture.replica.statistics.malformed == 0)
      }
      #expect(log.messages.count == 1 + 9 + 9 + 3)
    }
  }

  @Test func `a barrier passes behind more commits than are kept`() throws {
    let log = MemoryLog()
    try withMachines(2, on: log) { machines in
      let store = machines[0].fixture.store
      try machines[1].write(1, "other")
      try machines[0].fixture.replica.passBarrier()
      for value in 0..<Int(ModelTransaction.judgedCommitCount) + 10 {
        let node = TreeNode("n:\(value % 100)", type: "N", fields: ["v": .integer(Int64(value))])
        try store.write { try $0.set(node) }
      }
      for machine in machines { try machine.fixture.replica.passBarrier() }
      try machines[1].write(2, "other")
      for machine in machines { try machine.fixture.replica.passBarrier() }
      #expect(try machines[0].read("other") == 2)
      #expect(try machines[1].fixture.dump() == machines[0].fixture.dump())
    }
  }

  @Test func `callers that arrive while others wait share a message`() throws {
    let log = MemoryLog()
    let gate = Monitor((isClosed: true, isMet: false))
    try withTemporaryDirectory { path in
      let connection = MemoryConnection(log) { call, moment in
        guard call == .append, moment == .before, log.messages.count == 1 else { return }
        gate.withLock { $0.isMet = true }
        gate.notifyAll()
        gate.waiting { $0.isClosed ? nil : () }
      }
      let fixture = try ReplicaFixture(path, connection)
      defer { fixture.store.close() }
      let count = 16
      try onThreads(count + 2) { thread in
        switch thread {
        case 0: try fixture.replica.passBarrier()
        case count + 1:
          // As soon as all others are waiting behind the first.
          gate.waiting { $0.isMet ? () : nil }
          while fixture.replica.barrierCount < UInt64(count + 1) { sched_yield() }
          gate.withLock { $0.isClosed = false }
          gate.notifyAll()
        default:
          gate.waiting { $0.isMet ? () : nil }
          try fixture.replica.passBarrier()
        }
      }
      // The beginning, that of the first, and that of all others.
      #expect(log.messages.count == 3)
    }
  }

  @Test func `a history without a valid order differs from one with a valid order`() {
    typealias Call = (RegisterHistory.Action, Int, Int)
    func isLinearizable(_ calls: [Call]) -> Bool {
      var history = RegisterHistory()
      for call in calls { history.add(call.0, called: call.1, returned: call.2) }
      return history.isLinearizable
    }
    #expect(isLinearizable([]))
    #expect(isLinearizable([(.read(nil), 0, 1), (.write(1), 2, 3), (.read(1), 4, 5)]))
    #expect(!isLinearizable([(.write(1), 0, 1), (.read(nil), 2, 3)]))
    // While a write is under way both are right, but not the old value behind the new one.
    #expect(isLinearizable([(.write(1), 0, 9), (.read(nil), 1, 2), (.read(1), 3, 4)]))
    #expect(!isLinearizable([(.write(1), 0, 9), (.read(1), 1, 2), (.read(nil), 3, 4)]))
    // A write of which nobody knows may have come at any time, or never.
    #expect(isLinearizable([(.write(1), 0, .max), (.read(nil), 1, 2), (.read(1), 3, 4)]))
    #expect(isLinearizable([(.write(1), 0, .max), (.read(nil), 1, 2)]))
    #expect(!isLinearizable([(.read(1), 0, 1), (.write(1), 2, .max)]))
    #expect(
      !isLinearizable([
        (.write(1), 0, 1), (.write(2), 2, 3), (.read(2), 4, 5), (.read(1), 6, 7),
      ]))
  }

  /// Runs machines that write and read at once, and now and then are with a server that has lost the lead.
  private func history(
    seed: UInt64, reads: @escaping @Sendable (Replica) throws -> Void
  ) throws -> [RegisterHistory] {
    let log = MemoryLog()
    let keys = ["a", "b"]
    let clock = Locked(0)
    let histories = Locked(keys.map { _ in RegisterHistory() })
    let now: @Sendable () -> Int = {
      clock.withLock { clock in
        clock += 1
        return clock
      }
    }
    try withMachines(3, on: log) { machines in
      try onThreads(3) { index in
        var random = SeededGenerator(seed: seed << 2 + UInt64(index))
        let machine = machines[index]
        for number in 0..<16 {
          switch Int.random(in: 0..<6, using: &random) {
          case 0: machine.connection.leaveLeader()
          case 1: machine.connection.findLeader()
          default: break
          }
          let key = Int.random(in: 0..<keys.count, using: &random)
          let writes = Bool.random(using: &random)
          let value = index * 100 + number
          let called = now()
          do {
            if writes {
              try machine.write(value, keys[key])
              let returned = now()
              histories.withLock { $0[key].add(.write(value), called: called, returned: returned) }
            } else {
              try reads(machine.fixture.replica)
              let found = try machine.read(keys[key])
              let returned = now()
              histories.withLock { $0[key].add(.read(found), called: called, returned: returned) }
            }
          } catch let error as StoreError {
            // One that has failed as a conflict is nowhere; of others nobody knows.
            guard writes, error.code != .conflict else { continue }
            histories.withLock { $0[key].add(.write(value), called: called) }
          }
        }
      }
    }
    return histories.withLock(\.self)
  }

  @Test(arguments: seeds(30))
  func `concurrent writes and reads after barriers have an order that explains them`(
    seed: UInt64
  ) throws {
    for history in try history(seed: seed, reads: { try $0.passBarrier() }) {
      #expect(history.isLinearizable, "\(history)")
    }
  }

  @Test func `reads behind the end that a server names have none`() throws {
    var seed: UInt64 = 0
    while try history(seed: seed, reads: { try $0.catchUp() }).allSatisfy(\.isLinearizable) {
      seed += 1
      try #require(seed < 1000, "no history without an order was found")
    }
  }
}
