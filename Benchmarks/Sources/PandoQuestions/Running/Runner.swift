import Foundation
import Pando
import Synchronization

/// Cancels a sequence that makes no progress: a follower without a next element would wait for ever.
final class Patience: Sendable {
  private struct Running {
    var task: Task<Void, Never>?
    var end = ContinuousClock.now
  }

  private let running = Mutex(Running())

  init() {
    Thread.detachNewThread { [weak self] in
      while true {
        Thread.sleep(forTimeInterval: 0.1)
        guard let self else { return }
        self.running.withLock { if $0.end < .now { $0.task?.cancel() } }
      }
    }
  }

  /// Runs a body for at most so long.
  func run<Result: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async -> Result
  ) async -> Result {
    let result = Mutex<Result?>(nil)
    let box = Box(result)
    let task = Task {
      let value = await body(); box.result.withLock { $0 = value }
    }
    running.withLock { $0 = Running(task: task, end: .now + limit) }
    await task.value
    running.withLock { $0.task = nil }
    guard let value = box.result.withLock({ $0 }) else { preconditionFailure("no result") }
    return value
  }

  private final class Box<Value: Sendable>: Sendable {
    let result: Mutex<Value?>
    init(_ result: consuming Mutex<Value?>) { self.result = result }
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
    _ plan: Plan, _ mistake: Mistake? = nil, within limit: Duration = .seconds(20)
  ) async -> Finding? {
    // One sequence at a time uses the stores.
    nonisolated(unsafe) let stores = stores
    return await patience.run(limit) {
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
        if let other = await self.finding(simpler, within: .seconds(3)),
          other.sides == finding.sides
        {
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
