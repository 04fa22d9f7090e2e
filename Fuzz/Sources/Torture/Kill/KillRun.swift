import Foundation
import Pando

/// Kills writers at random moments and looks at what is left.
///
/// Each round starts one or two writers with several tasks each, a reader, and at times a process that
/// stays inside a read. All are killed with SIGKILL. All commits that a writer has reported must be there,
/// only whole commits may be there, no reader may have seen anything else, and the slots of the dead
/// are free again.
struct KillRun {
  private static let taskCount = 4
  /// A new store every so many rounds, so that creation is cut short, too.
  private static let roundsPerStore = 8

  private let options: Options
  private let workload: Workload
  private let directory: WorkingDirectory
  private var random: SeededGenerator
  /// Steps of each task that must be there.
  private var acknowledged = [Int](repeating: 0, count: Self.taskCount)
  private var kills = 0
  private var commits = 0
  private var unacknowledged = 0
  private var reads = 0
  private var staleReaders = 0
  private var survivors = 0
  /// How often a commit showed only with the next write.
  private var shownLate = 0

  private var path: String { "\(directory.path)/store" }

  init(_ options: Options) throws {
    self.options = options
    workload = Workload(seed: options.seed, taskCount: Self.taskCount)
    directory = try WorkingDirectory("kill")
    random = SeededGenerator(seed: options.seed)
  }

  mutating func run() throws {
    let rounds = options.rounds > 0 ? options.rounds : options.goal > 0 ? .max : 20
    say(
      "kill: seed \(options.seed), "
        + (rounds == .max ? "at least \(options.goal) kills" : "\(rounds) rounds"))
    try directory.use {
      var round = 0
      while round < rounds, rounds < .max || kills < options.goal {
        do {
          try self.round(round)
        } catch {
          throw TortureFailure("kill: seed \(options.seed), round \(round): \(error)")
        }
        round += 1
      }
    }
    say(
      """
      kill: seed \(options.seed): \(kills) kills, \(commits) commits, \(unacknowledged) of them kept \
      without having been acknowledged (in \(shownLate) rounds they showed with the next write), \
      \(reads) reads in other processes, \(staleReaders) stale \
      readers cleared, \(survivors) writers went on after the death of another: nothing lost
      """)
  }

  private mutating func round(_ round: Int) throws {
    if round % Self.roundsPerStore == 0 {
      WorkingDirectory.remove(path)
      acknowledged = [Int](repeating: 0, count: Self.taskCount)
    }
    let before = acknowledged
    let level = Durability.tortured[round % 4]
    let isPair = round % 3 == 2
    let last = Self.taskCount - 1
    var writers = [try startWriter(0...(isPair ? last / 2 : last), level)]
    if isPair { writers.append(try startWriter(last / 2 + 1...last, level)) }
    let reader = try start("kill-reader", [path, "\(Self.taskCount)"])
    let holder = random.chance(40) ? try start("kill-holder", [path]) : nil

    // Short times end a writer while it opens or makes the store.
    let time = random.chance(20) ? 0...30_000 : 20_000...150_000
    try collect(writers[0], microseconds: Int.random(in: time, using: &random))
    writers[0].kill()
    try requireKilled(writers[0], "the writer")
    if isPair {
      // The other one takes the writers' lock over from the dead.
      guard let line = writers[1].line(timeoutInMilliseconds: 20_000) else {
        throw TortureFailure("the second writer does not go on after the death of the first")
      }
      try note(line)
      survivors += 1
      try collect(writers[1], microseconds: Int.random(in: 0...30_000, using: &random))
      writers[1].kill()
      try requireKilled(writers[1], "the second writer")
    }
    for writer in writers { for line in writer.remainingLines() { try note(line) } }
    if let holder {
      _ = holder.line(timeoutInMilliseconds: 2_000)
      holder.kill()
      try requireKilled(holder, "the holder")
    }
    // While a reader lives on, the slots of the dead have to be found; else the file starts anew.
    let readerLives = random.chance(50)
    if !readerLives { try end(reader) }
    try check(before, readersMaximum: readerLives ? 2 : 1)
    if readerLives { try end(reader) }
  }

  private mutating func end(_ reader: ChildProcess) throws {
    reader.kill()
    try requireKilled(reader, "the reader")
    reads += reader.remainingLines().count
  }

  private func startWriter(_ tasks: ClosedRange<Int>, _ level: Durability) throws -> ChildProcess {
    try start(
      "kill-writer",
      [path, "\(Self.taskCount)", "\(tasks.lowerBound)", "\(tasks.upperBound)", level.name]
        + (options.isControl ? ["--control"] : []))
  }

  private func start(_ role: String, _ arguments: [String]) throws -> ChildProcess {
    try ChildProcess([role, "--seed", "\(options.seed)"] + arguments)
  }

  /// Reads what a writer says for a while.
  private mutating func collect(_ writer: ChildProcess, microseconds: Int) throws {
    let deadline = ContinuousClock.now + .microseconds(microseconds)
    while true {
      let rest = (deadline - .now) / .milliseconds(1)
      guard rest > 0 else { return }
      if let line = writer.line(timeoutInMilliseconds: Int(rest)) { try note(line) }
    }
  }

  private mutating func note(_ line: String) throws {
    let fields = line.split(separator: " ").compactMap { Int($0) }
    try require(fields.count == 2, "the writer said: \(line)")
    try require(
      fields[1] == acknowledged[fields[0]] + 1,
      "task \(fields[0]) committed step \(fields[1]) after \(acknowledged[fields[0]])")
    acknowledged[fields[0]] = fields[1]
  }

  private mutating func requireKilled(_ process: ChildProcess, _ name: String) throws {
    let end = process.wait()
    try require(end == .killed(signal: SIGKILL), "\(name) ended with \(end)")
    kills += 1
  }

  /// Opens the store and compares it with what must be there.
  private mutating func check(_ before: [Int], readersMaximum: Int) throws {
    let store = try ModelStore(path: path, configuration: .torture())
    defer { store.close() }
    let statistics = try store.statistics()
    try require(
      statistics.readerCount <= readersMaximum,
      "\(statistics.readerCount) readers, \(readersMaximum) can live")
    staleReaders += store.counters.staleReadersCleared
    let steps = try store.read { try workload.steps(in: $0) }
    for (task, step) in steps.enumerated() {
      // One write of each task can have been under way.
      try require(
        step == acknowledged[task] || step == acknowledged[task] + 1,
        "task \(task) has \(step) steps, \(acknowledged[task]) were acknowledged")
      unacknowledged += step - acknowledged[task]
    }
    try store.read { try workload.check($0, steps: steps) }
    let report = try store.verify()
    try require(report.isClean, "verify: \(report.problems)")
    commits += steps.reduce(0, +) - before.reduce(0, +)

    // And it can be written. A reader that lives on keeps the lock file: then a commit that was cut
    // short after its last page was written shows with the next write, not before.
    let later = try store.write { [workload] transaction in
      let steps = try workload.steps(in: transaction.snapshot)
      try workload.perform(task: 0, step: steps[0] + 1, in: &transaction)
      return steps
    }
    for (task, step) in later.enumerated() {
      try require(
        step >= steps[task] && step <= acknowledged[task] + 1,
        "task \(task) has \(step) steps, it had \(steps[task]) before the first write")
      unacknowledged += step - steps[task]
      commits += step - steps[task]
    }
    if later != steps { shownLate += 1 }
    acknowledged = later
    acknowledged[0] += 1
    try store.read { try workload.check($0, steps: acknowledged) }
  }
}
