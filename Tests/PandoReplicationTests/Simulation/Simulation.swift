import PandoFixtures
import PandoModels
import PandoReplication

@testable import PandoStore

/// Replicas that write to one log, with all that happens to them chosen by a seed.
///
/// Sendable because one thread at a time runs: who calls a store waits for it, and what others do meanwhile
/// is done inside of the calls that it makes to its log.
final class Simulation: SeededSimulation, @unchecked Sendable {
  /// A process that ends.
  struct Crash: Error {}
  /// What a closure of a write throws by itself.
  struct Stop: Error {}

  /// A kind of trouble.
  enum Fault: CaseIterable {
    /// A message that does not arrive, one that arrives without an answer, and one that arrives later.
    case lostMessage, lostAnswer, delay
    /// A message that comes twice, and one of which the engine does not know any more that it has it.
    case duplicate, forgottenNames
    /// A member that can't reach the log, for a while or for a moment.
    case partition, unavailable
    /// A member that ends while it appends, while it reads, and at each step of its own.
    case crashBefore, crashAfter, crashReading, crashCommitting, crashTakingIn, crashTakenIn
    /// Another member that writes in the middle of a write.
    case rival
  }

  final class Member: @unchecked Sendable {
    let index: Int
    var fixture: ReplicaFixture?
    var hasCrashed = false
    var isCut = false
    var isBusy = false

    init(index: Int) { self.index = index }
  }

  let log = MemoryLog()
  let folder: String
  let judges: Bool
  var chances: Chances
  let members: [Member]
  private var nextMark = 1
  /// The marks of writes that have returned.
  private(set) var acknowledged: Set<Int> = []
  /// Those of writes that were refused for good.
  private(set) var refused: Set<Int> = []
  /// What has happened, for whoever looks into a failure.
  private(set) var events: [String] = []
  /// How often each trouble has occurred.
  private(set) var faults: [Fault: Int] = [:]

  init(seed: UInt64, folder: String, judges: Bool) {
    var chances = Chances(seed: seed)
    self.folder = folder
    self.judges = judges
    members = (0..<Int.random(in: 3...5, using: &chances.random)).map { Member(index: $0) }
    chances.trouble = [0, 30, 100, 200][Int.random(in: 0..<4, using: &chances.random)]
    self.chances = chances
  }

  deinit { for member in members { member.fixture?.store.close() } }

  /// - Returns: What is wrong; `nil` if nothing is.
  func run() throws -> String? {
    for member in members { try open(member) }
    chances.hasFaults = true
    for _ in 0..<(8 + number(21)) { step() }
    return try check()
  }

  private func step() {
    let member = members[number(members.count)]
    switch number(12) {
    case 0: member.isCut.toggle()
    case 1: log.deliverDelayed()
    case 2: log.forgetNames()
    case 3: restart(member)
    case 4, 5:
      member.isBusy = true
      try? member.fixture?.replica.catchUp()
      member.isBusy = false
    default: write(member)
    }
    if member.hasCrashed { restart(member) }
  }

  /// Lets all who can write, or some of them, write now.
  private func letOthersWrite() {
    insideCall {
      for _ in 0...number(2) {
        let member = members[number(members.count)]
        if member.isBusy || member.hasCrashed { continue }
        note(.rival)
        write(member)
        if member.hasCrashed { restart(member) }
      }
    }
  }

  private func note(_ fault: Fault) { faults[fault, default: 0] += 1 }

  private func write(_ member: Member) {
    guard let store = member.fixture?.store else { return }
    member.isBusy = true
    defer { member.isBusy = false }
    // Some share a flush, and so an entry.
    let work = (0...(number(3) == 0 ? number(3) : 0)).map { _ in makeWork() }
    let others = Others(work.dropFirst())
    let first = work[0]
    end(
      first,
      Result {
        try store.write { transaction in
          for other in others.take() {
            let job = WriteJob(context: nil) {
              try other.run(&$0)
            } completion: { result in
              self.end(other, result.map { _ in })
            }
            try store.writer?.submit(job)
          }
          try first.run(&transaction)
        }
      })
    // Whoever came too late for that flush has been answered behind it.
    try? store.write { _ in }
  }

  private func makeWork() -> SimulatedWork {
    defer { nextMark += 1 }
    return SimulatedWork(mark: nextMark, using: &chances.random)
  }

  private func end(_ work: SimulatedWork, _ result: Result<Void, any Error>) {
    switch result {
    case .success:
      events.append("\(work.mark) done")
      acknowledged.insert(work.mark)
    case .failure(let error):
      events.append("\(work.mark) \(error)")
      let code = (error as? StoreError)?.code
      if error is Stop || code == .conflict { refused.insert(work.mark) }
    }
  }
}

