/// Numbers the rows of a list from 0, in order, and then all others that are asked for.
struct RowNumbers {
  private enum Form {
    /// One entry a row number, from a first one on.
    case table(first: UInt32, classes: [UInt32])
    case hashed([UInt32: UInt32])
  }

  private let form: Form
  private(set) var classCount: Int

  /// How large a table may be for each row: 32 bytes, about what an entry of a `Dictionary` needs.
  private static let entriesPerRow = 8

  /// Numbers the rows of a list.
  ///
  /// - Parameter rows: Each once.
  init(of rows: ArraySlice<UInt32>) {
    classCount = rows.count
    let first = rows.min() ?? 0
    let entryCount = Int((rows.max() ?? 0) - first) + 1
    if entryCount <= rows.count * Self.entriesPerRow {
      var classes = Array(repeating: UInt32.max, count: entryCount)
      for (number, row) in rows.enumerated() { classes[Int(row - first)] = UInt32(number) }
      form = .table(first: first, classes: classes)
    } else {
      var classes = Dictionary<UInt32, UInt32>(minimumCapacity: rows.count)
      for (number, row) in rows.enumerated() { classes[row] = UInt32(number) }
      form = .hashed(classes)
    }
  }

  /// The number of a row, which was not asked for before; a new one if it is not in the list.
  mutating func classNumber(of row: UInt32) -> UInt32 {
    switch form {
    case .table(let first, let classes):
      if row >= first, Int(row - first) < classes.count, classes[Int(row - first)] != .max {
        return classes[Int(row - first)]
      }
    case .hashed(let classes): if let number = classes[row] { return number }
    }
    defer { classCount += 1 }
    return UInt32(classCount)
  }
}
