import PandoFixtures
import PandoLMDB
import PandoModels
import PandoReplication
import PandoStore

/// Replicas that follow a log that lies, with all that happens chosen by a seed.
///
/// Sendable because one thread at a time runs, as in ``Simulation``.
final class LyingSimulation: SeededSimulation, @unchecked Sendable {
  struct Crash: Error {}

  final class Member: @unchecked Sendable {
    let index: Int
    let server: Int
    /// Whether its program does not compare itself with the log.
    let isOld: Bool
    var fixture: ReplicaFixture?
    /// Why it can't be opened.
    var refusal: StoreError?
    var hasCrashed = false
    var isCut = false
    var isBusy = false
    var isFull = false
    var hasEnded = false
    var lookTime: Int64
    var openTime: Int64 = 0
    var end: UInt64 = 0
    var clockOffset: Int64 = 0
    var acknowledged: Set<Int> = []

    init(index: Int, server: Int, isOld: Bool, lookTime: Int64) {
      (self.index, self.server, self.isOld, self.lookTime) = (index, server, isOld, lookTime)
    }

    /// Why it does not go on.
    var stop: StoreError? { fixture.map { $0.replica.halt } ?? refusal }
  }

  let log = LyingLog()
  let folder: String
  let lies: [Lie]
  let omissions: Set<ReplicaOmission>
  /// What the threads of members are wrong about.
  let mistakes: Set<Lie>
  /// How large a message is at most: small ones have entries come in parts.
  private var messageByteCountMaximum = EntryLimits.partByteCount
  /// Where the message of a newer version is.
  private var newerPosition: UInt64?
  var chances: Chances
  var members: [Member] = []
  /// In nanoseconds.
  private(set) var now: Int64 = 0
  private var nextMark = 1
  private(set) var events: [String] = []
  private(set) var told: [Lie: Int] = [:]
  /// Which members have stopped for good, and why.
  private(set) var stops: [StoreError.Code: Int] = [:]

  /// Makes a simulation.
  ///
  /// - Parameters:
  ///   - seed: What chooses all.
  ///   - folder: Where stores lie.
  ///   - lies: What happens; `nil` if the seed chooses that.
  ///   - omissions: What replicas leave undone.
  ///   - mistakes: What the threads of members are wrong about: they look by a clock that jumps, or end where the disk is
  ///     full.
  init(
    seed: UInt64, folder: String, lies: [Lie]? = nil, omissions: Set<ReplicaOmission> = [],
    mistakes: Set<Lie> = []
  ) {
    self.mistakes = mistakes
    var chances = Chances(seed: seed)
    self.folder = folder
    self.omissions = omissions
    var chosen: [Lie] = []
    for _ in 0..<Int.random(in: 1...3, using: &chances.random) {
      chosen.append(Lie.allCases[Int.random(in: 0..<Lie.allCases.count, using: &chances.random)])
    }
    self.lies = lies ?? chosen
    chances.trouble = [0, 20, 60][Int.random(in: 0..<3, using: &chances.random)]
    self.chances = chances
    if number(3) == 0 { messageByteCountMaximum = Self.smallMessageByteCount }
    if self.lies.contains(.oldProgram) { told[.oldProgram] = 1 }
    for index in 0..<(2 + number(2)) {
      add(isOld: self.lies.contains(.oldProgram) && index == 1)
    }
  }

  deinit { for member in members { member.fixture?.store.close() } }

  /// Most entries of a simulation are of two to four messages of that size.
  private static let smallMessageByteCount = 328

  private func add(isOld: Bool = false) {
    members.append(
      Member(
        index: members.count, server: number(2), isOld: isOld,
        lookTime: now + Int64(number(2_000)) * 1_000_000))
  }

  /// - Returns: What is wrong; `nil` if nothing is.
  func run() throws -> String? {
    for member in members { open(member) }
    if members[0].fixture == nil { return "the first member can't be opened" }
    chances.hasFaults = true
    let count = 10 + number(15)
    var pending = lies.filter { $0 != .oldProgram }
    for step in 0..<count {
      if !pending.isEmpty, number(count - step) < pending.count * 2 { tell(pending.removeFirst()) }
      self.step()
    }
    while let lie = pending.popLast() {
      tell(lie)
      step()
    }
    try settle()
    return try check()
  }

