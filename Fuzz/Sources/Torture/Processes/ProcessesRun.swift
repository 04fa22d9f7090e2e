import Glibc
import LiveOperations
import Pando

/// Many processes write one store and show what all of them write, while some are killed and others
/// stopped.
///
/// ```
/// go ─► all write; kills, stops ─► all run ─► pause ─► the last has committed ─► each compares all
/// ```
/// A process that is killed is started anew at once, in the middle of what the others write.
struct ProcessesRun {
  /// How long an answer may take.
  private static let patienceInMilliseconds = 60_000
  /// The same where a rule is wrong on purpose, and an answer may never come.
  private static let controlPatienceInMilliseconds = 3_000
  /// Every so many rounds all that is stored is verified.
  private static let roundsPerVerification = 16

  private let options: Options
  private let directory: WorkingDirectory
  /// The mistake of the first process.
  private let control: ProcessSettings.Control?
  private var random: SeededGenerator
  private var processes: [ChildProcess] = []
  private var stopped: Set<Int> = []
  private var startCount = 0
  private var kills = 0
  private var stops = 0
  private var looks = 0
  /// How many commits of others each process that was started has shown.
  private var othersCommits: [pid_t: Int] = [:]
  /// Microseconds, of rounds in which no process was killed or stopped.
  private var delays: [Int] = []

  private var path: String { "\(directory.path)/store" }

  init(_ options: Options) throws {
    var options = options
    if options.seconds == 0 { options.seconds = 10 }
    self.options = options
    let controls = ProcessSettings.Control.allCases
    control = options.isControl ? controls[Int(options.seed % UInt64(controls.count))] : nil
    directory = try WorkingDirectory("processes")
    random = SeededGenerator(seed: options.seed)
  }

  mutating func run() throws {
    say(
      """
      processes: seed \(options.seed), \(options.seconds) seconds, \(options.processes) processes\
      \(control.map { ", of which the first \($0)" } ?? "")
      """)
    if control == nil { return try directory.use { try perform() } }
    defer { WorkingDirectory.remove(directory.path) }
    try perform()
  }

  private mutating func perform() throws {
    try ProcessWorker.makeStore(path)
    for index in 0..<options.processes { processes.append(try start(index)) }
    let deadline = ContinuousClock.now + .seconds(options.seconds)
    var round = 0
    while ContinuousClock.now < deadline {
      do {
        try self.round(round)
      } catch {
        throw TortureFailure("processes: seed \(options.seed), round \(round): \(error)")
      }
      round += 1
    }
    for process in processes { process.tell("end") }
    for (index, process) in processes.enumerated() {
      try process.requireSuccess("process \(index)")
    }
    say("processes: seed \(options.seed): \(try summary())")
  }

  private mutating func start(_ index: Int) throws -> ChildProcess {
    startCount += 1
    let arguments = [
      "processes-worker", path, "\(index)", "\(startCount)",
      control != nil && index == 0 ? "\(control?.rawValue ?? 0)" : "-",
      "--seed", "\(options.seed)",
    ]
    return try ChildProcess(arguments, takesInput: true)
  }

  private mutating func round(_ round: Int) throws {
    let isCalm = round % 2 == 0
    for process in processes { process.tell("go") }
    let deadline = ContinuousClock.now + .milliseconds(Int.random(in: 100...700, using: &random))
    while ContinuousClock.now < deadline {
      usleep(useconds_t.random(in: 2_000...60_000, using: &random))
      if !isCalm { try disturb() }
    }
    for index in stopped { processes[index].kill(SIGCONT) }
    stopped = []

    for process in processes { process.tell("pause") }
    var count = 0
    for index in processes.indices {
      count = max(count, try answer(of: index, "paused").first ?? 0)
    }
    for process in processes { process.tell("check \(count)") }
    for index in processes.indices {
      let numbers = try answer(of: index, "checked")
      try require(numbers.count >= 2, "process \(index) answers with \(numbers)")
      othersCommits[processes[index].identifier] = numbers[0]
      try require(numbers[1] == 0, "process \(index) has read all anew; the log reached back")
      if isCalm { delays += numbers[2...] }
    }
    looks += 1
    if round % Self.roundsPerVerification == 0 { try verify() }
  }

  /// Kills a process and starts another, stops one, or lets one go on.
  private mutating func disturb() throws {
    // The check must find the mistake of the first process.
    let index = Int.random(in: (control == nil ? 0 : 1)..<processes.count, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<3:
      processes[index].kill()
      let end = processes[index].wait()
      try require(end == .killed(signal: SIGKILL), "process \(index) ended with \(end)")
      kills += 1
      stopped.remove(index)
      processes[index] = try start(index)
      processes[index].tell("go")
    case 3..<6:
      processes[index].kill(SIGSTOP)
      stopped.insert(index)
      stops += 1
    default:
      guard let index = stopped.min() else { return }
      processes[index].kill(SIGCONT)
      stopped.remove(index)
    }
  }

  /// Waits for an answer, and returns its numbers.
  private func answer(of index: Int, _ name: String) throws -> [Int] {
    let patience = control == nil ? Self.patienceInMilliseconds : Self.controlPatienceInMilliseconds
    let process = processes[index]
    while let line = process.line(timeoutInMilliseconds: patience) {
      let words = line.split(separator: " ")
      if words.first == name[...] { return words.dropFirst().compactMap { Int($0) } }
    }
    if !process.isRunning {
      throw TortureFailure("process \(index) ended with \(process.wait()), and said why")
    }
    throw TortureFailure("process \(index) has not \(name) in time\n\(states())")
  }

  /// The state that each process waits for.
  private func states() -> String {
    for process in processes { process.tell("state") }
    return processes.enumerated().map { index, process in
      while let line = process.line(timeoutInMilliseconds: 1_000) {
        if line.hasPrefix("state") { return "process \(index), \(line)" }
      }
      return "process \(index) says nothing"
    }.joined(separator: "\n")
  }

  private func verify() throws {
    let store = try ModelStore(path: path, configuration: .torture(isReadOnly: true))
    defer { store.close() }
    let report = try store.verify()
    try require(report.isClean, "verify: \(report.problems)")
  }

  private mutating func summary() throws -> String {
    try verify()
    let store = try ModelStore(path: path, configuration: .torture(isReadOnly: true))
    defer { store.close() }
    let commits = try store.statistics().commitNumber.value
    delays.sort()
    let shown = othersCommits.values.reduce(0, +)
    return """
      \(options.processes) processes made \(commits) commits and showed \(shown) times one of another; \
      \(kills) kills, \(stops) stops; \(looks) times all showed \
      what is stored, after changes that lead to it; from a write to a delegate in another process \
      \(delay(50)) ms in half of \(delays.count) cases, \(delay(99)) ms in 99 of 100
      """
  }

  private func delay(_ percent: Int) -> String {
    guard !delays.isEmpty else { return "?" }
    let tenths = delays[(delays.count - 1) * percent / 100] / 100
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// Works as one of the processes.
  ///
  /// Positional: directory, index, how many were started before, what is wrong on purpose.
  static func work(_ options: Options) async throws {
    let start = try options.integer(2)
    let settings = ProcessSettings(
      path: try options.text(0), process: try options.integer(1),
      seed: options.seed &+ UInt64(start) &* 0x9E37_79B9_7F4A_7C15,
      control: Int(try options.text(3)).flatMap { ProcessSettings.Control(rawValue: $0) })
    do {
      try await ProcessWorker.run(settings)
    } catch {
      throw TortureFailure("process \(settings.process): \(error)")
    }
  }
}
