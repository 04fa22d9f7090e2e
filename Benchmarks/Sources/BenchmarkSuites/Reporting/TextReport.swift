import Foundation

/// The report for people.
struct TextReport {
  /// What was asked for, and where it ran.
  func head(_ options: BenchmarkOptions, _ host: HostDescription) -> String {
    let versions = host.versions.sorted { $0.key < $1.key }
      .map { $0.value.hasPrefix($0.key) ? $0.value : "\($0.key) \($0.value)" }
    return """
      pando-bench  size \(options.size.rawValue), runs \(options.runs) (median), \
      seed \(options.seed), \(host.date)
      machine      \(host.processor), \(host.coreCount) cores, \
      \(host.memoryInBytes >> 30) GiB, \(host.fileSystem)
      system       \(host.operatingSystem)
      versions     \(versions.joined(separator: ", "))
      durability   full: a commit that has returned survives a power cut

      """
  }

  /// One workload: a line a system, then the ratios.
  func lines(_ result: WorkloadResult) -> String {
    let parameters = result.parameters.sorted { $0.key < $1.key }
      .map { "\($0.key) \($0.value.grouped)" }.joined(separator: ", ")
    var lines = ["\(result.suite.rawValue) \(result.workload): \(result.operation) (\(parameters))"]
    for entry in result.entries {
      let runs = entry.measurements.map(\.operationsPerSecond)
      let range = "\((runs.min() ?? 0).grouped) … \((runs.max() ?? 0).grouped)"
      lines.append(
        "  \(entry.system.title.padded(to: 14))"
          + "\(entry.operationsPerSecond.grouped.aligned(to: 12)) ops/s   (\(range)),"
          + " processor \(entry.processorNanosecondsPerOperation.grouped) ns/op")
    }
    for ratio in result.ratios {
      lines.append("  \(ratio.goal.title.padded(to: 26)) \(judgement(ratio))")
    }
    lines.append("  checksum \(result.checksum.hexadecimal), the same for all\n")
    return lines.joined(separator: "\n")
  }

  /// All ratios at a glance.
  func summary(_ results: [WorkloadResult]) -> String {
    var lines = ["ratios"]
    for result in results {
      for ratio in result.ratios {
        let name = "\(result.suite.rawValue) \(result.workload), \(ratio.goal.title)"
        lines.append("  \(name.padded(to: 44)) \(judgement(ratio))")
      }
    }
    return lines.joined(separator: "\n")
  }

  private func judgement(_ ratio: WorkloadResult.Ratio) -> String {
    let value = String(format: "%.2f", ratio.value)
    let range = String(
      format: "(%.2f … %.2f, processor %.2f)", ratio.minimum, ratio.maximum, ratio.processorValue)
    guard let goal = ratio.goal.minimum else { return "\(value) \(range)" }
    let verdict = ratio.isReached ? "reached" : "MISSED"
    return "\(value) \(range), goal \(String(format: "%.2f", goal)) \(verdict)"
  }
}

extension BinaryInteger {
  /// The number with a space between groups of three digits.
  fileprivate var grouped: String {
    var digits = String(self)
    var index = digits.count - 3
    while index > 0 {
      digits.insert(" ", at: digits.index(digits.startIndex, offsetBy: index))
      index -= 3
    }
    return digits
  }
}

extension Double {
  fileprivate var grouped: String { Int(rounded()).grouped }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }

  fileprivate func aligned(to width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - count)) + self
  }
}
