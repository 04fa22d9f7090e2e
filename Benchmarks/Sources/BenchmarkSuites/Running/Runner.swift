import Foundation
import Pando

/// Runs workloads and collects their results.
final class Runner {
  let options: BenchmarkOptions
  private(set) var results: [WorkloadResult] = []
  /// Comparisons of different workloads.
  private(set) var comparisons: [Comparison] = []
  /// How long each suite took, with all that is not timed in it.
  private(set) var durations: [(suite: SuiteName, duration: Duration)] = []
  /// Called with each result as soon as it exists.
  private let report: (WorkloadResult) -> Void
  private let root: WorkingDirectory
  private var suite: SuiteName = .kv
  private var fixtures: [String: WorkingDirectory] = [:]

  init(_ options: BenchmarkOptions, report: @escaping (WorkloadResult) -> Void) throws {
    self.options = options
    self.report = report
    root = try WorkingDirectory(in: options.directory)
  }

  /// The ratios of all workloads, then those between workloads.
  var ratios: [Comparison] { results.flatMap(\.ratios) + comparisons }

  /// Runs the suites that were asked for.
  func run() throws {
    for suite in options.suites {
      self.suite = suite
      let start = ContinuousClock.now
      try suite.run(self)
      durations.append((suite, ContinuousClock.now - start))
      fixtures = fixtures.filter { $0.key.hasPrefix(Self.sharedPrefix) }
    }
    if results.isEmpty, let workloads = options.workloads {
      throw BenchmarkError(
        .usage,
        "no workload of the suites that ran is called \(workloads.joined(separator: " or "))")
    }
  }

  /// Runs a workload as often as asked for.
  ///
  /// The systems take turns, and each begins a run in its turn, so that what disturbs the machine
  /// for a while disturbs them alike. Systems that are absent or were not asked for are left out, and
  /// so are workloads that were not asked for.
  ///
  /// - Throws: ``BenchmarkError`` of kind `wrongResult` if checksums differ; the error of a system.
  func measure(_ workload: Workload) throws { try measure([workload]) }

  /// Runs workloads that are compared with one another: they take turns as systems do.
  ///
  /// - Throws: As ``measure(_:)``.
  func measure(_ workloads: [Workload]) throws {
    let workloads = workloads.filter { options.includes(workload: $0.name) }
    let contenders = workloads.indices.flatMap { index in
      workloads[index].contenders.filter { options.takesPart($0.system) }
        .map { (workload: index, contender: $0) }
    }
    var measurements = [[Measurement]](repeating: [], count: contenders.count)
    for run in 0..<options.runs {
      for turn in contenders.indices {
        let index = (run + turn) % contenders.count
        measurements[index].append(try Self.run(contenders[index].contender))
      }
    }
    for (index, workload) in workloads.enumerated() {
      let entries = zip(contenders, measurements).filter { $0.0.workload == index }
        .map { WorkloadResult.Entry(system: $0.contender.system, measurements: $1) }
      guard !entries.isEmpty else { continue }
      let result = WorkloadResult(
        suite: suite, workload: workload.name, operation: workload.operation,
        parameters: workload.parameters, durability: workload.durability, series: workload.series,
        checksum: try commonChecksum(entries, workload.name), entries: entries,
        ratios: ratios(workload, entries))
      results.append(result)
      report(result)
    }
  }

  /// Adds a comparison of different workloads.
  func add(_ comparison: Comparison) { comparisons.append(comparison) }

  /// Compares workloads of this suite that took turns, as far as Pando took part in both.
  ///
  /// - Parameters:
  ///   - workload: The workload to judge.
  ///   - reference: The workload to compare it with.
  ///   - title: The name for people, without that of the suite.
  ///   - goal: For a least value rates are compared, for a most value times.
  func compare(_ workload: String, with reference: String, _ title: String, goal: Goal) {
    guard let entry = entry(.pando, in: workload), let other = self.entry(.pando, in: reference)
    else { return }
    add(
      Comparison(
        name: "\(suite.rawValue)/\(workload):\(reference)", title: "\(suite.rawValue), \(title)",
        entry, with: other, goal: goal))
  }

  /// A system's part in a workload of this suite; `nil` if it did not take part.
  func entry(_ system: System, in workload: String) -> WorkloadResult.Entry? {
    results.last { $0.suite == suite && $0.workload == workload }?.entry(system)
  }

  /// The rate of a system in a workload of this suite; `nil` if it did not take part.
  func rate(_ system: System, in workload: String) -> Double? {
    entry(system, in: workload)?.operationsPerSecond
  }

  /// A new empty directory for one database.
  func makeDirectory() throws -> WorkingDirectory { try WorkingDirectory(in: root.path) }

  /// A database that several workloads use, made when it is first asked for.
  ///
  /// - Parameters:
  ///   - name: Its name; one that begins with ``sharedPrefix`` is kept for the next suites.
  ///   - system: Whose it is. One that is absent, or was not asked for, finds an empty directory; all
  ///     ways to use Pando share its databases.
  ///   - make: Makes the database in an empty directory, and closes it.
  /// - Returns: The directory.
  /// - Throws: The error of `make`.
  func fixture(
    _ name: String, of system: System, _ make: (WorkingDirectory) throws -> Void
  ) throws -> WorkingDirectory {
    let name = "\(name)-\(system.rawValue)"
    if let directory = fixtures[name] { return directory }
    let directory = try makeDirectory()
    if system == .pando || options.takesPart(system) { try make(directory) }
    fixtures[name] = directory
    return directory
  }

  /// How the name of a database begins that several suites use.
  static let sharedPrefix = "shared-"

  /// Runs one system once and finds out how much memory it took.
  private static func run(_ contender: Workload.Contender) throws -> Measurement {
    ProcessCounters.resetPeak()
    let start = ProcessCounters.residentByteCount
    var measurement = try contender.run()
    if let start, let peak = ProcessCounters.peakResidentByteCount {
      measurement.peakMemoryByteCount = max(0, peak - start)
    }
    return measurement
  }

  /// Pando in terms of each other system, with either way of coding.
  private func ratios(_ workload: Workload, _ entries: [WorkloadResult.Entry]) -> [Comparison] {
    let name = "\(suite.rawValue) \(workload.name)"
    func compare(
      _ system: System, with others: (System) -> Bool, goals: [System: Double]
    ) -> [Comparison] {
      guard let entry = entries.first(where: { $0.system == system }) else { return [] }
      return entries.filter { others($0.system) }.map { other in
        Comparison(
          entry, over: other, workload: name, goal: goals[other.system].map { .atLeast($0) })
      }
    }
    let ways: [System] = [.pando, .pandoModel]
    return compare(.pando, with: { !ways.contains($0) }, goals: workload.goals)
      + compare(
        .pandoModel, with: { !ways.contains($0) && $0 != .pandoBlob }, goals: workload.modelGoals)
  }

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