  private func step() {
    now += Int64(number(400)) * 1_000_000
    let member = members[number(members.count)]
    switch number(14) {
    case 0: member.isCut.toggle()
    case 1: log.deliverDelayed()
    case 2: restart(member)
    case 3: try? putSnapshot(member)
    case 4, 5: follow(member)
    default: write(member)
    }
    for member in members { tick(member) }
  }

  /// Does what the threads of a replicated store do when it is time.
  private func tick(_ member: Member) {
    if member.hasCrashed { restart(member) }
    if member.isBusy { return }
    if member.fixture == nil, now >= member.openTime { open(member) }
    let clock = now + (mistakes.contains(.clockJump) ? member.clockOffset : 0)
    guard clock >= member.lookTime else {
      // It was told of what came.
      if number(2) == 0, member.end > 0 { follow(member) }
      return
    }
    member.lookTime = now + 2_000_000_000
    follow(member, looks: true)
    if member.hasCrashed { restart(member) }
  }

  private func follow(_ member: Member, looks: Bool = false) {
    guard let replica = member.fixture?.replica, !member.isBusy, !member.hasEnded else { return }
    member.isBusy = true
    defer { member.isBusy = false }
    do {
      if try replica.looksForCopy() { return }
      if replica.halt != nil { return }
      if looks { member.end = max(member.end, try replica.look()) }
      try replica.takeIn(upTo: member.end)
      member.end = 0
      if looks { try replica.markIfQuiet() }
    } catch {
      events.append("\(member.index) \(error)")
      member.hasEnded = mistakes.contains(.fullDisk) && member.isFull
      if looks { member.lookTime = min(member.lookTime, now + 1_000_000_000) }
    }
  }

  private func putSnapshot(_ member: Member) throws {
    guard let fixture = member.fixture, !member.isBusy, fixture.replica.halt == nil else { return }
    member.isBusy = true
    defer { member.isBusy = false }
    do {
      let position = try fixture.replica.putSnapshot()
      events.append("\(member.index) put a copy at \(position)")
    } catch {
      events.append("\(member.index) put no copy: \(error)")
      throw error
    }
  }

  private func write(_ member: Member) {
    guard let store = member.fixture?.store, !member.isBusy else { return }
    member.isBusy = true
    defer { member.isBusy = false }
    let work = SimulatedWork(mark: nextMark, using: &chances.random)
    nextMark += 1
    do {
      try store.write { try work.run(&$0) }
      member.acknowledged.insert(work.mark)
      events.append("\(member.index) wrote \(work.mark) at \((try? store.position()) ?? 0)")
    } catch {
      events.append("\(member.index) failed \(work.mark): \(error)")
    }
    // All are told of it, sooner or later.
    for other in members { other.end = max(other.end, UInt64(log.end)) }
  }
}

/// What members meet.
extension LyingSimulation {
  private func open(_ member: Member) {
    var configuration = ReplicaConfiguration.forTests
    configuration.quietLookCount = 1 + member.index % 2
    configuration.omissions = omissions
    configuration.messageByteCountMaximum = messageByteCountMaximum
    if member.isOld { configuration.omissions.formUnion([.lastMessage, .origins, .marks]) }
    configuration.clock = { [unowned self, unowned member] in now + member.clockOffset }
    configuration.onStep = { [unowned self, unowned member] step in
      if member.isFull, step != .didTakeIn { throw LMDBError(.diskFull, function: "a test") }
      if chance(2) { try crash(member) }
    }
    member.hasCrashed = false
    member.openTime = now + 1_000_000_000
    let connection = LyingConnection(log, server: member.server) {
      [unowned self, unowned member] in try meet(member, $0, $1)
    }
    let path = "\(folder)/\(member.index)"
    withoutFaults {
      do {
        let store = try ReplicatedStore.begin(path, connection, .forTests, configuration)
        do {
          let replica = try Replica(store, log: connection, configuration: configuration)
          member.fixture = ReplicaFixture(store: store, replica: replica)
          member.refusal = nil
          member.end = UInt64(log.end)
        } catch {
          store.close()
          throw error
        }
      } catch {
        events.append("\(member.index) can't be opened: \(error)")
        member.refusal = error as? StoreError ?? (error as? LogFault)?.error(path)
      }
    }
  }

