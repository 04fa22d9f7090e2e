import PandoLMDB
import PandoModels

/// Which opening of the store has made which commits: the row `histories` of the `meta` table.
///
/// ```
/// offset 0       8        16
///        ┌───────┬─────────┬───────┬────────┬┄
///        │ first │ history │ first │ history│    the first commit of a history, and its mark; the oldest first
///        └───────┴─────────┴───────┴────────┴┄
/// ```
/// Integers are little endian. A history ends where the next one begins. Commits before the first one have none: the
/// store is older than the row.
struct Histories: Equatable {
  static let key = Array("histories".utf8)
  /// How many are kept. Beyond that the second oldest becomes part of the oldest, so its numbers are refused.
  static let countMaximum = 512

  private(set) var parts: [(first: UInt64, history: UInt64)] = []

  init() {}

  /// All commits belong to one history.
  init(all history: UInt64) { parts = [(1, history)] }

  init(_ bytes: Span<UInt8>) throws {
    guard bytes.count % 16 == 0 else {
      throw StoreError.damaged("histories", "the row is malformed")
    }
    for start in stride(from: 0, to: bytes.count, by: 16) {
      guard let first = ByteFields.littleEndian(bytes, at: start, width: 8),
        let history = ByteFields.littleEndian(bytes, at: start + 8, width: 8)
      else { throw StoreError.damaged("histories", "the row is malformed") }
      parts.append((first, history))
    }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for part in parts {
      ByteFields.append(part.first, width: 8, to: &bytes)
      ByteFields.append(part.history, width: 8, to: &bytes)
    }
    return bytes
  }

  static func == (left: Histories, right: Histories) -> Bool { left.bytes == right.bytes }

  /// The mark of the newest one; 0 if there is none.
  var newest: UInt64 { parts.last?.history ?? 0 }

  /// The number of a commit, with its history.
  func number(_ value: UInt64) -> CommitNumber {
    if value == 0 { return .zero }
    let part = parts.last { $0.first <= value }
    return CommitNumber(value: value, history: part?.history ?? 0)
  }

  /// Begins a history.
  mutating func begin(_ history: UInt64, at first: UInt64) {
    // A history whose commits are all gone has none.
    parts.removeAll { $0.first >= first }
    parts.append((first, history))
    if parts.count > Self.countMaximum { parts.remove(at: 1) }
  }

  /// A mark that no other history has.
  static func newMark() -> UInt64 { UInt64.random(in: 1...UInt64.max) }
}

extension StoreReader {
  /// The histories of the store.
  func histories() throws -> Histories {
    let key = Histories.key
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.meta) else {
      return Histories()
    }
    return try Histories(bytes)
  }

  /// The number of a commit, with its history.
  func number(_ value: UInt64) throws -> CommitNumber {
    try histories().number(value)
  }

  /// Finds the place of a commit that a caller knows.
  ///
  /// - Parameters:
  ///   - known: The commit.
  ///   - newest: The newest commit that is there.
  ///   - subject: Whom an error names; the commit if `nil`.
  /// - Returns: The number.
  /// - Throws: ``StoreError`` `changesExpired` for one of another history, or one that is yet to come.
  func place(of known: CommitNumber, newest: UInt64, for subject: String? = nil) throws -> UInt64 {
    func expired(_ reason: String) -> StoreError {
      StoreError(
        .changesExpired, subject ?? "commit \(known.value)",
        "\(reason); the store may have been restored from a backup: read the data afresh, and go on "
          + "behind the commit number of that snapshot")
    }
    if known.value > newest {
      throw expired("commit \(known.value) is not there, the newest is commit \(newest)")
    }
    if known.history != 0, known.value != 0 {
      let own = try histories().number(known.value)
      if own != known {
        throw expired("the store's commit \(known.value) is of another history than \(known)")
      }
    }
    return known.value
  }
}

extension WriteSession {
  /// The number of the next commit; the first one of this opening begins a history.
  ///
  /// Replicated stores have the histories of their log.
  func nextNumber() throws -> CommitNumber {
    let value = nextCommitNumber
    if let known = state.history { return CommitNumber(value: value, history: known) }
    let known = core.history
    // Others have written nothing since.
    if let known, known.last == countersAtStart?.commitNumber {
      state.history = known.mark
      return CommitNumber(value: value, history: known.mark)
    }
    var histories = try reading { try $0.histories() }
    if known == nil, !state.counters.isReplicated {
      histories.begin(Histories.newMark(), at: value)
      try put(histories)
    }
    state.history = histories.newest
    return CommitNumber(value: value, history: histories.newest)
  }

  /// Writes which histories there are.
  func put(_ histories: Histories) throws {
    let bytes = histories.bytes
    let key = Histories.key
    try put(bytes.span, forKey: key.span, in: tables.meta)
  }
}
