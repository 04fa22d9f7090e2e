import Glibc
import Pando

/// Starts process after process over the store of one machine, and has each killed.
struct OriginsMachine {
  /// How long a process may say nothing.
  private static let patienceInMilliseconds = 60_000
  /// A process that has made so many writes and was not killed comes to its step no more: others have to
  /// write for that.
  private static let writeCountMaximum = 300

  let index: Int
  let folder: String
  let seed: UInt64
  let control: OriginsControl?
  let server: OriginsServer
  let ledger: OriginsLedger
  var random: SeededGenerator
  private var life = 0

  init(
    _ index: Int, in folder: String, seed: UInt64, control: OriginsControl?,
    _ server: OriginsServer, _ ledger: OriginsLedger
  ) {
    self.index = index
    self.folder = folder
    self.seed = seed
    self.control = control
    (self.server, self.ledger) = (server, ledger)
    random = SeededGenerator(seed: seed, index)
  }

  /// Goes on until there were enough kills.
  mutating func run() {
    while let number = ledger.claim() {
      do {
        ledger.note(try live(until: OriginStep(ofKill: number)))
      } catch {
        ledger.note(TortureFailure("machine \(index), life \(life): \(error)"))
      }
    }
  }

  private mutating func live(until step: OriginStep) throws -> OriginsLedger.Record {
    life += 1
    let plan = OriginLife.Plan(step, using: &random)
    let life = OriginLife(self.life, of: index, plan: plan)
    var record = OriginsLedger.Record(machine: index, life: self.life)
    server.expect(life)
    let process = try ChildProcess([
      "origins-writer", folder, server.path, "\(index)", "\(self.life)", step.rawValue,
      "\(plan.count)", control.map { "\($0.rawValue)" } ?? "-", "--seed", "\(seed)",
    ])
    life.begin(process.identifier)
    if step == .anyTime {
      usleep(plan.microseconds)
      life.kill(.anyTime)
    }
    var writeCount = 0
    while let line = process.line(timeoutInMilliseconds: Self.patienceInMilliseconds) {
      if let step = OriginStep(rawValue: line) { life.kill(step) } else { try note(line, &record) }
      writeCount += 1
      if writeCount == Self.writeCountMaximum { life.kill(.anyTime) }
    }
    try require(!process.isRunning, "it says nothing any more, and was to be killed at: \(step)")
    record.killedAt = life.end()
    let end = process.wait()
    try require(
      end == .killed(signal: SIGKILL) && record.killedAt != nil,
      "it ended with \(end), killed at: \(record.killedAt.map { "\($0)" } ?? "no step")")
    if record.killedAt?.isBehindAnswer == true { record.hadUntold = try hasUntold(record) }
    try require(
      record.killedAt != .returned || record.hadUntold == true,
      "a write that had returned is not in the store")
    return record
  }

  private func note(_ line: String, _ record: inout OriginsLedger.Record) throws {
    let words = line.split(separator: " ")
    guard words.count == 3, let task = Int(words[1]), let step = Int(words[2]),
      record.endedCounts.indices.contains(task), step == record.endedCounts[task] + 1
    else { throw TortureFailure("it said: \(line), after \(record.endedCounts) writes") }
    if words[0] == "refused" { record.refused.insert(record.untold(task: task)) }
    record.endedCounts[task] = step
  }

  /// Looks into the store as the dead have left it, without the log.
  private func hasUntold(_ record: OriginsLedger.Record) throws -> Bool {
    let store = try ModelStore(path: folder, configuration: .torture(isReadOnly: true))
    defer { store.close() }
    return try store.read { snapshot in
      for task in record.endedCounts.indices {
        let key = OriginsModels.Mark.key(record.untold(task: task).mark)
        if try snapshot.contains(key) { return true }
      }
      return false
    }
  }
}
