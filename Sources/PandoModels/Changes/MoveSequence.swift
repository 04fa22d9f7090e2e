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
