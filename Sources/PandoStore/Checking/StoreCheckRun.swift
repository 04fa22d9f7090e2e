import PandoLMDB
import PandoModels

/// One run of a ``StoreCheck``: the report under way and what was met so far.
struct StoreCheckRun {
  /// Thrown when the report is full.
  private struct TooManyProblems: Error {}

  /// How many rows lie between two calls of the progress closure.
  private static let rowsPerReport = 10_000

  private(set) var report = VerificationReport()
  private let progress: ((VerificationProgress) -> Void)?
  /// Records met, by type number.
  var recordCounts: [UInt32: UInt64] = [:]

  init(progress: ((VerificationProgress) -> Void)?) { self.progress = progress }

  mutating func check(_ reader: borrowing StoreReader, path: String) throws {
    do {
      let stored = try reader.state(path: path)
      guard let state = reader.pending?.state.counters ?? stored else {
        return try note(path, "it has no state row")
      }
      report.commitNumber = state.commitNumber
      try checkNodes(reader, state)
      try checkIdentifiers(reader)
      try checkRecords(reader)
      try checkTypes(reader, state)
      try checkTypeBlocks(reader)
      try checkCollections(reader, state)
      try checkIndex(reader)
      try checkIndexes(reader)
      try checkChanges(reader, state)
      try checkCycles(reader)
    } catch is TooManyProblems {
      return
    }
  }

  /// Checks the indexes against records that are not checked themselves.
  mutating func checkIndexesAlone(_ reader: borrowing StoreReader) throws {
    do {
      try checkIndexes(reader)
    } catch is TooManyProblems {
      return
    }
  }

  mutating func note(_ subject: String, _ reason: String) throws {
    report.problems.append(VerificationReport.Problem(subject: subject, reason: reason))
    if report.problems.count >= VerificationReport.problemCountMaximum { throw TooManyProblems() }
  }

  /// Notes what a check threw about damaged rows, and goes on with the next row.
  mutating func noting(_ body: (inout StoreCheckRun) throws -> Void) throws {
    do {
      try body(&self)
    } catch let error as StoreError {
      try note(error.subject, error.reason)
    } catch let error as ModelError {
      try note(error.identifier ?? "a record", error.description)
    }
  }

  func tell(_ stage: VerificationProgress.Stage, _ completed: Int, of total: Int) {
    guard let progress, completed % Self.rowsPerReport == 0 || completed == total else { return }
    progress(VerificationProgress(stage: stage, completedCount: completed, totalCount: total))
  }

  mutating func count(_ body: (inout VerificationReport) -> Void) { body(&report) }
}
