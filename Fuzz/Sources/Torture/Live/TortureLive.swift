import Foundation
import LiveOperations

/// The operations of `fuzz-live` with random numbers, run after run.
struct TortureLive {
  private let options: Options
  private let directory: WorkingDirectory
  private var runCount = 0
  private var callCount = 0

  init(_ options: Options) throws {
    var options = options
    if options.seconds == 0, options.rounds == 0 { options.seconds = 10 }
    self.options = options
    directory = try WorkingDirectory("live")
  }

  mutating func run() async throws {
    say("live: seed \(options.seed), \(extent), one seed a run")
    defer { WorkingDirectory.remove(directory.path) }
    let deadline = ContinuousClock.now + .seconds(options.seconds)
    while options.rounds > 0 ? runCount < options.rounds : ContinuousClock.now < deadline {
      try await run(seed: options.seed + UInt64(runCount))
      runCount += 1
    }
    say(
      "live: seeds \(options.seed)..<\(options.seed + UInt64(runCount)): \(runCount) runs with \(callCount) calls: no finding"
    )
  }

  private var extent: String {
    options.rounds > 0 ? "\(options.rounds) runs" : "\(options.seconds) seconds"
  }

  private mutating func run(seed: UInt64) async throws {
    var choices = Choices(seed: seed)
    var settings = LiveSettings(&choices)
    settings.isCanary = options.isControl
    if options.isTracing {
      say("seed \(seed): \(settings)")
      settings.trace = { say($0) }
    }
    WorkingDirectory.remove("\(directory.path)/store")
    do {
      callCount += try await LiveRun.perform(settings, choices, path: "\(directory.path)/store")
    } catch {
      let order = settings.taskCount == 1 ? "" : "; the order of its tasks differs from run to run"
      throw TortureFailure(
        "run \(runCount), seed \(seed) (\(settings)): \(error)\n"
          + "repeat it with: Fuzz/torture live --rounds 1 --seed \(seed)\(order)")
    }
  }
}
