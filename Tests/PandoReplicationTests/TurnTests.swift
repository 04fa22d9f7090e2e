import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Machines that write one node take turns, so that none is refused again and again.
///
/// The log serves the first machine at once, and an entry of another one behind an entry of the first: so that one
/// overtakes all others, unless it leaves them their turns.
@Suite struct TurnTests {
  /// What happens to the second machine when it has a turn.
  enum Trouble: CaseIterable, Sendable {
    /// Its store is closed.
    case closes
    /// It ends.
    case fails
    /// It can't reach the log any more.
    case isCutOff
  }

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
      let conflicts = [StoreError.Code?](repeating: .conflict, count: Race.countPerMachine)
      #expect(race.failures == [[], conflicts, conflicts])
      #expect(race.heldBackCount == 0)
      try race.expectSum()
    }
  }

  @Test(
    .disabled("its outcome depends on time: the third machine has to come within its turn"),
    arguments: Trouble.allCases)
  func `a machine that does not take its turn holds up no other`(trouble: Trouble) throws {
    try Race.run(machineCount: 3, turnMaximum: .seconds(2), trouble) { race in
      let failure: StoreError.Code? =
        switch trouble {
        case .closes: .closed
        case .fails: nil
        case .isCutOff: .unavailable
        }
      #expect(race.failures == [[], [failure], []])
      #expect(race.heldBackCount > 0)
      try race.reopen(1)
      try race.expectSum()
    }
  }
}

/// Machines that count up one number: the first one as long as the others do.
private final class Race: @unchecked Sendable {
  struct Crash: Error {}

  private struct State {
    /// How many entries of the first machine the log has.
    var count = 0
    /// Whether the first one waits for the turn of another one.
    var isHeldBack = false
    var heldBackCount = 0
    /// Those of the others that are not done.
    var running: Set<Int> = []
    /// What is to happen to the second one.
    var trouble: TurnTests.Trouble?
    var isCutOff = false
    var sum = 0
    var failures: [[StoreError.Code?]]
  }

  /// How often each of the others counts up.
  static let countPerMachine = 4

  private let log = MemoryLog()
  private let folder: String
  private let configuration: ReplicaConfiguration
  private let trouble: TurnTests.Trouble?
  private let state: Monitor<State>
  private let isClosed = Event()
  /// Changed before the threads begin, and behind their end: that makes it sendable.
  private var machines: [ReplicaFixture] = []

  private init(
    _ folder: String, _ machineCount: Int, _ turnMaximum: Duration, _ trouble: TurnTests.Trouble?
  ) throws {
    self.folder = folder
    self.trouble = trouble
    var configuration = ReplicaConfiguration.forTests
    configuration.turnMaximum = turnMaximum
    self.configuration = configuration
    state = Monitor(
      State(trouble: trouble, failures: Array(repeating: [], count: machineCount)))
    for index in 0..<machineCount { machines.append(try open(index)) }
    try machines[0].store.write { try $0.set(Tally(id: 1, marks: [0])) }
    for machine in machines { try machine.replica.catchUp() }
  }

  /// Runs machines until each of them but the first has counted up some times.
  ///
  /// - Parameters:
  ///   - machineCount: How many machines.
  ///   - turnMaximum: How long they wait for one whose turn it is.
  ///   - trouble: What happens to the second one when it has a turn; it counts up until it fails then.
  ///   - isAwaited: Whether each counts up when it has done so before; else all at once.
  ///   - check: Looks at the outcome.
  /// - Throws: What `check` throws.
  static func run(
    machineCount: Int, turnMaximum: Duration, _ trouble: TurnTests.Trouble? = nil,
    isAwaited: Bool = true, _ check: (Race) throws -> Void
  ) throws {
    try withTemporaryDirectory { path in
      let race = try Race(path, machineCount, turnMaximum, trouble)
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

  /// Opens a store again that has been closed, or can't go on.
  func reopen(_ index: Int) throws {
    if trouble == .closes { isClosed.wait() }
    machines[index].store.close()
    state.withLock { $0.isCutOff = false }
    machines[index] = try open(index)
  }

  /// Expects on all machines as much as has been counted.
  func expectSum() throws {
    let sum = state.withLock(\.sum)
    for machine in machines {
      try machine.replica.catchUp()
      #expect(try machine.store.read { try $0.model("Tally:1", as: Tally.self) }?.marks == [sum])
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
    if index == 1, state.withLock(\.isCutOff) { throw LogFault.unavailable("cut off") }
    guard call == .append else { return }
    if index == 0 {
      return change { state in
        state.isHeldBack = false
        if moment == .after { state.count += 1 }
      }
    }
    guard moment == .before else { return }
    let start = state.withLock(\.count)
    let trouble = state.waiting { state -> TurnTests.Trouble?? in
      guard state.isHeldBack || state.count > start else { return nil }
      guard index == 1, state.isHeldBack else { return .some(nil) }
      return exchange(&state.trouble, with: nil)
    }
    guard let trouble else { return }
    state.notifyAll()
    switch trouble {
    case .closes:
      startThread(named: "test.closing") { [self] in
        machines[1].store.close()
        isClosed.signal()
      }
    case .fails: throw Crash()
    case .isCutOff:
      state.withLock { $0.isCutOff = true }
      throw LogFault.unavailable("cut off")
    }
  }

  private func lead(_ isAwaited: Bool) {
    while state.withLock({ !$0.running.isEmpty }) {
      countUp(0, isAwaited ? 1 : Self.countPerMachine)
    }
  }

  private func compete(_ index: Int, _ isAwaited: Bool) {
    if index == 1, trouble != nil {
      while failures[1].isEmpty { countUp(1, 1) }
      return
    }
    // The turn is that of the machine in trouble.
    state.waiting { $0.trouble == nil || !$0.running.contains(1) ? () : nil }
    for _ in 0..<(isAwaited ? Self.countPerMachine : 1) {
      countUp(index, isAwaited ? 1 : Self.countPerMachine)
    }
  }

  /// Counts up some times with writes that are queued together, and waits for them.
  private func countUp(_ index: Int, _ count: Int) {
    let left = Monitor(count)
    for _ in 0..<count {
      machines[index].store.submit(
        ticket: "count", context: nil,
        {
          try $0.update(Tally.self, "Tally:1") { $0.marks[0] += 1 }
        },
        completion: { [self] result in
          state.withLock { state in
            switch result {
            case .success: state.sum += 1
            case .failure(let error):
              state.failures[index].append((error as? StoreError)?.code)
            }
          }
          left.withLock { $0 -= 1 }
          left.notifyAll()
        })
    }
    left.waiting { $0 == 0 ? () : nil }
  }
}
