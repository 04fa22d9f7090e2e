/// Rows of an index that have the values of fields; all properties are constant.
final class CoveringRows {
  let index: StoredIndex
  let ranges: [IndexRange]
  /// The place of each field among those of the index.
  let positions: [Int]

  init(_ index: StoredIndex, _ ranges: [IndexRange], _ positions: [Int]) {
    self.index = index
    self.ranges = ranges
    self.positions = positions
  }
}

/// Rows of an index in the order of a query; all properties are constant.
final class OrderedRows {
  let index: StoredIndex
  let ranges: [IndexRange]
  /// The common prefix of the ranges: values of the fields before the order's first key.
  let pinned: [UInt8]
  /// The number of these fields.
  let pinnedCount: Int
  /// The positions of those keys of the order that differ between the rows.
  let keys: [Int]
  let isDescending: Bool
  /// Whether all rows match.
  let isExact: Bool
  /// Whether the row order is the complete order of the query.
  let isComplete: Bool

  init(
    _ index: StoredIndex, _ use: IndexUse, keys: [Int], isDescending: Bool, isComplete: Bool
  ) {
    self.index = index
    ranges = use.ranges
    pinned = use.pinned
    pinnedCount = use.pinnedCount
    isExact = use.isExact
    self.keys = keys
    self.isDescending = isDescending
    self.isComplete = isComplete
  }

  /// Whether these rows pass fewer others than another ordered set of rows.
  func isBetter(than other: OrderedRows) -> Bool {
    if isExact != other.isExact { return isExact }
    if pinnedCount != other.pinnedCount { return pinnedCount > other.pinnedCount }
    return isComplete && !other.isComplete
  }
}
