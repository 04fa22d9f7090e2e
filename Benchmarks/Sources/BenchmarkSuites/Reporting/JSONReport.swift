import Foundation

/// The report for programs; docs/benchmarks.md describes it.
struct JSONReport: Codable {
  /// How the program was called.
  struct Options: Codable {
    let size: String
    let runs: Int
    let seed: UInt64
  }

  /// One system in one workload.
  struct Result: Codable {
    let suite: String
    let workload: String
    let system: String
    let parameters: [String: Int]
    let figures: Figures
  }

  /// What was measured.
  struct Figures: Codable {
    /// The median.
    let operationsPerSecond: Double
    /// Each run, in order.
    let operationsPerSecondOfRuns: [Double]
    /// The median, of all threads.
    let processorNanosecondsPerOperation: Double
    /// Operations of one run.
    let operationCount: Int
    /// Sixteen hexadecimal digits; the same for all systems of a workload.
    let checksum: String
  }

  /// A quotient of two systems' medians.
  struct Ratio: Codable {
    /// `suite/workload/system:reference`, and `/system:reference` of what it is divided by.
    let name: String
    let value: Double
    let minimum: Double
    let maximum: Double
    /// The same quotient of processor times, turned so that more is better.
    let processorValue: Double
    let goal: Double?
  }

  /// Grows when a field changes its meaning or goes away.
  var format = 1
  let options: Options
  let host: HostDescription
  let results: [Result]
  let ratios: [Ratio]

  init(options: BenchmarkOptions, host: HostDescription, results: [WorkloadResult]) {
    self.options = Options(
      size: options.size.rawValue, runs: options.runs, seed: options.seed)
    self.host = host
    self.results = results.flatMap { result in
      result.entries.map { Result(result, $0) }
    }
    ratios = results.flatMap { result in
      result.ratios.map { Ratio(result, $0) }
    }
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
      parameters: result.parameters,
      figures: JSONReport.Figures(
        operationsPerSecond: entry.operationsPerSecond,
        operationsPerSecondOfRuns: entry.measurements.map(\.operationsPerSecond),
        processorNanosecondsPerOperation: entry.processorNanosecondsPerOperation,
        operationCount: entry.measurements.first?.operationCount ?? 0,
        checksum: result.checksum.hexadecimal))
  }
}

extension JSONReport.Ratio {
  fileprivate init(_ result: WorkloadResult, _ ratio: WorkloadResult.Ratio) {
    self.init(
      name: "\(result.suite.rawValue)/\(result.workload)/"
        + ratio.goal.name,
      value: ratio.value, minimum: ratio.minimum, maximum: ratio.maximum,
      processorValue: ratio.processorValue, goal: ratio.goal.minimum)
  }
}
