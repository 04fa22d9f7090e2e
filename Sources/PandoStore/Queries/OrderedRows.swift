/// Rows of an index in the order that a query asks for.
final class OrderedRows {
  let index: StoredIndex
  let ranges: [IndexRange]
  /// What all rows of the ranges begin with: values of the fields before the order's first key.
  let pinned: [UInt8]
  /// How many fields those are.
  let pinnedCount: Int
  /// The keys of the query's order that are not the same for all rows, by their places.
  let keys: [Int]
  let isDescending: Bool
  /// Whether all rows match.
  let isExact: Bool
  /// Whether the order of the rows is the whole order of the query.
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

  /// Whether going through these passes fewer rows than going through others that are in order, too.
  func isBetter(than other: OrderedRows) -> Bool {
    if isExact != other.isExact { return isExact }
    if pinnedCount != other.pinnedCount { return pinnedCount > other.pinnedCount }
    return isComplete && !other.isComplete
  }
}
