import Foundation

/// The report for programs; docs/benchmarks.md describes it.
struct JSONReport: Codable {
  /// How the program was called.
  struct Options: Codable {
    let size: String
    let runs: Int
    let seed: UInt64
    let threads: Int
    /// `nil` where each suite took what suits it.
    let durability: String?
    /// `nil` for all of the suites.
    let workloads: [String]?
  }

  /// One system in one workload.
  struct Result: Codable {
    let suite: String
    let workload: String
    let system: String
    let parameters: [String: Int]
    /// `nil` if nothing is committed.
    let durability: String?
    let figures: Figures
  }

  /// The measured figures.
  struct Figures: Codable {
    /// The median.
    let operationsPerSecond: Double
    /// Each run, in order.
    let operationsPerSecondOfRuns: [Double]
    /// The median, of all threads.
    let processorNanosecondsPerOperation: Double
    /// Operations of one run.
    let operationCount: Int
    let latency: Latency
    /// The median; `nil` if the system does not tell.
    let writtenBytesPerOperation: Double?
    /// The median; `nil` if there is no file.
    let fileBytes: Double?
    /// The median; `nil` if the system does not tell.
    let peakMemoryBytes: Double?
    /// The median; `nil` if they were not counted.
    let allocationsPerOperation: Double?
    /// How often threads woke up, all together; the median, `nil` if it was not counted.
    let wakeUpsPerOperation: Double?
    /// Threads that woke up for at least every tenth operation; the median.
    let wakingThreads: Double?
    /// Sixteen hexadecimal digits; the same for all systems of a workload.
    let checksum: String
  }

  /// How long single operations took, in nanoseconds, of all runs together.
  struct Latency: Codable {
    /// How many operations were timed.
    let count: Int
    let p50: UInt64
    let p99: UInt64
    let p999: UInt64
    let max: UInt64
  }

  /// A figure that is judged.
  struct Ratio: Codable {
    /// `suite/workload/system:reference`, or as docs/benchmarks.md lists them.
    let name: String
    let value: Double
    /// Empty for a quotient.
    let unit: String
    let minimum: Double?
    let maximum: Double?
    /// The same quotient of processor times, turned so that what is better for `value` is better.
    let processorValue: Double?
    let original: Double?
    let goal: Double?
    /// `at least` or `at most`.
    let goalDirection: Goal.Direction?
    let isReached: Bool?
  }

  /// Grows when a field changes its meaning or goes away.
  var format = 2
  let options: Options
  let host: HostDescription
  let results: [Result]
  let ratios: [Ratio]

  init(
    options: BenchmarkOptions, host: HostDescription, results: [WorkloadResult],
    ratios: [Comparison]
  ) {
    self.options = Options(
      size: options.size.rawValue, runs: options.runs, seed: options.seed,
      threads: options.threads, durability: options.durability?.name,
      workloads: options.workloads)
    self.host = host
    self.results = results.flatMap { result in
      result.entries.map { Result(result, $0) }
    }
    self.ratios = ratios.map { Ratio($0) }
  }

  /// The file's bytes, with sorted keys.
  func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self) + Data("\n".utf8)
  }
}

extension JSONReport.Result {
  fileprivate init(_ result: WorkloadResult, _ entry: WorkloadResult.Entry) {
    self.init(
      suite: result.suite.rawValue, workload: result.workload, system: entry.system.rawValue,
      parameters: result.parameters, durability: result.durability?.name,
      figures: JSONReport.Figures(
        operationsPerSecond: entry.operationsPerSecond,
        operationsPerSecondOfRuns: entry.measurements.map(\.operationsPerSecond),
        processorNanosecondsPerOperation: entry.processorNanosecondsPerOperation,
        operationCount: entry.measurements.first?.operationCount ?? 0,
        latency: JSONReport.Latency(entry.latencies),
        writtenBytesPerOperation: entry.writtenByteCountPerOperation,
        fileBytes: entry.fileByteCount, peakMemoryBytes: entry.peakMemoryByteCount,
        allocationsPerOperation: entry.allocationCountPerOperation,
        wakeUpsPerOperation: entry.wakeUpCountPerOperation,
        wakingThreads: entry.wakingThreadCount,
        checksum: result.checksum.hexadecimal))
  }
}

extension JSONReport.Latency {
  fileprivate init(_ latencies: LatencyDistribution) {
    self.init(
      count: latencies.count, p50: latencies.nanoseconds(atShare: 0.5),
      p99: latencies.nanoseconds(atShare: 0.99), p999: latencies.nanoseconds(atShare: 0.999),
      max: latencies.maximum)
  }
}

extension JSONReport.Ratio {
  fileprivate init(_ ratio: Comparison) {
    self.init(
      name: ratio.name, value: ratio.value, unit: ratio.unit, minimum: ratio.range?.lowerBound,
      maximum: ratio.range?.upperBound, processorValue: ratio.processorValue,
      original: ratio.original, goal: ratio.goal?.value, goalDirection: ratio.goal?.direction,
      isReached: ratio.goal.map { $0.isReached(by: ratio.value) })
  }
}
