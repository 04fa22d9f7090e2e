import Foundation
import Pando
import PandoLMDB

/// Lets the first, second, third … call of each kind fail, until a run meets no fault any more.
///
/// The process whose calls fail goes on as far as its errors allow. Afterwards the store is opened
/// without faults: all that was acknowledged is there, nothing else but whole commits whose outcome
/// was unknown, and it works.
///
/// A workload of many commits is cut into parts: each begins with what the store held after the part
/// before, so that a fault late in it costs no more time than an early one.
struct FaultsRun {
  /// The commits of each task in a part.
  private static let partLength = 5

  private let options: Options
  private let directory: WorkingDirectory
  private var runs = 0
  private var positions: [String: Int] = [:]
  private var partPositions: [String: Int] = [:]
  private var reported: [String: Int] = [:]
  private var silent = 0
  private var gaveUp = 0

  /// Some commits of a workload, and the store before them.
  private struct Part {
    let seed: UInt64
    /// Steps of each task that are there.
    let start: Int
    let length: Int
    let level: Durability
    let origin: String
  }

  /// A process whose calls fail, and where.
  private struct Attempt {
    let fault: Fault
    let folder: String
    let process: ChildProcess
  }

  init(_ options: Options) throws {
    var options = options
    if options.rounds == 0 { options.rounds = 1 }
    if options.commits == 0 { options.commits = 4 }
    self.options = options
    directory = try WorkingDirectory("faults")
  }

  mutating func run() throws {
    say(
      "faults: seed \(options.seed), \(options.rounds) rounds of \(options.commits) commits of each "
        + "of \(FaultsWriter.taskCount) tasks")
    try directory.use {
      for round in 0..<options.rounds {
        let seed = options.seed + UInt64(round)
        for start in stride(from: 0, to: options.commits, by: Self.partLength) {
          let length = min(Self.partLength, options.commits - start)
          let origin = "\(directory.path)/origin"
          // Every second round has checkpoints, whose flushes fail beside the commits.
          let level = round % 2 == 1 ? try Durability(named: "relaxed") : .full
          let part = Part(
            seed: seed, start: start, length: length, level: level, origin: origin)
          for kind in Fault.kinds { try self.run(part, kind) }
          try goOn(part)
        }
      }
    }
    let places = positions.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    let errors = reported.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
    say("faults: positions: \(places.joined(separator: ", "))")
    say("faults: reported: \(errors.joined(separator: ", "))")
    say(
      """
      faults: seed \(options.seed): \(runs) runs with a fault, \(silent) of them without an error, \
      \(gaveUp) ended early because the fault stayed: nothing acknowledged lost
      """)
  }

  /// Makes the commits of a part where the next one begins.
  private mutating func goOn(_ part: Part) throws {
    for (call, count) in partPositions { positions[call, default: 0] += count }
    partPositions = [:]
    let workload = Workload(seed: part.seed, taskCount: FaultsWriter.taskCount)
    try FileManager.default.createDirectory(
      atPath: part.origin, withIntermediateDirectories: true)
    let store = try ModelStore(
      path: "\(part.origin)/store", configuration: .torture(.unsynchronized))
    for step in part.start + 1...part.start + part.length {
      for task in 0..<FaultsWriter.taskCount {
        try store.write { try workload.perform(task: task, step: step, in: &$0) }
      }
    }
    store.close()
    try? FileManager.default.removeItem(atPath: "\(part.origin)/store/lock.mdb")
    if part.start + part.length == options.commits { WorkingDirectory.remove(part.origin) }
  }

  private mutating func run(_ part: Part, _ kind: Fault) throws {
    var position = 1
    while true {
      let attempts = try (0..<options.jobs).map { offset in
        var fault = kind
        fault.position = position + offset
        return try start(fault, part)
      }
      var isClean = false
      for attempt in attempts {
        do {
          let hasFailed = try check(attempt, part)
          isClean = isClean || !hasFailed
        } catch {
          throw TortureFailure(
            "faults: seed \(part.seed), after \(part.start) commits of each task, "
              + "\(attempt.fault): \(error)\n"
              + "repeat it with TORTURE_FAULT=\(attempt.fault.variable)")
        }
      }
      if isClean { return }
      position += options.jobs
      partPositions[kind.call] = max(partPositions[kind.call] ?? 0, position - 1)
    }
  }

