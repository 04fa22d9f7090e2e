/// Differences of lists of row numbers; each number occurs at most once in a list.
package enum RowDifference {
  /// The difference of two lists.
  ///
  /// The changes are applied in order: deletions from high to low in old positions, moves,
  /// insertions from low to high in new positions. Last come the updates of old rows, in new
  /// positions from low to high. As many rows as possible keep their positions.
  ///
  /// - Parameters:
  ///   - old: The old rows.
  ///   - new: The new rows.
  ///   - updated: Rows with new contents, in any order; new or missing rows are ignored.
  /// - Returns: The changes that turn `old` into `new`.
  /// - Complexity: O(*n*), and O(*m* log *m*) for the *m* rows between the common beginning and end,
  ///   unless just one row was moved or all of one side are new.
  package static func changes(
    from old: [UInt32], to new: [UInt32], updated: [UInt32]
  ) -> [CollectionChangeInformation] {
    let matching = old.span.isIdentical(to: new.span) ? nil : match(old, new)
    var changes = matching?.changes ?? []
    for position in RowSet(updated).positions(in: new) where matching?.isOld(position) ?? true {
      changes.append(.update(index: position))
    }
    return changes
  }

  /// The effect of changed elements on a list: deletions and updates, from high to low.
  ///
  /// - Parameters:
  ///   - rows: The old rows.
  ///   - deleted: Deleted rows, in any order.
  ///   - updated: Rows with new contents, in any order.
  /// - Returns: The changes, in order.
  /// - Complexity: O(*n*).
  package static func changes(
    in rows: [UInt32], deleted: [UInt32], updated: [UInt32]
  ) -> [CollectionChangeInformation] {
    let touched = RowSet(updated + deleted)
    let deleted = RowSet(deleted)
    return touched.positions(in: rows).reversed().map { position in
      deleted.contains(rows[position]) ? .delete(index: position) : .update(index: position)
    }
  }

  private static func match(_ old: [UInt32], _ new: [UInt32]) -> ListMatching? {
    let ends = CommonEnds(old.count, new.count) { [old = old.span, new = new.span] in
      old[$0] == new[$1]
    }
    let before = old[ends.before..<(old.count - ends.after)]
    let after = new[ends.before..<(new.count - ends.after)]
    if before.isEmpty, after.isEmpty { return nil }
    if before.isEmpty || after.isEmpty {
      return ListMatching(deleted: before.count, inserted: after.count, offset: ends.before)
    }
    if before.count == after.count {
      if before.first == after.last, before.dropFirst().elementsEqual(after.dropLast()) {
        return ListMatching(rotated: before.count, toTheEnd: true, offset: ends.before)
      }
      if before.last == after.first, before.dropLast().elementsEqual(after.dropFirst()) {
        return ListMatching(rotated: before.count, toTheEnd: false, offset: ends.before)
      }
    }
    var numbers = RowNumbers(of: after)
    let oldClasses = before.map { numbers.classNumber(of: $0) }
    return ListMatching(
      [ends.between(old.count, new.count)], old: oldClasses, new: Array(0..<UInt32(after.count)),
      classCount: numbers.classCount)
  }
}

/// Assigns numbers to the rows of a list from 0, in order, and then to other rows on request.
struct RowNumbers {
  /// One entry per row number, from ``first`` on; `UInt32.max` for none.
  private var table: [UInt32] = []
  private let first: UInt32
  /// Used if a table would be too large.
  private var hashed: [UInt32: UInt32] = [:]
  private(set) var classCount: Int

  /// The largest table, per row: 32 bytes, about as much as an entry of a `Dictionary`.
  private static let entriesPerRow = 8

  /// Numbers the rows of a list.
  ///
  /// - Parameter rows: The rows, without duplicates.
  init(of rows: ArraySlice<UInt32>) {
    classCount = rows.count
    first = rows.min() ?? 0
    let entryCount = Int((rows.max() ?? 0) - first) + 1
    if entryCount <= rows.count * Self.entriesPerRow {
      table = Array(repeating: UInt32.max, count: entryCount)
      for (number, row) in rows.enumerated() { table[Int(row - first)] = UInt32(number) }
    } else {
      hashed.reserveCapacity(rows.count)
      for (number, row) in rows.enumerated() { hashed[row] = UInt32(number) }
    }
  }

  /// The number of a row at its first request; a new one if it is not in the list.
  mutating func classNumber(of row: UInt32) -> UInt32 {
    if row >= first, Int(row - first) < table.count, table[Int(row - first)] != .max {
      return table[Int(row - first)]
    }
    if !hashed.isEmpty, let number = hashed[row] { return number }
    defer { classCount += 1 }
    return UInt32(classCount)
  }
}

/// A set of row numbers with a fast lookup for every row of a list.
struct RowSet {
  private enum Form {
    case none
    case one(UInt32)
    /// One bit per number, from a first one on.
    case bits(first: UInt32, words: [UInt64])
    case hashed(Set<UInt32>)
  }

  private let form: Form

  /// The most bits per number: eight bytes, less than an entry of a `Set`.
  private static let bitsPerRow = 64
  /// The bits that even a small set may have: 8 KiB.
  private static let bitCountInAnyCase = 1 << 16

  /// Makes a set.
  ///
  /// - Parameter rows: Numbers, in any order.
  init(_ rows: [UInt32]) {
    guard let first = rows.min(), let last = rows.max() else {
      form = .none
      return
    }
    guard first < last else {
      form = .one(first)
      return
    }
    let bitCount = Int(last - first) + 1
    guard bitCount <= max(Self.bitCountInAnyCase, rows.count * Self.bitsPerRow) else {
      form = .hashed(Set(rows))
      return
    }
    var words = Array<UInt64>(repeating: 0, count: (bitCount + 63) / 64)
    for row in rows { words[Int(row - first) >> 6] |= 1 << UInt64((row - first) & 63) }
    form = .bits(first: first, words: words)
  }

  /// Whether a number is in the set.
  func contains(_ row: UInt32) -> Bool {
    switch form {
    case .none: return false
    case .one(let only): return row == only
    case .bits(let first, let words):
      guard row >= first else { return false }
      let bit = Int(row - first)
      return bit >> 6 < words.count && words[bit >> 6] & (1 << UInt64(bit & 63)) != 0
    case .hashed(let rows): return rows.contains(row)
    }
  }

  /// The positions of a list that have numbers of the set, in ascending order.
  func positions(in list: [UInt32]) -> [Int] {
    switch form {
    case .none: return []
    case .one(let only): return Self.positions(in: list) { $0 == only }
    case .bits, .hashed: return Self.positions(in: list) { contains($0) }
    }
  }

  @inline(__always)
  private static func positions(in list: [UInt32], where isWanted: (UInt32) -> Bool) -> [Int] {
    var positions: [Int] = []
    let span = list.span
    for index in span.indices where isWanted(span[index]) { positions.append(index) }
    return positions
  }
}
