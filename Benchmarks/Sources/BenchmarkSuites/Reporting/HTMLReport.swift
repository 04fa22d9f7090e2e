/// The report as one page with plots and nothing to load.
struct HTMLReport {
  let options: BenchmarkOptions
  let host: HostDescription
  let results: [WorkloadResult]
  let ratios: [Comparison]

  /// The file's text.
  var text: String {
    let suites = SuiteName.allCases.filter { suite in results.contains { $0.suite == suite } }
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width">
      <title>pando-bench</title>
      <style>
      \(Self.style)
      </style>
      </head>
      <body>
      <h1>pando-bench</h1>
      \(head)
      <h2>Goals</h2>
      \(goals)
      \(suites.map(section).joined(separator: "\n"))
      </body>
      </html>

      """
  }

  private static let style = """
    body { font: 15px/1.5 "DejaVu Sans", system-ui, sans-serif; color: #222; max-width: 1080px;
      margin: 2em auto; padding: 0 1em; }
    h1 { margin-bottom: 0; } h2 { margin-top: 2.2em; border-bottom: 1px solid #ccc; }
    h3 { margin: 1.8em 0 0.2em; font-size: 1em; }
    p { margin: 0.3em 0; color: #555; }
    table { border-collapse: collapse; margin: 0.6em 0; font-variant-numeric: tabular-nums;
      font-size: 13px; }
    th, td { padding: 2px 9px; text-align: right; border-bottom: 1px solid #e4e4e4; }
    th { color: #555; font-weight: normal; } th:first-child, td:first-child, .head td { text-align: left; }
    .missed { color: #b3261e; font-weight: bold; } .reached { color: #1a7f37; }
    svg text { font: 12px "DejaVu Sans", system-ui, sans-serif; fill: #333; }
    .plots { display: flex; flex-wrap: wrap; gap: 12px 24px; }
    """

  private var head: String {
    var rows = [
      ("run", "size \(options.size.rawValue), \(options.runs) runs (median), seed \(options.seed)"),
      ("date", host.date),
      (
        "machine",
        "\(host.processor), \(host.coreCount) cores, \(host.memoryInBytes >> 30) GiB, "
          + "\(host.fileSystem), load \(host.loadAverage) when it began"
      ),
      ("system", host.operatingSystem),
      ("versions", host.versionList),
      ("durability", options.durability?.name ?? "as each workload says"),
    ]
    if !host.absentSystems.isEmpty {
      rows.append(("left out", host.absentSystems.joined(separator: ", ") + ": not installed"))
    }
    let lines = rows.map { "<tr><td>\($0.0)</td><td>\($0.1.escaped)</td></tr>" }
    return "<table class=\"head\">\(lines.joined(separator: "\n"))</table>"
  }

  private var goals: String {
    let judged = ratios.filter { $0.goal != nil }
    guard !judged.isEmpty else { return "<p>No workload of this run has a goal.</p>" }
    let rows = judged.map { ratio in
      let goal = ratio.goal.map { "\($0.direction.rawValue) \($0.value.short)" } ?? ""
      let original = ratio.original.map { "\($0.short) \(ratio.unit)" } ?? ""
      let verdict =
        ratio.isReached ? "<td class=\"reached\">reached</td>" : "<td class=\"missed\">missed</td>"
      return "<tr><td>\(ratio.title.escaped)</td><td>\(ratio.value.short) \(ratio.unit)</td>"
        + "<td>\(ratio.range.map { "\($0.lowerBound.short) … \($0.upperBound.short)" } ?? "")</td>"
        + "<td>\(original)</td><td>\(goal)</td>\(verdict)</tr>"
    }
    let reached = judged.filter(\.isReached).count
    return """
      <p>\(reached) of \(judged.count) are reached. A ratio is Pando's median rate divided by the \
      other's; the range is that of single runs.</p>
      <table><tr><th>figure</th><th>value</th><th>range</th><th>original</th><th>goal</th><th></th></tr>
      \(rows.joined(separator: "\n"))
      </table>
      """
  }

  private func section(_ suite: SuiteName) -> String {
    let own = results.filter { $0.suite == suite }
    let bars = BarPlot(ratios: own.flatMap(\.ratios), suite: suite).svg
    let curves = CostPlot.all(own).map(\.svg)
    let others = ratios.filter { ratio in
      ratio.goal == nil && ratio.name.hasPrefix(suite.rawValue + "/")
        && !own.contains { $0.ratios.contains { $0.name == ratio.name } }
    }
    return """
      <h2>\(suite.rawValue)</h2>
      \(bars)
      <div class="plots">\(curves.joined(separator: "\n"))</div>
      \(list(others))
      \(own.map(part).joined(separator: "\n"))
      """
  }

  private func list(_ ratios: [Comparison]) -> String {
    guard !ratios.isEmpty else { return "" }
    let rows = ratios.map {
      "<tr><td>\($0.title.escaped)</td><td>\($0.value.short) \($0.unit)</td></tr>"
    }
    return "<table>\(rows.joined(separator: "\n"))</table>"
  }

  private func part(_ result: WorkloadResult) -> String {
    var parameters = result.parameters.sorted { $0.key < $1.key }
      .map { "\($0.key) \($0.value.grouped)" }
    if let durability = result.durability { parameters.append("durability \(durability.name)") }
    return """
      <h3>\(result.suite.rawValue) \(result.workload)</h3>
      <p>\(result.operation.escaped) (\(parameters.joined(separator: ", ")))</p>
      \(table(result))
      \(LatencyPlot(result: result).svg)
      """
  }

  private func table(_ result: WorkloadResult) -> String {
    let titles = [
      "system", "ops/s", "p50", "p99", "p99.9", "max", "bytes written/op", "file size",
      "peak memory", "processor/op", "Pando : it",
    ]
    let rows = result.entries.map { entry in
      let latencies = entry.latencies
      let ratio = result.ratios.first { $0.name.hasSuffix(":" + entry.system.rawValue) }
      let cells = [
        entry.system.title, entry.operationsPerSecond.grouped,
        latencies.nanoseconds(atShare: 0.5).asTime, latencies.nanoseconds(atShare: 0.99).asTime,
        latencies.nanoseconds(atShare: 0.999).asTime, latencies.maximum.asTime,
        entry.writtenByteCountPerOperation?.grouped ?? "–", entry.fileByteCount?.asSize ?? "–",
        entry.peakMemoryByteCount?.asSize ?? "–",
        UInt64(entry.processorNanosecondsPerOperation).asTime, ratio?.value.short ?? "",
      ]
      return "<tr>" + cells.map { "<td>\($0.escaped)</td>" }.joined() + "</tr>"
    }
    let head = titles.map { "<th>\($0)</th>" }.joined()
    return "<table><tr>\(head)</tr>\n\(rows.joined(separator: "\n"))</table>"
  }
}

extension String {
  /// The text with the characters replaced that mean something in HTML.
  var escaped: String {
    replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