  private func start(_ fault: Fault, _ part: Part) throws -> Attempt {
    let folder = "\(directory.path)/\(fault.position)"
    WorkingDirectory.remove(folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if part.start == 0 {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/disk", withIntermediateDirectories: true)
    } else {
      try FileManager.default.copyItem(atPath: part.origin, toPath: "\(folder)/disk")
    }
    let process = try ChildProcess(
      [
        "faults-writer", "\(folder)/disk", "\(part.start)", part.level.name,
        "--seed", "\(part.seed)", "--commits", "\(part.length)",
      ],
      variables: [
        "LD_PRELOAD": try ChildProcess.preloadPath(), "TORTURE_DIRECTORY": "\(folder)/disk",
        "TORTURE_FAULT": fault.variable, "TORTURE_REPORT": "\(folder)/report",
      ])
    return Attempt(fault: fault, folder: folder, process: process)
  }

  /// Waits for a process, and compares what it said with what there is.
  ///
  /// - Returns: Whether a call has failed.
  private mutating func check(_ attempt: Attempt, _ part: Part) throws -> Bool {
    let fault = attempt.fault
    var acknowledged = [Int](repeating: part.start, count: FaultsWriter.taskCount)
    var unknown: Set<[Int]> = []
    var lines: [String] = []
    while let line = attempt.process.line(timeoutInMilliseconds: 60_000) {
      lines.append(line)
      let fields = line.split(separator: " ").map(String.init)
      switch fields[0] {
      case "ack": acknowledged[Int(fields[1]) ?? 0] = Int(fields[2]) ?? 0
      case "unknown": unknown.insert([Int(fields[1]) ?? 0, Int(fields[2]) ?? 0])
      case "error": try note(fields, of: fault)
      default: break
      }
    }
    if attempt.process.isRunning {
      attempt.process.kill()
      throw TortureFailure("it hangs after \(lines.suffix(5))")
    }
    try attempt.process.requireSuccess("the process, after \(lines.suffix(5)),")
    let end = lines.last ?? ""
    let report = try Data(contentsOf: URL(fileURLWithPath: "\(attempt.folder)/report"))
    let hasFailed = report.count > 0
    if hasFailed { runs += 1 }
    try require(
      end == "done" || (end == "gave-up" && hasFailed && !fault.isTransient),
      "it ended with \(lines.suffix(5))")
    if hasFailed, !lines.contains(where: { $0.hasPrefix("error") }) { silent += 1 }
    if end == "gave-up" { gaveUp += 1 }
    try look(attempt, part.seed, acknowledged, unknown)
    WorkingDirectory.remove(attempt.folder)
    return hasFailed
  }

  /// An error must say what the system said, or that writes are refused because of it.
  private mutating func note(_ fields: [String], of fault: Fault) throws {
    let code = fields[2]
    reported["\(fault.call) \(fault.error) → \(fields[1]) \(code)", default: 0] += 1
    let isRefusal = code == "\(LMDBError.Code.failedFlush.rawValue)"
    try require(isRefusal || fault.codes.contains(code), fields.joined(separator: " "))
  }

  private func look(
    _ attempt: Attempt, _ seed: UInt64, _ acknowledged: [Int], _ unknown: Set<[Int]>
  ) throws {
    let workload = Workload(seed: seed, taskCount: FaultsWriter.taskCount)
    let store = try ModelStore(
      path: "\(attempt.folder)/disk/store", configuration: .torture(.unsynchronized))
    defer { store.close() }
    let steps = try store.read { try workload.steps(in: $0) }
    for (task, step) in steps.enumerated() where step != acknowledged[task] {
      try require(
        step == acknowledged[task] + 1 && unknown.contains([task, step]),
        "task \(task) has \(step) steps, \(acknowledged[task]) were acknowledged")
    }
    try store.read { try workload.check($0, steps: steps) }
    var report = try store.verify()
    try require(report.isClean, "verify: \(report.problems)")
    try store.write { try workload.perform(task: 0, step: steps[0] + 1, in: &$0) }
    report = try store.verify()
    try require(report.isClean, "verify after writing: \(report.problems)")
  }
}
