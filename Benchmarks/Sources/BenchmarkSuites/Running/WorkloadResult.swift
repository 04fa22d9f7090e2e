/// What all runs of a workload measured.
struct WorkloadResult: Sendable {
  let suite: SuiteName
  let workload: String
  let operation: String
  let parameters: [String: Int]
  /// The same for every system and every run.
  let checksum: UInt64
  let entries: [Entry]
  let ratios: [Ratio]
}

extension WorkloadResult {
  /// One system's part.
  struct Entry: Sendable {
    let system: System
    /// In the order of the runs.
    let measurements: [Measurement]

    /// The median of the runs.
    var operationsPerSecond: Double { measurements.map(\.operationsPerSecond).median }

    /// The median of the runs.
    var processorNanosecondsPerOperation: Double {
      measurements.map(\.processorNanosecondsPerOperation).median
    }
  }

  /// How systems compare.
  struct Ratio: Sendable {
    let goal: Goal
    /// The quotient of the medians.
    let value: Double
    /// The least quotient of runs that followed one another.
    let minimum: Double
    /// The greatest one.
    let maximum: Double
    /// The quotient of the processor times, turned so that more is better here too.
    let processorValue: Double

    /// Whether the goal is reached, as far as there is one.
    var isReached: Bool { goal.minimum.map { value >= $0 } ?? true }
  }
}

extension WorkloadResult.Ratio {
  /// Compares systems.
  ///
  /// - Returns: `nil` if one of them did not take part.
  init?(_ goal: Goal, _ entries: [WorkloadResult.Entry]) {
    func value(_ rates: (WorkloadResult.Entry) -> Double) -> Double? {
      guard let quotient = Self.quotient(goal.quotient, entries, rates) else { return nil }
      guard let divisor = goal.divisor else { return quotient }
      return Self.quotient(divisor, entries, rates).map { quotient / $0 }
    }
    guard let median = value(\.operationsPerSecond),
      let processor = value({ 1 / $0.processorNanosecondsPerOperation })
    else { return nil }
    let runCount = entries.map(\.measurements.count).min() ?? 0
    let single = (0..<runCount).compactMap { run in
      value { $0.measurements[run].operationsPerSecond }
    }
    self.init(
      goal: goal, value: median, minimum: single.min() ?? median,
      maximum: single.max() ?? median, processorValue: processor)
  }

  private static func quotient(
    _ quotient: Goal.Quotient, _ entries: [WorkloadResult.Entry],
    _ rate: (WorkloadResult.Entry) -> Double
  ) -> Double? {
    guard let system = entries.first(where: { $0.system == quotient.system }),
      let reference = entries.first(where: { $0.system == quotient.reference })
    else { return nil }
    return rate(system) / rate(reference)
  }
}

extension [Double] {
  /// The middle value, or the mean of the two in the middle.
  ///
  /// *Precondition:* not empty.
  var median: Double {
    let sorted = sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}
