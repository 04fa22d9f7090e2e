import Dispatch
import Foundation

/// Kills the processes of three machines that share a log, at each step of what they write.
///
/// ```
/// three machines: start ─► writes of two tasks ─► killed at a step ─► start …   until there were enough kills
/// then: each takes in the log to its end ─► all equal? all acknowledged writes there, each once?
/// ```
/// The log, what was acknowledged, and who is to be killed where are kept by this process.
struct OriginsRun {
  private static let machineCount = 3

  private let options: Options
  private let directory: WorkingDirectory
  private let control: OriginsControl?

  init(_ options: Options) throws {
    var options = options
    if options.kills == 0 { options.kills = 200 }
    self.options = options
    let controls = OriginsControl.allCases
    control = options.isControl ? controls[Int(options.seed % UInt64(controls.count))] : nil
    directory = try WorkingDirectory("origins")
  }

  func run() async throws {
    say(
      """
      origins: seed \(options.seed), \(options.kills) kills\
      \(control.map { ", and wrong on purpose: \($0)" } ?? "")
      """)
    do {
      say("origins: seed \(options.seed): \(try await perform())")
      WorkingDirectory.remove(directory.path)
    } catch {
      let found = "origins: seed \(options.seed): \(error)"
      guard control == nil else {
        WorkingDirectory.remove(directory.path)
        throw TortureFailure(found)
      }
      throw TortureFailure("\(found)\nfiles are left in \(directory.path)")
    }
  }

  private func perform() async throws -> String {
    let log = OriginsLog(seed: options.seed, control: control)
    let server = try OriginsServer(log, at: "\(directory.path)/log")
    defer { server.close() }
    let ledger = OriginsLedger(killCount: options.kills)
    let folders = (0..<Self.machineCount).map { "\(directory.path)/\($0)" }
    let machines = folders.enumerated().map { index, folder in
      OriginsMachine(index, in: folder, seed: options.seed, control: control, server, ledger)
    }
    await Self.run(machines)

    var check = OriginsCheck(try ledger.records())
    try await check.check(folders, server, log)
    let counts = try stepCounts(check)
    return """
      \(check.records.count) kills of \(Self.machineCount) machines (\(counts)); behind an answer \
      \(check.beforeCommitCount) before the commit, \(check.behindCommitCount) between that and the \
      acknowledgement, \(check.toldCount) later; \(check.acknowledgedCount) acknowledged writes, \
      \(check.untoldCount) more were under way and are there, \(check.refusedCount) refused; \(log.end) \
      messages, \(log.counts.twice) of them came twice, \(log.counts.unanswered) had no answer: nothing \
      lost, nothing twice, all stores equal
      """
  }

  /// Runs each on a thread of its own, and waits for all.
  private static func run(_ machines: [OriginsMachine]) async {
    let group = DispatchGroup()
    for machine in machines {
      group.enter()
      Thread.detachNewThread {
        var machine = machine
        machine.run()
        group.leave()
      }
    }
    await withCheckedContinuation { continuation in
      group.notify(queue: .global()) { continuation.resume() }
    }
  }

  /// How many were killed at each step.
  ///
  /// - Throws: ``TortureFailure`` if none was at one of them.
  private func stepCounts(_ check: OriginsCheck) throws -> String {
    var counts: [OriginStep: Int] = [:]
    for record in check.records {
      if let step = record.killedAt { counts[step, default: 0] += 1 }
    }
    for step in OriginStep.allCases {
      try require(counts[step] ?? 0 > 0, "no kill at: \(step.rawValue)")
    }
    try require(check.beforeCommitCount > 0, "no kill between answer and commit")
    try require(check.behindCommitCount > 0, "no kill between commit and acknowledgement")
    return OriginStep.allCases.map { "\($0.rawValue) \(counts[$0] ?? 0)" }.joined(separator: ", ")
  }
}
