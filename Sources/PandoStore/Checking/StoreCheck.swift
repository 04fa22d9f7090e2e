import PandoLMDB
import PandoModels

/// Checks that the rows of a store fit together: every record decodes, every checksum holds, records
/// and dependency index agree in both directions, no node contains itself, collections are whole,
/// counts are right.
///
/// Reads one snapshot through the map; walk the pages first where the file may be damaged.
struct StoreCheck {
  private let core: StoreCore

  init(_ core: StoreCore) { self.core = core }

  func run(
    _ reader: borrowing StoreReader, progress: ((VerificationProgress) -> Void)?
  ) throws -> VerificationReport {
    var run = StoreCheckRun(progress: progress)
    try run.check(reader, path: core.path)
    return run.report
  }
}

extension StoreReader {
  /// Stops the process when the rows do not fit together; for tests and the `InternalChecks` trait.
  func checkInvariants() throws {
    var run = StoreCheckRun(progress: nil)
    try run.check(self, path: "the store")
    precondition(
      run.report.problems.isEmpty,
      "broken invariants: \(run.report.problems.map(\.description).joined(separator: "; "))")
  }
}
