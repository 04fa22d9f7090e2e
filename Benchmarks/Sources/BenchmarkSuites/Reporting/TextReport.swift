import Foundation

/// The report for people.
struct TextReport {
  /// The options of the run, and its machine.
  func head(_ options: BenchmarkOptions, _ host: HostDescription) -> String {
    var lines = [
      "pando-bench  size \(options.size.rawValue), runs \(options.runs) (median), "
        + "seed \(options.seed), \(host.date)",
      "machine      \(host.processor), \(host.coreCount) cores, "
        + "\(host.memoryInBytes >> 30) GiB, \(host.fileSystem), load \(host.loadAverage)",
      "system       \(host.operatingSystem)",
      "versions     \(host.versionList)",
      "durability   \(options.durability.map(\.name) ?? "as each workload says")",
    ]
    if !host.absentSystems.isEmpty {
      lines.append("left out     \(host.absentSystems.joined(separator: ", ")): not installed")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// One workload: a line a system, then the ratios.
  func lines(_ result: WorkloadResult) -> String {
    var parameters = result.parameters.sorted { $0.key < $1.key }
      .map { "\($0.key) \($0.value.grouped)" }
    if let durability = result.durability { parameters.append("durability \(durability.name)") }
    var lines = [
      "\(result.suite.rawValue) \(result.workload): \(result.operation)",
      "  \(parameters.joined(separator: ", "))", columns,
    ]
    for entry in result.entries { lines.append(line(entry)) }
    let allocations = result.entries.compactMap { entry in
      entry.allocationCountPerOperation.map { "\(entry.system.title) \($0.short)" }
    }
    if !allocations.isEmpty {
      lines.append("  allocations per operation: \(allocations.joined(separator: ", "))")
    }
    for entry in result.entries {
      guard let count = entry.wakeUpCountPerOperation, let threads = entry.wakingThreadCount
      else { continue }
      lines.append(
        "  threads that woke up: \(entry.system.title) \(threads.short), "
          + "\(count.short) times per operation")
    }
    for ratio in result.ratios {
      lines.append("  \(ratio.title.padded(to: 46)) \(judgement(ratio))")
    }
    lines.append("  checksum \(result.checksum.hexadecimal), the same for all\n")
    return lines.joined(separator: "\n")
  }

  private var columns: String {
    let titles = ["ops/s", "p50", "p99", "p99.9", "max", "B/op", "file", "memory", "cpu/op"]
    return "  " + "".padded(to: 18)
      + titles.map { $0.aligned(to: 11) }.joined()
  }

  private func line(_ entry: WorkloadResult.Entry) -> String {
    let latencies = entry.latencies
    let figures = [
      entry.operationsPerSecond.grouped, latencies.nanoseconds(atShare: 0.5).asTime,
      latencies.nanoseconds(atShare: 0.99).asTime, latencies.nanoseconds(atShare: 0.999).asTime,
      latencies.maximum.asTime, entry.writtenByteCountPerOperation?.grouped ?? "–",
      entry.fileByteCount?.asSize ?? "–", entry.peakMemoryByteCount?.asSize ?? "–",
      UInt64(entry.processorNanosecondsPerOperation).asTime,
    ]
    return "  " + entry.system.title.padded(to: 18)
      + figures.map { $0.aligned(to: 11) }.joined()
  }

  /// All ratios at a glance.
  func summary(_ ratios: [Comparison]) -> String {
    let lines = ratios.map { "  \($0.title.padded(to: 62)) \(judgement($0))" }
    let judged = ratios.filter { $0.goal != nil }
    let reached = judged.filter(\.isReached).count
    return (["ratios"] + lines + ["goals reached: \(reached) of \(judged.count)"])
      .joined(separator: "\n")
  }

  /// How long the suites took, with all that is not timed in them.
  func durations(_ durations: [(suite: SuiteName, duration: Duration)]) -> String {
    let total = durations.reduce(Duration.zero) { $0 + $1.duration }
    let parts = durations.map { "\($0.suite.rawValue) \(seconds($0.duration))" }
    return "took \(seconds(total)): \(parts.joined(separator: ", "))"
  }

  private func seconds(_ duration: Duration) -> String {
    "\((duration / .seconds(1)).short) s"
  }

  private func judgement(_ ratio: Comparison) -> String {
    var text = ratio.value.short + (ratio.unit.isEmpty ? "" : " \(ratio.unit)")
    if let range = ratio.range, let processor = ratio.processorValue {
      text +=
        " (\(range.lowerBound.short) … \(range.upperBound.short)"
        + ", processor \(processor.short))"
    }
    if let original = ratio.original { text += ", the original \(original.short)" }
    guard let goal = ratio.goal else { return text }
    let verdict = ratio.isReached ? "reached" : "MISSED"
    return text + ", goal \(goal.direction.rawValue) \(goal.value.short) \(verdict)"
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }

  fileprivate func aligned(to width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - count)) + self
  }
}
