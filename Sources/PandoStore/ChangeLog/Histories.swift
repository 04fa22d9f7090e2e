import PandoModels
import PandoRecords

/// The histories of the store's commits, one per opening: the row `histories` of the `meta` table.
///
/// ```
/// offset 0       8        16
///        ┌───────┬─────────┬───────┬────────┬┄
///        │ first │ history │ first │ history│    the first commit of a history, and its mark; the oldest first
///        └───────┴─────────┴───────┴────────┴┄
/// ```
/// Integers are little-endian. A history ends where the next one begins. Commits before the first
/// one belong to none: the store is older than the row.
struct Histories: Equatable {
  static let key = Array("histories".utf8)
  /// The most histories kept.
  ///
  /// Beyond that, the second and the third become one with a mark of its own, so the numbers of both
  /// are refused. The oldest stays: a restore can have dropped commits that had its mark.
  static let countMaximum = 512

  private(set) var parts: [(first: UInt64, history: UInt64)] = []

  init() {}

  private init(parts: [(first: UInt64, history: UInt64)]) { self.parts = parts }

  /// Makes one history of all commits.
  init(all history: UInt64) { parts = [(1, history)] }

  init(_ bytes: Span<UInt8>) throws {
    var row = RowReader(bytes, "histories")
    while row.restByteCount > 0 { parts.append((try row.number(), try row.number())) }
  }

  var bytes: [UInt8] { parts.flatMap { [UInt8](littleEndian: $0.first, $0.history) } }

  static func == (left: Histories, right: Histories) -> Bool { left.bytes == right.bytes }

  /// The mark of the newest history; 0 if there is none.
  var newest: UInt64 { parts.last?.history ?? 0 }

  /// The number of a commit, with its history.
  func number(_ value: UInt64) -> CommitNumber {
    if value == 0 { return .zero }
    let part = parts.last { $0.first <= value }
    return CommitNumber(value: value, history: part?.history ?? 0)
  }

  /// Begins a history.
  mutating func begin(_ history: UInt64, at first: UInt64) {
    // A history without remaining commits is removed.
    parts.removeAll { $0.first >= first }
    parts.append((first, history))
    guard parts.count > Self.countMaximum else { return }
    let joined = Histories(parts: [parts[1], parts.remove(at: 2)]).bytes
    // The same in every copy of the store that has the same commits.
    parts[1].history = max(XXHash64.hash(joined.span), 1)
  }

  /// Gives all commits up to one the mark of a store that lost others to them.
  mutating func replace(by own: OwnHistory) {
    parts = [(1, own.mark)] + parts.filter { $0.first > own.last }
  }

  /// A random mark for a new history.
  static func newMark() -> UInt64 { UInt64.random(in: 1...UInt64.max) }
}

/// The history of the commits that came with a copy in the place of a store's own: the row `own-history` of the `meta`
/// table.
///
/// ```
/// offset 0      8      16
///        ┌──────┬──────┐
///        │ mark │ last │   little endian
///        └──────┴──────┘
/// ```
/// Replicas share the histories of their log, so a number of a lost commit is also the number of another one. This store
/// alone gives its commits up to `last` a mark of its own, and so refuses all numbers from before.
struct OwnHistory {
  static let key = Array("own-history".utf8)

  let mark: UInt64
  /// The newest commit of the copy.
  let last: UInt64

  init(mark: UInt64, last: UInt64) { (self.mark, self.last) = (mark, last) }

  init(_ bytes: Span<UInt8>) throws {
    var row = RowReader(bytes, "own-history")
    (mark, last) = (try row.number(), try row.number())
    try row.end()
  }

  var bytes: [UInt8] { [UInt8](littleEndian: mark, last) }
}
