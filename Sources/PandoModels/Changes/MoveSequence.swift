import PandoSystem

/// An element that moves from one position of a list to another.
struct ListMover {
  /// Its old position.
  let old: Int
  /// Its new position.
  let new: Int
  /// The number of elements before its old position that keep theirs.
  let keptBeforeOld: Int
}

/// Computes positions for moves that are applied in the order of the new list.
///
/// Elements that keep their positions divide the list into gaps. A placed mover is in the gap after
/// its predecessors in the new list. There it follows those that were placed earlier, and precedes
/// all that have not moved yet.
struct MoveSequence {
  private let movers: [ListMover]
  private var waiting: PrefixCounter
  /// The gaps of the placed movers, in ascending order.
  private var placedGaps: [Int] = []

  /// Begins the sequence.
  ///
  /// - Parameter movers: All movers, in old order.
  init(_ movers: [ListMover]) {
    self.movers = movers
    waiting = PrefixCounter(count: movers.count)
  }

  /// Moves the next element of the new list.
  ///
  /// - Parameters:
  ///   - rank: The index of the mover.
  ///   - keptBeforeNew: The number of elements before its new position that keep theirs.
  /// - Returns: Its position, and the new one without counting it.
  mutating func place(_ rank: Int, keptBeforeNew: Int) -> (from: Int, to: Int) {
    let gap = movers[rank].keptBeforeOld
    let from = gap + waiting.count(before: rank) + placedGaps.partitioningIndex { $0 > gap }
    waiting.remove(rank)
    let ahead = movers.partitioningIndex { $0.keptBeforeOld >= keptBeforeNew }
    let to = keptBeforeNew + waiting.count(before: ahead) + placedGaps.count
    placedGaps.append(keptBeforeNew)
    return (from, to)
  }
}

/// A sequence of flags with a fast count before an index (Fenwick, *A new data structure for
/// cumulative frequency tables*, 1994).
struct PrefixCounter {
  /// Entry *i* counts the flags of the last indexes up to *i*, as many as its lowest set bit.
  private var sums: [Int]

  /// Makes a sequence with all flags set.
  init(count: Int) { sums = (0...count).map { $0 & -$0 } }

  /// The number of set flags before an index.
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

  /// Clears a set flag.
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
