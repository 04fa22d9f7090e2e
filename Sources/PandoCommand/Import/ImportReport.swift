import PandoModels

/// What an import did, for people and for programs.
struct ImportReport {
  /// Figures that grow while the import runs.
  struct Counts {
    var treeCount = 0
    var lineCount = 0
    var skippedLineCount = 0
    var commitCount = 0
    var insertedCount = 0
    var updatedCount = 0
    var duration = Duration.zero
  }

  /// How many nodes of a type the store holds now.
  struct Total {
    let typeName: String
    let count: Int
  }

  /// Names of data left out that the text shows; `--json` has them all.
  private static let shownNameCount = 8

  let source: String
  let counts: Counts
  let findings: SplitFindings
  let totals: [Total]
  let collection: String?

  /// The report as text.
  var lines: [String] {
    var table = TextTable([.left, .right, .left])
    let (seconds, commits) = (counts.duration, Figures.count(counts.commitCount, "commit"))
    table.row(
      "imported", Figures.count(counts.treeCount),
      "\(counts.treeCount == 1 ? "tree" : "trees") from \(source), \(commits), "
        + "\(Figures.duration(seconds)), \(Figures.rate(counts.treeCount, in: seconds))")
    if counts.lineCount > 0 { table.row("read", Figures.count(counts.lineCount), "lines") }
    if counts.skippedLineCount > 0 {
      table.row("skipped", Figures.count(counts.skippedLineCount), "bad lines")
    }
    table.row(
      "nodes", Figures.count(findings.occurrenceCount),
      "met: \(Figures.count(counts.insertedCount)) inserted, "
        + "\(Figures.count(counts.updatedCount)) updated")
    for total in totals {
      table.row(total.typeName, Figures.count(total.count), "in the store now")
    }
    table.row(
      "differing", Figures.count(findings.differingCount),
      "identifiers met with differing content"
        + (findings.differingCount > 0
          ? " (the last one counts)" : ""))
    if let collection {
      table.row("appended", Figures.count(counts.treeCount), "elements to \(collection)")
    }
    table.row("left out", Figures.count(findings.leftOutCount), leftOutText)
    return table.lines
  }

  private var leftOutText: String {
    guard findings.leftOutCount > 0 else { return "values outside every node" }
    let names = findings.leftOut.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { name, count in count == 1 ? name : "\(name) (\(Figures.count(count)))" }
    var text = names.prefix(ImportReport.shownNameCount).joined(separator: ", ")
    if names.count > ImportReport.shownNameCount || findings.unnamedLeftOutCount > 0 {
      text += ", …"
    }
    let noun = findings.leftOutCount == 1 ? "value" : "values"
    return "\(noun) outside every node: \(text)"
  }

  /// The report as a value for `--json`.
  var treeValue: TreeValue {
    var types: [String: TreeValue] = [:]
    for total in totals { types[total.typeName] = .integer(Int64(total.count)) }
    return [
      "source": .string(source),
      "trees": .integer(Int64(counts.treeCount)),
      "lines": .integer(Int64(counts.lineCount)),
      "skippedLines": .integer(Int64(counts.skippedLineCount)),
      "commits": .integer(Int64(counts.commitCount)),
      "nodesMet": .integer(Int64(findings.occurrenceCount)),
      "inserted": .integer(Int64(counts.insertedCount)),
      "updated": .integer(Int64(counts.updatedCount)),
      "differing": .integer(Int64(findings.differingCount)),
      "stored": .object(types),
      "collection": collection.map { .string($0) } ?? .null,
      "leftOutCount": .integer(Int64(findings.leftOutCount)),
      "leftOut": .object(findings.leftOut.mapValues { .integer(Int64($0)) }),
      "seconds": .double(counts.duration / .seconds(1)),
    ]
  }
}
