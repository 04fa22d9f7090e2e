/// An element that leaves its place in a list and comes in at another.
struct ListMover {
  /// Where it was in the old list.
  let old: Int
  /// Where it is in the new list.
  let new: Int
  /// How many elements before its old place keep theirs.
  let keptBeforeOld: Int
}

/// Works out positions for moves that are applied one after another, in the order of the new list.
///
/// Elements that keep their places divide the list into gaps. A mover that has been placed stands in
/// the gap behind the elements that come before it in the new list, after those that were placed
/// there earlier and before all that still wait there to be moved.
struct MoveSequence {
  private let movers: [ListMover]
  private var waiting: PrefixCounter
  /// The gaps of those that have been placed, in ascending order.
  private var placedGaps: [Int] = []

  /// Begins.
  ///
  /// - Parameter movers: All that will be placed, in the order of the old list.
  init(_ movers: [ListMover]) {
    self.movers = movers
    waiting = PrefixCounter(count: movers.count)
  }

  /// Moves the next element of the new list.
  ///
  /// - Parameters:
  ///   - rank: Which of the movers.
  ///   - keptBeforeNew: How many elements before its new place keep theirs.
  /// - Returns: Its position, and the new one counted without it.
  mutating func place(_ rank: Int, keptBeforeNew: Int) -> (from: Int, to: Int) {
    let gap = movers[rank].keptBeforeOld
    let from = gap + waiting.count(before: rank) + placedGaps.partitionIndex { $0 > gap }
    waiting.remove(rank)
    let ahead = movers.partitionIndex { $0.keptBeforeOld >= keptBeforeNew }
    let to = keptBeforeNew + waiting.count(before: ahead) + placedGaps.count
    placedGaps.append(keptBeforeNew)
    return (from, to)
  }
}

extension Array {
  /// The first index from which on all elements belong to the second part of a divided list.
  fileprivate func partitionIndex(_ isInSecondPart: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isInSecondPart(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// A sequence of flags that tells how many are set before an index (Fenwick, *A new data structure for
/// cumulative frequency tables*, 1994).
struct PrefixCounter {
  /// Entry *i* counts the flags of as many indexes up to *i* as its lowest set bit says.
  private var sums: [Int]

  /// Makes a sequence with all flags set.
  init(count: Int) { sums = (0...count).map { $0 & -$0 } }

  /// How many flags are set before an index.
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

  /// Clears a flag that is set.
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