  private func restart(_ member: Member) {
    if member.isBusy { return }
    events.append("restart \(member.index)")
    member.fixture?.store.close()
    member.fixture = nil
    open(member)
  }

  private func crash(_ member: Member) throws {
    events.append("crash \(member.index)")
    member.hasCrashed = true
    throw Crash()
  }

  private func meet(
    _ member: Member, _ call: MemoryConnection.Call, _ moment: MemoryConnection.Moment
  ) throws {
    guard chances.hasFaults else { return }
    if member.hasCrashed { throw Crash() }
    if member.isCut { throw LogFault.unavailable("cut off") }
    switch (call, moment) {
    case (.append, .before):
      if number(4) == 0 { letOthersWrite() }
      if chance(4) { try crash(member) }
      if chance(6) { throw LogFault.noAnswer }
      if chance(6) { throw MemoryConnection.Delay() }
    case (.append, .after):
      if chance(4) { try crash(member) }
      if chance(8) { throw LogFault.noAnswer }
    case (.messages, _):
      if chance(10) { log.deliverDelayed() }
      if chance(2) { try crash(member) }
      if chance(3) { throw LogFault.unavailable("for a moment") }
    case (.end, _):
      if chance(3) { throw LogFault.unavailable("for a moment") }
    }
  }

  private func letOthersWrite() {
    insideCall {
      let member = members[number(members.count)]
      if member.isBusy || member.hasCrashed { return }
      write(member)
      if member.hasCrashed { restart(member) }
    }
  }
}

/// What happens to the log and the machines.
extension LyingSimulation {
  private func tell(_ lie: Lie) {
    events.append("\(lie) at \(log.end)")
    told[lie, default: 0] += 1
    let isNoticed = number(2) == 0
    switch lie {
    case .lostEnd:
      let count = min(log.end, 1 + number(3))
      for member in members where number(2) == 0 {
        // It can reach none but the server that has failed.
        let position = (try? member.fixture?.store.position() ?? 0) ?? 0
        if position > log.end - count { member.isCut = true }
      }
      for index in log.servers.indices {
        let kept = max(0, log.servers[log.leader].messages.count - count)
        if index != log.leader, log.servers[index].messages.count > kept {
          log.servers[index].messages = Array(log.servers[index].messages[..<kept])
        }
      }
      log.servers[log.leader].messages.removeLast(count)
      if isNoticed { log.interruptionCount += 1 }
    case .lostMiddle:
      guard log.end > 3 else { return }
      let index = 1 + number(log.end - 2)
      for server in log.servers.indices where index < log.servers[server].messages.count {
        log.servers[server].messages[index] = nil
      }
      log.skipsGaps = number(2) == 0
    case .twoHistories: splitHistories()
    case .lostStream:
      log.isThere = false
      log.servers = [LyingLog.Server(), LyingLog.Server()]
    case .emptied:
      let count = number(2) == 0 ? log.end : 0
      let server = LyingLog.Server(
        messages: Array(repeating: nil, count: count), goneCount: count)
      log.servers = [server, server]
      if isNoticed { log.interruptionCount += 1 }
    case .damagedCopy:
      guard var bytes = log.snapshot?.bytes, bytes.count > 64 else { return }
      if omissions.contains(.pages) || number(2) == 0 {
        // A name of a field in records alone: what reads other pages without having looked at them ends the process.
        let word = [0x65] + Array("marks".utf8)
        for index in bytes.indices.dropLast(word.count)
        where bytes[index] == word[0] && bytes[index...].starts(with: word) {
          bytes[index + 1] = UInt8(ascii: "n")
        }
        guard bytes != log.snapshot?.bytes ?? [] else { return }
      } else {
        for _ in 0..<16 { bytes[number(bytes.count)] ^= 255 }
      }
      log.snapshot?.bytes = bytes
      log.isSnapshotDamaged = true
    case .clockJump:
      members[number(members.count)].clockOffset += Int64(number(20) - 10) * 3_600_000_000_000
    case .fullDisk: members[number(members.count)].isFull = true
    case .lateJoiner:
      add()
      open(members[members.count - 1])
    case .oldProgram: return
    case .newProgram:
      guard let store = members[0].fixture?.store, let entry = try? store.entry() else { return }
      let bytes = LogMessage.entry(entry).bytes.newer()
      newerPosition = try? log.append(LyingLog.Message(name: "newer", bytes: bytes))
    case .failover:
      log.leader = 1 - log.leader
      log.interruptionCount += 1
    case .retention:
      // Machines see to a copy before.
      for member in members where log.snapshot == nil || number(2) == 0 {
        try? putSnapshot(member)
      }
      guard let position = log.snapshot?.position, !log.isSnapshotDamaged else { return }
      let count = min(Int(position), log.end)
      for index in log.servers.indices { log.servers[index].goneCount = count }
    }
  }

