import PandoFixtures
import PandoModels
import PandoReplication
import PandoSystem
import Testing

@testable import PandoStore

/// Machines that write one node take turns, so that none is refused again and again.
///
/// The log serves the first machine at once, and an entry of another one behind an entry of the first: so that one
/// overtakes all others, unless it leaves them their turns.
@Suite struct TurnTests {
  @Test(arguments: [true, false])
  func `machines that count up one number at once all succeed`(isAwaited: Bool) throws {
    // So long that a turn that is not taken is seen as one that does not end.
    try Race.run(machineCount: 4, turnMaximum: .seconds(600), isAwaited: isAwaited) { race in
      #expect(race.failures == [[], [], [], []])
      #expect(race.heldBackCount > 0)
      try race.expectSum()
    }
  }

  /// The control: the log serves the machines so that writes fail where nobody leaves a turn to others.
  @Test(arguments: [true, false])
  func `machines that take no turns fail with conflicts`(isAwaited: Bool) throws {
    try Race.run(machineCount: 3, turnMaximum: .zero, isAwaited: isAwaited) { race in
      // On a busy machine one of them may come in between.
      #expect(Set(race.failures.joined()) == [.conflict])
      #expect(race.heldBackCount == 0)
      try race.expectSum()
    }
  }
}

/// Machines that count up one number: the first one as long as the others do.
private final class Race: @unchecked Sendable {
  private struct State {
    /// How many entries of the first machine the log has.
    var count = 0
    /// Whether the first one waits for the turn of another one.
    var isHeldBack = false
    var heldBackCount = 0
    /// Those of the others that are not done.
    var running: Set<Int> = []
    var sum = 0
    var failures: [[StoreError.Code?]]
  }

  /// How often each of the others counts up.
  static let countPerMachine = 4

  private let log = MemoryLog()
  private let folder: String
  private let configuration: ReplicaConfiguration
  private let state: Monitor<State>
  /// Changed before the threads begin, and behind their end: that makes it sendable.
  private var machines: [ReplicaFixture] = []

  private init(
    _ folder: String, _ machineCount: Int, _ turnMaximum: Duration
  ) throws {
    self.folder = folder
    var configuration = ReplicaConfiguration.forTests
    configuration.turnMaximum = turnMaximum
    self.configuration = configuration
    state = Monitor(State(failures: Array(repeating: [], count: machineCount)))
    for index in 0..<machineCount { machines.append(try open(index)) }
    try machines[0].store.write { try $0.set(Tally(id: 1, marks: [0])) }
    for machine in machines { try machine.replica.catchUp() }
  }

  /// Runs machines until each of them but the first has counted up some times.
  ///
  /// - Parameters:
  ///   - machineCount: How many machines.
  ///   - turnMaximum: How long they wait for one whose turn it is.
  ///   - isAwaited: Whether each counts up when it has done so before; else all at once.
  ///   - check: Looks at the outcome.
  /// - Throws: What `check` throws.
  static func run(
    machineCount: Int, turnMaximum: Duration, isAwaited: Bool, _ check: (Race) throws -> Void
  ) throws {
    try withTemporaryDirectory { path in
      let race = try Race(path, machineCount, turnMaximum)
      defer { race.close() }
      race.state.withLock { $0.running = Set(1..<machineCount) }
      try onThreads(machineCount) { index in
        if index == 0 { return race.lead(isAwaited) }
        defer { race.change { $0.running.remove(index) } }
        race.compete(index, isAwaited)
      }
      try check(race)
    }
  }

  /// Why writes have failed, by machine.
  var failures: [[StoreError.Code?]] { state.withLock(\.failures) }

  /// How often the first machine was about to wait for another one.
  var heldBackCount: Int { state.withLock(\.heldBackCount) }

  /// Expects on all machines as much as has been counted.
  func expectSum() throws {
    let sum = state.withLock(\.sum)
    for machine in machines {
      try machine.replica.catchUp()
      #expect(try machine.store.read { try $0.get("Tally:1", as: Tally.self) }?.marks == [sum])
      #expect(try machine.dump() == machines[0].dump())
    }
  }

  private func close() {
    for machine in machines { machine.store.close() }
    log.state.withLock { $0.followers = [:] }
  }
}

extension Race {
  private func open(_ index: Int) throws -> ReplicaFixture {
    let connection = MemoryConnection(log) { [unowned self] call, moment in
      try meet(index, call, moment)
    }
    var configuration = configuration
    configuration.onStep = { [unowned self] step in
      if index == 0, step == .isHeldBack {
        change { ($0.isHeldBack, $0.heldBackCount) = (true, $0.heldBackCount + 1) }
      }
    }
    let fixture = try ReplicaFixture("\(folder)/\(index)", connection, configuration)
    connection.follow { [weak replica = fixture.replica] in replica?.noteEnd($0) }
    return fixture
  }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { body(&$0) }
    state.notifyAll()
  }

  private func meet(
    _ index: Int, _ call: MemoryConnection.Call, _ moment: MemoryConnection.Moment
  ) throws {
    guard call == .append else { return }
    if index == 0 {
      return change { state in
        state.isHeldBack = false
        if moment == .after { state.count += 1 }
      }
    }
    guard moment == .before else { return }
    let start = state.withLock(\.count)
    state.waiting { $0.isHeldBack || $0.count > start ? () : nil }
  }

  private func lead(_ isAwaited: Bool) {
    while state.withLock({ !$0.running.isEmpty }) {
      countUp(0, isAwaited ? 1 : Self.countPerMachine)
    }
  }

  private func compete(_ index: Int, _ isAwaited: Bool) {
    for _ in 0..<(isAwaited ? Self.countPerMachine : 1) {
      countUp(index, isAwaited ? 1 : Self.countPerMachine)
    }
  }

  /// Counts up some times with writes that are queued together, and waits for them.
  private func countUp(_ index: Int, _ count: Int) {
    let left = Monitor(count)
    for _ in 0..<count {
      let job = WriteJob(context: nil) {
        try $0.updateIfPresent(Tally.self, "Tally:1") { $0.marks[0] += 1 }
      } completion: { [self] result in
        state.withLock { state in
          switch result {
          case .success: state.sum += 1
          case .failure(let error):
            state.failures[index].append((error as? StoreError)?.code)
          }
        }
        left.withLock { $0 -= 1 }
        left.notifyAll()
      }
      do {
        _ = try machines[index].store.writer?.submit(job)
      } catch {
        job.finish(.failure(error))
      }
    }
    left.waiting { $0 == 0 ? () : nil }
  }
}
