/// A row of marks that tells how many are set before a place (Fenwick, *A new data structure for
/// cumulative frequency tables*, 1994).
struct PrefixCounter {
  /// Entry *i* counts the marks of as many places up to *i* as its lowest set bit says.
  private var sums: [Int]

  /// Makes a row with all marks set.
  init(count: Int) { sums = (0...count).map { $0 & -$0 } }

  /// How many marks are set before a place.
  ///
  /// - Complexity: O(log *n*).
  func count(before index: Int) -> Int {
    var sum = 0
    var index = index
    while index > 0 {
      sum += sums[index]
      index &= index - 1
    }
    return sum
  }

  /// Takes away the mark of a place, which has one.
  ///
  /// - Complexity: O(log *n*).
  mutating func remove(_ index: Int) {
    var index = index + 1
    while index < sums.count {
      sums[index] -= 1
      index += index & -index
    }
  }
}
