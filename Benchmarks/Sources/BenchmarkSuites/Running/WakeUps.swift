/// How often threads slept and woke up during a run.
struct WakeUps: Sendable, Equatable {
  /// How many threads did so for at least every tenth operation.
  let threadCount: Int
  /// How often all threads did so together, for an operation.
  let countPerOperation: Double
}

extension WakeUps {
  /// Counts while a closure runs.
  ///
  /// - Parameters:
  ///   - operationCount: How many operations the closure does.
  ///   - body: The work.
  /// - Returns: The result of the closure, and the counts; `nil` if the system has none.
  /// - Throws: The error of `body`.
  static func count<Result>(
    per operationCount: Int, _ body: () throws -> Result
  ) rethrows -> (result: Result, wakeUps: WakeUps?) {
    let before = ProcessCounters.voluntarySwitchesOfThreads
    let result = try body()
    let after = ProcessCounters.voluntarySwitchesOfThreads
    return (result, WakeUps(from: before, to: after, per: operationCount))
  }

  /// Makes the counts from how often each thread has slept, before and after.
  ///
  /// A thread that has ended meanwhile is not counted. `nil` if the system does not tell.
  init?(from before: [String: Int], to after: [String: Int], per operationCount: Int) {
    guard !before.isEmpty, !after.isEmpty else { return nil }
    let counts = after.map { thread, count in count - (before[thread] ?? 0) }
    threadCount = counts.count { $0 * 10 >= operationCount }
    countPerOperation = Double(counts.reduce(0, +)) / Double(operationCount)
  }
}
