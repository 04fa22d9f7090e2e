import PandoLMDB
import PandoModels

/// Checks that the rows of a store are consistent: every record decodes, every checksum is right,
/// records and dependency index agree, no node contains itself, collections are complete, counts
/// are right.
///
/// It reads one snapshot through the map. Walk the pages first if the file may be damaged.
struct StoreCheck {
  /// Thrown when the report is full.
  private struct TooManyProblems: Error {}

  /// How many rows are checked between two calls of the progress closure.
  private static let rowsPerReport = 10_000

  private(set) var report = VerificationReport()
  private let progress: ((StoreProgress) throws -> Void)?
  /// The number of checked records, by type number.
  var recordCounts: [UInt32: UInt64] = [:]

  init(progress: ((StoreProgress) throws -> Void)?) { self.progress = progress }

  /// Checks everything that a reader can read.
  static func report(
    on reader: borrowing StoreReader, path: String,
    progress: ((StoreProgress) throws -> Void)? = nil
  ) throws -> VerificationReport {
    var check = StoreCheck(progress: progress)
    try check.check(reader, path: path)
    return check.report
  }

  private mutating func check(_ reader: borrowing StoreReader, path: String) throws {
    do {
      guard let state = try reader.state(path: path) else {
        return try note(path, "it has no state row")
      }
      report.commitNumber = try reader.number(state.commitNumber)
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

  /// Checks the indexes without checking the records.
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

  /// Notes an error about damaged rows, and continues with the next row.
  mutating func noting(_ body: (inout StoreCheck) throws -> Void) throws {
    do {
      try body(&self)
    } catch let error as StoreError {
      try note(error.subject, error.reason)
    } catch let error as ModelError {
      try note(error.identifier ?? "a record", error.description)
    }
  }

  func reportProgress(
    _ stage: StoreProgress.Stage, _ completed: Int, of total: Int
  ) throws {
    guard let progress, completed % Self.rowsPerReport == 0 || completed == total else { return }
    try progress(StoreProgress(stage, completed, of: total))
  }

  mutating func count(_ body: (inout VerificationReport) -> Void) { body(&report) }
}

extension StoreReader {
  /// Stops the process if the rows are inconsistent; for tests and ``InternalChecks``.
  func checkInvariants() throws {
    let problems = try StoreCheck.report(on: self, path: "the store").problems
    precondition(
      problems.isEmpty,
      "broken invariants: \(problems.map(\.description).joined(separator: "; "))")
  }
}

/// The result of a verification.
///
/// ```swift
/// let report = try ModelStore.verify(path: "data")
/// print(report.isClean ? "\(report.nodeCount) nodes are sound" : "\(report.problems)")
/// ```
public struct VerificationReport: Sendable, Hashable, Codable {
  /// A defect of a store.
  ///
  /// ```swift
  /// for problem in report.problems {
  ///   print(problem.subject, "–", problem.reason)
  /// }
  /// ```
  public struct Problem: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The defective item: a page, a table, an identifier or a collection.
    public let subject: String
    /// The defect.
    public let reason: String

    /// Both in one line.
    public var description: String { "\(subject): \(reason)" }
  }

  /// The most problems in a report; the check ends there.
  ///
  /// A damaged file often has thousands of problems of one kind.
  public static var problemCountMaximum: Int { 100 }

  /// The problems found, at most ``problemCountMaximum``; empty if the store is sound.
  public internal(set) var problems: [Problem] = []
  /// The checked commit.
  public internal(set) var commitNumber = CommitNumber.zero
  /// The number of checked pages.
  public internal(set) var pageCount = 0
  /// The number of checked nodes.
  public internal(set) var nodeCount = 0
  /// The number of checked records.
  public internal(set) var recordCount = 0
  /// The number of edges found both in a record or collection and in the dependency index.
  public internal(set) var edgeCount = 0
  /// The number of checked collections.
  public internal(set) var collectionCount = 0
  /// The number of checked elements of collections.
  public internal(set) var elementCount = 0

  /// Whether the check found no problem.
  public var isClean: Bool { problems.isEmpty }
}

extension StoreCheck {
  /// Walks every page of the newest version of a file, without the memory map.
  static func pages(
    ofStoreAt path: String, _ progress: ((StoreProgress) throws -> Void)? = nil
  ) throws -> VerificationReport {
    try pages(PageWalker(path: path), .newest, progress)
  }

  /// Walks every page of a version of a file, without the memory map.
  static func pages(
    _ walker: PageWalker, _ version: PageWalker.Version,
    _ progress: ((StoreProgress) throws -> Void)?
  ) throws -> VerificationReport {
    let pages = try walker.check(
      version, problemLimit: VerificationReport.problemCountMaximum
    ) { seen, total in
      try progress?(StoreProgress(.pages, seen, of: total))
    }
    var report = VerificationReport()
    report.pageCount = Int(clamping: pages.lastPage) + 1
    report.problems = pages.problems.map { problem in
      VerificationReport.Problem(
        subject: problem.pageNumber.map { "page \($0)" } ?? "the file", reason: problem.message)
    }
    return report
  }
}
