import PandoFixtures
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Stores over a log that says that it ends earlier than it does, for long.
@Suite struct LaggingLogTests {
  /// A log that always names one end.
  private final class LaggingConnection: ForwardedLog, @unchecked Sendable {
    let knownEnd = Locked<UInt64?>(1)

    override func end() throws -> UInt64 { try knownEnd.withLock(\.self) ?? super.end() }
  }

  private struct Machine {
    let connection: LaggingConnection
    let fixture: ReplicaFixture
    let clock: Locked<Int64>

    init(_ path: String, _ log: MemoryLog) throws {
      let clock = Locked<Int64>(0)
      var configuration = ReplicaConfiguration.forTests
      configuration.clock = { clock.withLock(\.self) }
      connection = LaggingConnection(
        MemoryConnection(log) { call, _ in
          // A store that goes on appending would do so for ever.
          if call == .append, log.messages.count > 200 { throw LogFault.unavailable("enough") }
        })
      fixture = try ReplicaFixture(path, connection, configuration)
      self.clock = clock
    }

    func pass(seconds: Int64) { clock.withLock { $0 += seconds * 1_000_000_000 } }
  }

  private func withMachine(_ body: (Machine, MemoryLog) throws -> Void) throws {
    let log = MemoryLog()
    try withTemporaryDirectory { path in
      // It begins the log, which is no shorter than it is then.
      try ReplicaFixture(path, MemoryConnection(log)).store.close()
      for _ in 0..<2 { log.append([7]) }
      let machine = try Machine(path, log)
      defer { machine.fixture.store.close() }
      try machine.fixture.replica.takeIn(upTo: UInt64(log.messages.count))
      try body(machine, log)
    }
  }

  /// Fixed: each look appended one.
  @Test func `looks at it append a message less and less often`() throws {
    try withMachine { machine, log in
      let count = log.messages.count
      for _ in 0..<300 {
        machine.pass(seconds: 2)
        try machine.fixture.replica.look()
      }
      // At 2, 6, 14, 30, 62 s, and once a minute from there to 600 s.
      #expect(log.messages.count - count == 13)
      machine.connection.knownEnd.withLock { $0 = nil }
      for _ in 0..<100 {
        machine.pass(seconds: 2)
        try machine.fixture.replica.look()
      }
      #expect(log.messages.count - count == 13)
    }
  }

  /// Fixed: a write looked at the log again behind each message that proved it longer, and never came to an end.
  @Test func `writes go on, with a message before them now and then`() throws {
    try withMachine { machine, log in
      for number in 1...20 {
        machine.pass(seconds: 3)
        try machine.fixture.store.write { try $0.set(Leaf(id: "\(number)")) }
      }
      #expect(try machine.fixture.store.read { try $0.count() } == 20)
      #expect(log.messages.count == 3 + 20 + 5)
    }
  }

  @Test func `a loss of the log is detected with the next appended message`() throws {
    try withMachine { machine, log in
      try machine.fixture.store.write { try $0.set(Leaf(id: "1")) }
      for _ in 0..<100 {
        machine.pass(seconds: 2)
        try machine.fixture.replica.look()
      }
      #expect(machine.fixture.replica.halt == nil)
      log.truncate(to: log.messages.count - 2)
      for _ in 0..<30 where machine.fixture.replica.halt == nil {
        machine.pass(seconds: 2)
        _ = try? machine.fixture.replica.look()
      }
      #expect(machine.fixture.replica.halt?.code == .logLost)
    }
  }
}