/// The writes that share a flush with the first one; its closure hands them in once.
private final class Others: @unchecked Sendable {
  private var work: ArraySlice<SimulatedWork>

  init(_ work: ArraySlice<SimulatedWork>) { self.work = work }

  func take() -> ArraySlice<SimulatedWork> {
    defer { work = [] }
    return work
  }
}

/// What happens to members.
extension Simulation {
  private func open(_ member: Member) throws {
    var configuration = ReplicaConfiguration.forTests
    configuration.judges = judges
    configuration.onStep = { [unowned self, unowned member] step in
      let fault: Fault =
        switch step {
        case .willCommit: .crashCommitting
        case .willTakeIn: .crashTakingIn
        case .didTakeIn: .crashTakenIn
        // They take no turns.
        case .isHeldBack: .crashCommitting
        }
      if chance(2) { try crash(member, fault) }
    }
    member.hasCrashed = false
    let connection = MemoryConnection(log) { [unowned self, unowned member] call, moment in
      try meet(member, call, moment)
    }
    member.fixture = try withoutFaults {
      try ReplicaFixture("\(folder)/\(member.index)", connection, configuration)
    }
  }

  private func restart(_ member: Member) {
    if member.isBusy { return }
    events.append("restart \(member.index)")
    member.fixture?.store.close()
    member.fixture = nil
    do { try open(member) } catch { preconditionFailure("a member can't be opened: \(error)") }
  }

  private func crash(_ member: Member, _ fault: Fault) throws {
    note(fault)
    events.append("crash \(member.index)")
    member.hasCrashed = true
    throw Crash()
  }

  private func meet(
    _ member: Member, _ call: MemoryConnection.Call, _ moment: MemoryConnection.Moment
  ) throws {
    guard chances.hasFaults else { return }
    if member.hasCrashed { throw Crash() }
    if member.isCut { throw fault(.partition, .unavailable("cut off")) }
    switch (call, moment) {
    case (.append, .before):
      if number(3) == 0 { letOthersWrite() }
      if chance(4) { try crash(member, .crashBefore) }
      if chance(6) { throw fault(.lostMessage, .noAnswer) }
      if chance(6) {
        note(.delay)
        throw MemoryConnection.Delay()
      }
      if chance(4) { throw fault(.unavailable, .unavailable("for a moment")) }
    case (.append, .after):
      if number(6) == 0 { letOthersWrite() }
      if chance(6), let last = log.messages.last {
        note(.duplicate)
        log.append(last)
      }
      if chance(3) {
        note(.forgottenNames)
        log.forgetNames()
      }
      if chance(4) { try crash(member, .crashAfter) }
      if chance(8) { throw fault(.lostAnswer, .noAnswer) }
    case (.messages, _):
      if number(6) == 0 { letOthersWrite() }
      if chance(10) { log.deliverDelayed() }
      if chance(2) { try crash(member, .crashReading) }
      if chance(3) { throw fault(.unavailable, .unavailable("for a moment")) }
    case (.end, _):
      if chance(3) { throw fault(.unavailable, .unavailable("for a moment")) }
    }
    if member.hasCrashed { throw Crash() }
  }

  private func fault(_ fault: Fault, _ error: LogFault) -> LogFault {
    note(fault)
    return error
  }

}

/// What must hold when all is quiet.
extension Simulation {
  private func check() throws -> String? {
    chances.hasFaults = false
    for member in members {
      member.isCut = false
      restart(member)
    }
    log.deliverDelayed()
    var dumps: [[String]] = []
    for member in members {
      guard let fixture = member.fixture else { return "a member is not open" }
      try fixture.replica.catchUp()
      dumps.append(try fixture.dump())
    }
    for index in dumps.indices where dumps[index] != dumps[0] {
      let difference = dumps[index].difference(from: dumps[0]).map { "\($0)" }
      return "members 0 and \(index) differ: \(difference.joined(separator: "; "))"
    }
    guard let store = members[0].fixture?.store else { return "a member is not open" }
    let report = try store.verify()
    if let problem = report.problems.first { return "\(problem)" }
    var counts: [Int: Int] = [:]
    for mark in try SimulatedWork.marks(in: store) { counts[mark, default: 0] += 1 }
    if let twice = counts.first(where: { $0.value > 1 }) {
      return "mark \(twice.key) is there twice"
    }
    if let lost = acknowledged.first(where: { counts[$0] == nil }) {
      return "mark \(lost) was acknowledged and is not there"
    }
    if let extra = refused.first(where: { counts[$0] != nil }) {
      return "mark \(extra) was refused and is there"
    }
    return nil
  }
}
