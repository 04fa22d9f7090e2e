import Foundation

/// Runs workloads and collects their results.
final class Runner {
  let options: BenchmarkOptions
  private(set) var results: [WorkloadResult] = []
  /// Told of each result as soon as it is there.
  private let report: (WorkloadResult) -> Void
  private let root: WorkingDirectory
  private var suite: SuiteName = .kv

  init(_ options: BenchmarkOptions, report: @escaping (WorkloadResult) -> Void) throws {
    self.options = options
    self.report = report
    root = try WorkingDirectory(in: options.directory)
  }

  /// Runs the suites that were asked for.
  func run() throws {
    for suite in options.suites {
      self.suite = suite
      try suite.run(self)
    }
  }

  /// Runs a workload as often as asked for.
  ///
  /// The systems take turns, and each begins a run in its turn, so that what disturbs the machine
  /// for a while disturbs them alike.
  ///
  /// - Throws: ``BenchmarkError`` of kind `wrongResult` if checksums differ; what a system throws.
  func measure(_ workload: Workload) throws {
    let contenders = workload.contenders
    var measurements = [[Measurement]](repeating: [], count: contenders.count)
    for run in 0..<options.runs {
      for turn in contenders.indices {
        let index = (run + turn) % contenders.count
        measurements[index].append(try contenders[index].run())
      }
    }
    let entries = zip(contenders, measurements).map { contender, measurements in
      WorkloadResult.Entry(system: contender.system, measurements: measurements)
    }
    let result = WorkloadResult(
      suite: suite, workload: workload.name, operation: workload.operation,
      parameters: workload.parameters, checksum: try commonChecksum(entries, workload.name),
      entries: entries, ratios: workload.goals.compactMap { WorkloadResult.Ratio($0, entries) })
    results.append(result)
    report(result)
  }

  /// A new empty directory for one database.
  func makeDirectory() throws -> WorkingDirectory { try WorkingDirectory(in: root.path) }

  private func commonChecksum(
    _ entries: [WorkloadResult.Entry], _ workload: String
  ) throws -> UInt64 {
    let checksums = entries.flatMap { $0.measurements.map(\.checksum) }
    guard let first = checksums.first, checksums.allSatisfy({ $0 == first }) else {
      let seen = entries.map { entry in
        "\(entry.system.title) \(entry.measurements.map { $0.checksum.hexadecimal })"
      }
      throw BenchmarkError(
        .wrongResult,
        "\(suite.rawValue) \(workload): checksums differ: \(seen.joined(separator: ", "))")
    }
    return first
  }
}

extension UInt64 {
  /// Sixteen hexadecimal digits.
  var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
