/// How much of the change log writers keep: the row `change-log` of the `meta` table.
///
/// ```
/// offset 0         8              16          17
///        ┌─────────┬──────────────┬───────────┐
///        │ commits │ commits for  │ 1: with   │
///        │         │ cursors      │ records   │
///        └─────────┴──────────────┴───────────┘
/// ```
///
/// Integers are little-endian. Each opening for writing raises the values to its configuration's.
/// Without this row, ``standard`` applies.
struct ChangeLogRetention: Equatable {
  static let key = Array("change-log".utf8)

  /// How many of the newest commits are kept.
  var commitCount: UInt64
  /// The most commits kept for a cursor that is behind.
  var cursorCommitCount: UInt64
  /// Whether each commit is kept with its written records.
  var keepsRecords: Bool

  /// The default retention.
  static let standard = ChangeLogRetention(
    commitCount: 10_000, cursorCommitCount: 100_000, keepsRecords: false)

  /// The fewest commits that a replicated store keeps, to judge entries by.
  static let replicatedCommitCount: UInt64 = 10_000

  init(commitCount: UInt64, cursorCommitCount: UInt64, keepsRecords: Bool) {
    self.commitCount = commitCount
    self.cursorCommitCount = cursorCommitCount
    self.keepsRecords = keepsRecords
  }

  init(_ bytes: Span<UInt8>) throws {
    var row = RowReader(bytes, "change log", "the row that says how much is kept is malformed")
    (commitCount, cursorCommitCount) = (try row.number(), try row.number())
    let flag = try row.number(width: 1)
    keepsRecords = flag == 1
    try row.end()
    guard commitCount >= 1, flag <= 1 else { throw row.malformed }
  }

  var bytes: [UInt8] {
    [UInt8](littleEndian: commitCount, cursorCommitCount) + [keepsRecords ? 1 : 0]
  }

  /// The smallest retention that satisfies both.
  func raised(to other: ChangeLogRetention) -> ChangeLogRetention {
    var raised = self
    raised.commitCount = max(commitCount, other.commitCount)
    raised.cursorCommitCount = max(cursorCommitCount, other.cursorCommitCount)
    raised.keepsRecords = keepsRecords || other.keepsRecords
    return raised
  }
}
