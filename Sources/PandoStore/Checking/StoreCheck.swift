import PandoLMDB
import PandoModels

/// Checks that the rows of a store fit together: every record decodes, every checksum holds, records
/// and dependency index agree in both directions, no node contains itself, collections are whole,
/// counts are right.
///
/// Reads one snapshot through the map; walk the pages first where the file may be damaged.
struct StoreCheck {
  /// Thrown when the report is full.
  private struct TooManyProblems: Error {}

  /// How many rows lie between two calls of the progress closure.
  private static let rowsPerReport = 10_000

  private(set) var report = VerificationReport()
  private let progress: ((VerificationProgress) throws -> Void)?
  /// Records met, by type number.
  var recordCounts: [UInt32: UInt64] = [:]

  init(progress: ((VerificationProgress) throws -> Void)?) { self.progress = progress }

  /// Checks everything that a reader sees.
  static func report(
    on reader: borrowing StoreReader, path: String,
    progress: ((VerificationProgress) throws -> Void)? = nil
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
    _ stage: VerificationProgress.Stage, _ completed: Int, of total: Int
  ) throws {
    guard let progress, completed % Self.rowsPerReport == 0 || completed == total else { return }
    try progress(VerificationProgress(stage: stage, completedCount: completed, totalCount: total))
  }

  mutating func count(_ body: (inout VerificationReport) -> Void) { body(&report) }
}

extension StoreReader {
  /// Stops the process when the rows do not fit together; for tests and the `InternalChecks` trait.
  func checkInvariants() throws {
    let problems = try StoreCheck.report(on: self, path: "the store").problems
    precondition(
      problems.isEmpty,
      "broken invariants: \(problems.map(\.description).joined(separator: "; "))")
  }
}

/// What a verification found.
///
/// ```swift
/// let report = try ModelStore.verify(path: "data")
/// print(report.isClean ? "\(report.nodeCount) nodes are sound" : "\(report.problems)")
/// ```
public struct VerificationReport: Sendable, Hashable {
  /// Something that is not as it must be.
  ///
  /// ```swift
  /// for problem in report.problems {
  ///   print(problem.subject, "–", problem.reason)
  /// }
  /// ```
  public struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// What it is about: a page, a table, an identifier, a collection.
    public let subject: String
    /// What is wrong with it.
    public let reason: String

    /// Both in one line.
    public var description: String { "\(subject): \(reason)" }
  }

  /// The most problems that a report lists; a check goes no further.
  ///
  /// Damage comes in heaps, and nobody reads the thousandth line.
  public static var problemCountMaximum: Int { 100 }

  /// The problems found, at most ``problemCountMaximum``; empty if the store is sound.
  public internal(set) var problems: [Problem] = []
  /// The commit that was checked.
  public internal(set) var commitNumber = CommitNumber.zero
  /// Pages of the file that were walked.
  public internal(set) var pageCount = 0
  /// Nodes that were checked.
  public internal(set) var nodeCount = 0
  /// Records that were checked.
  public internal(set) var recordCount = 0
  /// Edges that were found on both sides: in a record or collection, and in the dependency index.
  public internal(set) var edgeCount = 0
  /// Collections that were checked.
  public internal(set) var collectionCount = 0
  /// Elements of collections that were checked.
  public internal(set) var elementCount = 0

  /// Whether nothing was found.
  public var isClean: Bool { problems.isEmpty }
}

/// How far a verification has come.
///
/// ```swift
/// let report = try store.verify { progress in
///   print(progress.stage, progress.completedCount, "of", progress.totalCount)
/// }
/// ```
public struct VerificationProgress: Sendable {
  /// What is being checked.
  public enum Stage: String, Sendable {
    /// The pages of the file.
    case pages
    /// Nodes and their records.
    case records
    /// The dependency index.
    case edges
    /// Collections and their elements.
    case collections
  }

  /// What is being checked.
  public let stage: Stage
  /// How many rows or pages of this stage are done.
  public let completedCount: Int
  /// How many there are.
  public let totalCount: Int
}

extension StoreCheck {
  /// Walks every page of the newest version of a file, read without the memory map.
  static func pages(
    ofStoreAt path: String, _ progress: ((VerificationProgress) throws -> Void)? = nil
  ) throws -> VerificationReport {
    try pages(PageWalker(path: path), .newest, progress)
  }

  /// Walks every page of a version of a file, read without the memory map.
  static func pages(
    _ walker: PageWalker, _ version: PageWalker.Version,
    _ progress: ((VerificationProgress) throws -> Void)?
  ) throws -> VerificationReport {
    let pages = try walker.check(
      version, problemLimit: VerificationReport.problemCountMaximum
    ) { seen, total in
      try progress?(VerificationProgress(stage: .pages, completedCount: seen, totalCount: total))
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