  /// Has the servers show different messages from some position on.
  private func splitHistories() {
    let other = 1 - log.leader
    let count = log.servers[other].messages.count
    guard count > 2 else { return }
    let index = max(1, count - 1 - number(4))
    switch number(3) {
    case 0:
      // One is missing, and what came behind it has moved up.
      log.servers[other].messages.remove(at: index)
    case 1:
      // Another one is there.
      log.servers[other].messages[index] = LyingLog.Message(
        name: "other", bytes: log.servers[other].messages[number(index)]?.bytes ?? [1])
    default:
      guard index + 1 < count else { return }
      log.servers[other].messages.swapAt(index, index + 1)
    }
    // Which of the two is right from now on is anybody's guess.
    if number(2) == 0 { log.leader = other }
  }
}

/// What must hold when all is quiet.
extension LyingSimulation {
  /// Lets ten seconds pass in which nothing more happens.
  private func settle() throws {
    chances.hasFaults = false
    log.isThere = true
    log.deliverDelayed()
    log.complete()
    for member in members {
      (member.isCut, member.isFull) = (false, false)
      member.end = UInt64(log.end)
    }
    if log.isSnapshotDamaged {
      for member in members where !member.isOld && log.isSnapshotDamaged {
        try? putSnapshot(member)
      }
    }
    let end = now + 10_000_000_000
    while now < end {
      now += 250_000_000
      for member in members {
        tick(member)
        if !member.isOld, try member.fixture?.replica.needsSnapshot() == true {
          try? putSnapshot(member)
        }
      }
      for member in members { member.end = UInt64(log.end) }
    }
  }

  private func check() throws -> String? {
    var first: (member: Member, dump: [String])?
    for member in members {
      events.append(
        "\(member.index) is at \((try? member.fixture?.store.position() ?? 0) ?? 0), "
          + "\(member.fixture.map { "\($0.replica.statistics)" } ?? "closed")")
    }
    for member in members where !member.isOld {
      if let stop = member.stop {
        stops[stop.code, default: 0] += 1
        guard isReport(stop, of: member) else { return "\(member.index) has stopped: \(stop)" }
        continue
      }
      guard let fixture = member.fixture else { return "\(member.index) is not open" }
      let position = try fixture.store.position() ?? 0
      guard position == log.end else {
        return "\(member.index) is at \(position), and the log ends at \(log.end)"
      }
      // One that is alone with a history of its own has nobody to hear it from.
      if let newerPosition, !told.keys.contains(where: { $0 != .newProgram && $0.losesSomething }),
        log.servers[member.server].message(at: Int(newerPosition))?.name == "newer"
      {
        return "\(member.index) has come past the message of a newer version"
      }
      let dump = try fixture.dump()
      if let first, first.dump != dump {
        let difference = dump.difference(from: first.dump).map { "\($0)" }
        return "\(first.member.index) and \(member.index) differ: "
          + difference.prefix(4).joined(separator: "; ")
      }
      first = (member, dump)
      let marks = try SimulatedWork.marks(in: fixture.store)
      if Set(marks).count < marks.count { return "a mark is twice in \(member.index)" }
      if let lost = member.acknowledged.first(where: { !marks.contains($0) }) {
        return "\(member.index) has acknowledged \(lost), and does not have it"
      }
    }
    return nil
  }

  /// Whether a member may have stopped so.
  private func isReport(_ stop: StoreError, of member: Member) -> Bool {
    switch stop.code {
    case .logLost, .forked: told.keys.contains { $0.losesSomething }
    case .needsUpgrade: told[.newProgram] != nil
    // One that has not begun can't have anything of its own.
    case .unavailable, .replicated, .damaged:
      member.fixture == nil && told[.lateJoiner] != nil && member.acknowledged.isEmpty
    default: false
    }
  }
}
