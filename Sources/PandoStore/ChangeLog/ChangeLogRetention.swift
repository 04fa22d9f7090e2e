/// How much of the change log is kept, by whoever writes: the row `change-log` of the `meta` table.
///
/// ```
/// offset 0         8              16          17
///        ┌─────────┬──────────────┬───────────┐
///        │ commits │ commits for  │ 1: with   │
///        │         │ cursors      │ records   │
///        └─────────┴──────────────┴───────────┘
/// ```
///
/// Integers are little endian. Each opening for writing raises what is less than it asks for. Where there
/// is no such row, ``standard`` counts.
struct ChangeLogRetention: Equatable {
  static let key = Array("change-log".utf8)
  private static let byteCount = 17

  /// How many of the newest commits are kept.
  var commitCount: UInt64
  /// How many are kept at most for a cursor that has not come further.
  var cursorCommitCount: UInt64
  /// Whether each commit is kept with the records that it has written.
  var keepsRecords: Bool

  /// What is kept where nobody has asked for anything.
  static let standard = ChangeLogRetention(
    commitCount: 10_000, cursorCommitCount: 100_000, keepsRecords: false)

  /// How many commits a replicated store keeps at least: entries are judged by them.
  static let replicatedCommitCount: UInt64 = 10_000

  init(commitCount: UInt64, cursorCommitCount: UInt64, keepsRecords: Bool) {
    self.commitCount = commitCount
    self.cursorCommitCount = cursorCommitCount
    self.keepsRecords = keepsRecords
  }

  init(_ bytes: Span<UInt8>) throws {
    guard bytes.count == Self.byteCount,
      let commitCount = ByteFields.littleEndian(bytes, at: 0, width: 8), commitCount >= 1,
      let cursorCommitCount = ByteFields.littleEndian(bytes, at: 8, width: 8), bytes[16] <= 1
    else {
      throw StoreError.damaged("change log", "the row that says how much is kept is malformed")
    }
    self.commitCount = commitCount
    self.cursorCommitCount = cursorCommitCount
    keepsRecords = bytes[16] == 1
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    ByteFields.append(commitCount, width: 8, to: &bytes)
    ByteFields.append(cursorCommitCount, width: 8, to: &bytes)
    bytes.append(keepsRecords ? 1 : 0)
    return bytes
  }

  /// The least that keeps what either of two asks for.
  func raised(to other: ChangeLogRetention) -> ChangeLogRetention {
    var raised = self
    raised.commitCount = max(commitCount, other.commitCount)
    raised.cursorCommitCount = max(cursorCommitCount, other.cursorCommitCount)
    raised.keepsRecords = keepsRecords || other.keepsRecords
    return raised
  }
}
