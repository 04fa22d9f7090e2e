import Foundation
import Pando
import Synchronization

/// Cancels a sequence that makes no progress: a follower without a next element would wait for ever.
///
/// A sequence makes no progress if all threads of this process have slept for some seconds. So a machine with much other
/// work cancels none.
final class Patience: Sendable {
  private struct Running {
    var task: Task<Void, Never>?
    /// How many times in a row all threads slept.
    var idleCount = 0
    var limit = 0
  }

  private static let interval = 0.1

  private let running = Mutex(Running())

  init() {
    Thread.detachNewThread { [weak self] in
      while true {
        Thread.sleep(forTimeInterval: Self.interval)
        guard let self else { return }
        let isIdle = Self.runningThreadCount == 0
        self.running.withLock { running in
          running.idleCount = isIdle ? running.idleCount + 1 : 0
          if running.idleCount > running.limit { running.task?.cancel() }
        }
      }
    }
  }

  /// The threads that run or wait for the disk, without this one.
  private static var runningThreadCount: Int {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    let states = threads.filter { thread in
      guard
        let line = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8),
        let name = line.lastIndex(of: ")")
      else { return false }
      let state = line[name...].dropFirst(2).first
      return state == "R" || state == "D"
    }
    return states.count - 1
  }

  /// Runs a body; cancels it if nothing happens for so many seconds.
  func run<Result: Sendable>(
    _ seconds: Double, _ body: @escaping @Sendable () async -> Result
  ) async -> Result {
    let result = Box<Result>()
    let task = Task {
      let value = await body()
      result.value.withLock { $0 = value }
    }
    running.withLock {
      $0 = Running(task: task, limit: Int(seconds / Self.interval))
    }
    await task.value
    running.withLock { $0.task = nil }
    guard let value = result.value.withLock({ $0 }) else { preconditionFailure("no result") }
    return value
  }

  private final class Box<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
  }
}

/// Runs sequences, and shrinks one that fails.
final class Runner {
  private nonisolated(unsafe) var stores: Stores
  private let patience = Patience()

  init() throws { stores = try Stores() }

  /// Closes the stores.
  func close() async {
    nonisolated(unsafe) let stores = stores
    try? await stores.close()
  }

  /// Runs a sequence.
  ///
  /// - Returns: The first difference; `nil` if all sides agree.
  func finding(
    _ plan: Plan, _ mistake: Mistake? = nil
  ) async -> Finding? {
    // One sequence at a time uses the stores.
    nonisolated(unsafe) let stores = stores
    // Another process may be at work while this one sleeps.
    return await patience.run(plan.writer == .otherProcess ? 60 : 2) {
      do {
        try await SequenceRun(plan: plan, mistake: mistake, stores: stores).run()
        return nil
      } catch let finding as Finding {
        return finding
      } catch {
        return Finding(sides: "error", commit: -1, asked: -1, text: "\(error)")
      }
    }
  }

  /// Makes a failing plan simpler until no simpler one fails on the same sides.
  func shrunk(_ plan: Plan, _ finding: Finding) async -> (Plan, Finding) {
    var (plan, finding) = (plan, finding)
    let end = ContinuousClock.now + .seconds(60)
    search: while ContinuousClock.now < end {
      for simpler in plan.simpler(keeping: finding.asked) {
        if ContinuousClock.now > end { break }
        if let other = await self.finding(simpler), other.sides == finding.sides {
          (plan, finding) = (simpler, other)
          continue search
        }
      }
      break
    }
    return (plan, finding)
  }

  /// Counts the sequences that it takes to find a mistake; `nil` if it is not found.
  func sequences(toFind mistake: Mistake, from seed: UInt64, maximum: Int) async -> Int? {
    for number in 0..<maximum {
      let plan = Plan(seed: seed &+ UInt64(number))
      if let finding = await finding(plan, mistake) {
        return ["followed", "pages", "changes"].contains(finding.sides) ? number + 1 : nil
      }
    }
    return nil
  }
}
