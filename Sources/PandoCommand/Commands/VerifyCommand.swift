import PandoModels
import PandoStore

/// `pando verify`: checks every byte that counts.
enum VerifyCommand: Command {
  static let declaration = CommandDeclaration(
    name: "verify",
    summary: "check every page, record, edge and collection of a store",
    positionals: [.store],
    options: [.json],
    notes: [
      """
      The pages are walked first, with plain reads of the file; only then the store is opened and \
      its contents are checked. Problems are printed one a line, and the exit status is then 4. \
      Nothing is repaired.
      """
    ],
    examples: [.init("pando verify tweets", "clean, or what is damaged")])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let path = arguments[0]
    try StoreAccess.requireStore(at: path)
    SignalLine.prepare(for: "pando verify", path: path)
    let report = try verify(path)
    if arguments.has("--json") {
      try output.line(value(report).json(isPretty: true))
    } else {
      for problem in report.problems {
        try output.line("\(problem)".escapingControlCharacters)
      }
      if report.isClean { try output.line(summary(report)) }
    }
    guard report.isClean else {
      let count = report.problems.count
      let isCutOff = count >= VerificationReport.problemCountMaximum
      throw CommandError(
        .failure, at: path,
        "the store is damaged: \(isCutOff ? "at least " : "")\(Figures.count(count, "problem"))",
        remedy: "restore a copy, or load a dump into a new store")
    }
  }

  private static func verify(_ path: String) throws -> VerificationReport {
    var bars: [VerificationProgress.Stage: ProgressBar] = [:]
    defer { for bar in bars.values { bar.clear() } }
    do {
      return try ModelStore.verify(path: path) { progress in
        let bar =
          bars[progress.stage]
          ?? ProgressBar(
            "checking", counting: progress.stage.rawValue, of: progress.totalCount)
        if bars.updateValue(bar, forKey: progress.stage) == nil {
          for (stage, earlier) in bars where stage != progress.stage { earlier.clear() }
        }
        bar.advance(to: progress.completedCount)
      }
    } catch {
      throw CommandError(wrapping: error, store: path)
    }
  }

  private static func summary(_ report: VerificationReport) -> String {
    let parts = [
      Figures.count(report.pageCount, "page"), Figures.count(report.nodeCount, "node"),
      Figures.count(report.recordCount, "record"), Figures.count(report.edgeCount, "edge"),
      Figures.count(report.collectionCount, "collection"),
      Figures.count(report.elementCount, "element"),
    ]
    return "clean: commit \(report.commitNumber), " + parts.joined(separator: ", ")
  }

  private static func value(_ report: VerificationReport) -> TreeValue {
    [
      "clean": .bool(report.isClean),
      "problems": .array(
        report.problems.map { ["subject": .string($0.subject), "reason": .string($0.reason)] }),
      "commit": TreeValue(exactly: report.commitNumber) ?? .null,
      "pages": .integer(Int64(report.pageCount)),
      "nodes": .integer(Int64(report.nodeCount)),
      "records": .integer(Int64(report.recordCount)),
      "edges": .integer(Int64(report.edgeCount)),
      "collections": .integer(Int64(report.collectionCount)),
      "elements": .integer(Int64(report.elementCount)),
    ]
  }
}
