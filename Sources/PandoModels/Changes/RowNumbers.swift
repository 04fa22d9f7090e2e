/// Numbers the rows of a list from 0, in order, and then all others that are asked for.
struct RowNumbers {
  /// One entry a row number, from ``first`` on; `UInt32.max` where there is none.
  private var table: [UInt32] = []
  private let first: UInt32
  /// Used where a table would be too large.
  private var hashed: [UInt32: UInt32] = [:]
  private(set) var classCount: Int

  /// How large a table may be for each row: 32 bytes, about what an entry of a `Dictionary` needs.
  private static let entriesPerRow = 8

  /// Numbers the rows of a list.
  ///
  /// - Parameter rows: Each once.
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

  /// The number of a row, which was not asked for before; a new one if it is not in the list.
  mutating func classNumber(of row: UInt32) -> UInt32 {
    if row >= first, Int(row - first) < table.count, table[Int(row - first)] != .max {
      return table[Int(row - first)]
    }
    if !hashed.isEmpty, let number = hashed[row] { return number }
    defer { classCount += 1 }
    return UInt32(classCount)
  }
}
