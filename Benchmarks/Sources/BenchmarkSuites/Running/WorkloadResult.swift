import Pando

/// The measurements of all runs of a workload.
struct WorkloadResult: Sendable {
  let suite: SuiteName
  let workload: String
  let operation: String
  let parameters: [String: Int]
  let durability: Durability?
  let series: Workload.Series?
  /// The same for every system and every run.
  let checksum: UInt64
  let entries: [Entry]
  let ratios: [Comparison]

  /// The part of a system; `nil` if it did not take part.
  func entry(_ system: System) -> Entry? { entries.first { $0.system == system } }
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

    /// The median of the runs; `nil` if it was not measured.
    var writtenByteCountPerOperation: Double? {
      measurements.compactMap(\.writtenByteCountPerOperation).medianIfAny
    }

    /// The median of the runs; `nil` if there is no file.
    var fileByteCount: Double? { measurements.compactMap(\.fileByteCount).medianIfAny }

    /// The median of the runs; `nil` if it was not measured.
    var peakMemoryByteCount: Double? { measurements.compactMap(\.peakMemoryByteCount).medianIfAny }

    /// The median of the runs; `nil` if it was not counted.
    var allocationCountPerOperation: Double? {
      measurements.compactMap(\.allocationCountPerOperation).medianIfAny
    }

    /// The median of the runs; `nil` if it was not counted.
    var wakingThreadCount: Double? { measurements.compactMap(\.wakeUps?.threadCount).medianIfAny }

    /// The median of the runs; `nil` if it was not counted.
    var wakeUpCountPerOperation: Double? {
      measurements.compactMap(\.wakeUps?.countPerOperation).medianIfAny
    }

    /// All runs together.
    var latencies: LatencyDistribution {
      measurements.reduce(into: .none) { $0.add($1.latencies) }
    }
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

  fileprivate var medianIfAny: Double? { isEmpty ? nil : median }
}

extension [Int] {
  fileprivate var medianIfAny: Double? { map(Double.init).medianIfAny }
}
