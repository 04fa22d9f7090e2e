import Foundation
import Pando

/// Cuts the power at every point of a recorded workload.
///
/// A round records one workload at each level of durability. At each call of the recording the states
/// are built that the disk could have if the power failed there: what was flushed is kept; of what was
/// not, each sector of 512 bytes is there or not, by itself. All and none are tried, and seeded random
/// choices. A level that promises something must keep it in every state; the one that promises
/// nothing must show damage, or the run could not find any.
struct PowerCutRun {
  static let taskCount = 3
  /// The control is recorded once in so many rounds: it has shown that it is sharp soon.
  private static let controlRounds = 8

  private let options: Options
  private let directory: WorkingDirectory
  private var tallies: [Durability: CutTally] = [:]
  /// The results where the checkers hid a part of the work of `relaxed`.
  private var controls: [String: CutTally] = [:]

  init(_ options: Options) throws {
    var options = options
    if options.rounds == 0 { options.rounds = options.goal > 0 ? .max : 1 }
    if options.commits == 0 { options.commits = 36 }
    self.options = options
    directory = try WorkingDirectory("powercut")
  }

  mutating func run() throws {
    say(
      """
      powercut: seed \(options.seed), \
      \(options.rounds == .max ? "\(options.goal) states in" : "\(options.rounds)") rounds of \
      \(options.commits) commits at each level, \(options.states) random states at each cut besides \
      all and none
      """)
    try directory.use {
      var round = 0
      while round < options.rounds, options.rounds < .max || promisedStates < options.goal {
        defer { round += 1 }
        for level in Durability.tortured
        where level != .unsynchronized || round % Self.controlRounds == 0 {
          do {
            try self.round(seed: options.seed + UInt64(round), level)
          } catch {
            throw TortureFailure(
              "powercut: seed \(options.seed + UInt64(round)), \(level.name): \(error)")
          }
        }
      }
    }
    for level in Durability.tortured { report(level) }
    // Without states it can damage, the run would prove nothing about the others.
    let control = tallies[.unsynchronized] ?? CutTally()
    try require(
      control["damaged"] + control["not-a-version"] > 0,
      "the control shows no damage: the run is not sharp")
    for (hidden, tally) in controls.sorted(by: { $0.key < $1.key }) {
      say(
        "powercut: relaxed without its \(hidden): \(tally["failures"]) of \(tally["states"]) wrong")
      try require(tally["failures"] > 0, "without its \(hidden) no state is wrong")
    }
    say("powercut: seed \(options.seed): every promise kept, and the controls damaged")
  }

  /// States at the levels that promise something.
  private var promisedStates: Int {
    Durability.tortured.filter { $0 != .unsynchronized }
      .reduce(0) { $0 + (tallies[$1]?["states"] ?? 0) }
  }

  private func report(_ level: Durability) {
    let tally = tallies[level] ?? CutTally()
    let counts = tally.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    say(
      "powercut: \(level.name): \(counts.joined(separator: ", ")); "
        + "at most \(tally.lostMaximum) reported commits lost")
  }

  private mutating func round(seed: UInt64, _ level: Durability) throws {
    let disk = "\(directory.path)/disk"
    let log = "\(directory.path)/log"
    let boot = "\(directory.path)/boot"
    try String(repeating: "b", count: 32).write(toFile: boot, atomically: true, encoding: .utf8)
    WorkingDirectory.remove(disk)
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    let writer = try ChildProcess(
      [
        "powercut-writer", disk, level.name, "--seed", "\(seed)", "--commits", "\(options.commits)",
      ],
      variables: [
        "LD_PRELOAD": try ChildProcess.preloadPath(), "TORTURE_DIRECTORY": disk,
        "TORTURE_LOG": log, "TORTURE_MARKS": "3", "TORTURE_BOOT": boot,
      ])
    try writer.requireSuccess("the recorded process")

    tallies[level, default: CutTally()].add(try check(log, seed: seed, level))
    if level.isRelaxed, controls.isEmpty {
      for hidden in ["slot", "flush"] {
        controls[hidden] = try check(log, seed: seed, level, hiding: hidden)
      }
    }
    // The recording decides which states there are; tasks that run side by side vary from run to run.
    try require(
      tallies[level]?["failures"] == 0,
      """
      \(tallies[level]?["failures"] ?? 0) promises broken; repeat with: torture powercut-checker \
      \(log) \(directory.path)/again \(level.name) 0 1 nothing --seed \(seed) --states \(options.states)
      """)
  }

  /// Tries the states of a recording, in several processes.
  ///
  /// - Parameters:
  ///   - log: The recording.
  ///   - seed: The seed of the workload.
  ///   - level: The level that it was recorded at.
  ///   - hidden: The part that the states are made without: `slot`, `flush` or `nothing`.
  /// - Returns: Their results.
  /// - Throws: ``TortureFailure`` when a process ends early.
  private func check(
    _ log: String, seed: UInt64, _ level: Durability, hiding hidden: String = "nothing"
  ) throws -> CutTally {
    var tally = CutTally()
    let checkers = try (0..<options.jobs).map { part in
      try ChildProcess([
        "powercut-checker", log, "\(directory.path)/part-\(part)", level.name, "\(part)",
        "\(options.jobs)", hidden, "--seed", "\(seed)", "--states", "\(options.states)",
      ])
    }
    for (part, checker) in checkers.enumerated() {
      for line in checker.remainingLines() {
        tally.add(line: line)
      }
      let end = checker.wait()
      let progress = try? String(
        contentsOfFile: "\(directory.path)/part-\(part)/progress", encoding: .utf8)
      try require(
        end == .exited(0),
        "looking at the state of \(progress ?? "the first entry") ended with \(end)")
      WorkingDirectory.remove("\(directory.path)/part-\(part)")
    }
    return tally
  }
}
