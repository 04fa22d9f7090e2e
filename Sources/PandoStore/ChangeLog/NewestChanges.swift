import PandoModels

/// The newest change sets of the log, in a row of `meta` beside the counters: small commits change
/// only their page, and share one write to `changes`.
///
/// ```
/// offset 0        8      12
///        ┌────────┬──────┬─────────┬──────┬─────────┬┄
///        │ commit │ n    │ n bytes │ n    │ n bytes │    change sets of this commit and of those behind it
///        └────────┴──────┴─────────┴──────┴─────────┴┄
/// ```
/// Integers are little-endian.
struct NewestChanges {
  static let key = Array("state-changes".utf8)
  /// Above this size they move to the table: a row of half a page would get its own page.
  static let byteCountMaximum = 1400
  private static let headByteCount = 8

  private(set) var bytes: [UInt8] = []
  /// The number of the first change set.
  private(set) var first: UInt64 = 0
  /// The number after the last one.
  private(set) var next: UInt64 = 0
  /// The start of the last change set in ``bytes``.
  private var lastStart = 0
  /// Whether it differs from the stored row.
  private(set) var isChanged = false
  /// Whether the row exists.
  let isStored: Bool

  private var isEmpty: Bool { first == next }
  var isLong: Bool { bytes.count > Self.byteCountMaximum }

  /// Makes the empty row of a new store.
  init() { isStored = false }

  /// Reads the row.
  ///
  /// - Throws: ``StoreError`` `damaged` for other bytes.
  init(_ row: Span<UInt8>) throws {
    isStored = true
    guard let number = row.littleEndian(at: 0) else {
      throw Self.isDamaged
    }
    (first, next) = (number, number)
    var place = Self.headByteCount
    while place < row.count {
      guard let count = row.littleEndian(at: place, width: 4),
        row.count - place - 4 >= Int(count)
      else { throw Self.isDamaged }
      lastStart = place + 4
      place += 4 + Int(count)
      next += 1
    }
    bytes = Array(copying: row)
  }

  private static var isDamaged: StoreError {
    .damaged("change log", "the row of the newest change sets is malformed")
  }

  /// Whether the change set of a commit can be appended.
  func follows(_ number: UInt64) -> Bool { isEmpty || number == next }

  /// The number of first bytes of a change set that contain its date and author.
  private static let markByteCount = 64

  /// Whether both have the same last commit, by number, date and author.
  func hasLastCommit(of other: NewestChanges) -> Bool {
    guard next == other.next, bytes.count == other.bytes.count, lastStart == other.lastStart else {
      return false
    }
    let range = lastStart..<min(lastStart + Self.markByteCount, bytes.count)
    return range.allSatisfy { bytes[$0] == other.bytes[$0] }
  }

  /// Appends the change set of the next commit.
  ///
  /// - Parameters:
  ///   - number: Its number; it follows the last one, if any.
  ///   - changeSet: Its bytes.
  mutating func append(_ number: UInt64, _ changeSet: [UInt8]) {
    precondition(follows(number), "commits are logged in order")
    if isEmpty { (bytes, first) = ([UInt8](littleEndian: number), number) }
    lastStart = bytes.count + 4
    bytes.append(counted: changeSet, width: 4)
    next = number + 1
    isChanged = true
  }

  /// The ranges of the change sets in ``bytes``, that of ``first`` first.
  var ranges: [Range<Int>] {
    var ranges: [Range<Int>] = []
    var place = Self.headByteCount
    while let count = bytes.span.littleEndian(at: place, width: 4) {
      ranges.append(place + 4..<place + 4 + Int(count))
      place += 4 + Int(count)
    }
    return ranges
  }
}
