import PandoSystem

/// The correspondence of elements between an old list and a new one.
///
/// Both lists are given without their common beginning and end, as classes: elements of one class
/// are the same.
struct ListMatching {
  /// The number of common elements at the beginning.
  let offset: Int
  /// Old positions by new ones, without the common beginning; -1 for new elements.
  private(set) var origins: [Int32]
  /// Deletions, moves and insertions, in this order; updates follow them.
  private(set) var changes: [CollectionChangeInformation] = []

  /// The most pairs per element that are searched: few elements occur more often, and for those
  /// that do, pairs in order are sufficient.
  private static let pairsPerElement = 8

  /// Matches two lists.
  ///
  /// As many elements as possible keep their positions (Hunt and Szymanski, *A fast algorithm for
  /// computing longest common subsequences*, 1977).
  ///
  /// - Parameters:
  ///   - old: Classes, all below `classCount`.
  ///   - new: Classes, all below `classCount`.
  ///   - classCount: The number of classes.
  ///   - offset: The number of common elements before these.
  /// - Complexity: O(*n* log *n*).
  init(old: [UInt32], new: [UInt32], classCount: Int, offset: Int) {
    self.offset = offset
    origins = Array(repeating: -1, count: new.count)
    var hasGone = Array(repeating: true, count: old.count)
    for (old, new) in Self.kept(old, new, classCount) {
      origins[new] = Int32(old)
      hasGone[old] = false
    }
    let movers = makeMovers(old, new, classCount, hasGone)
    for mover in movers { hasGone[mover.old] = false }
    for index in old.indices.reversed() where hasGone[index] {
      changes.append(.delete(index: offset + index))
    }
    addMoves(movers)
    for index in new.indices where origins[index] < 0 {
      changes.append(.insert(index: offset + index))
    }
  }

  /// Makes the matching of two lists of which one is empty apart from the common parts.
  init(deleted: Int, inserted: Int, offset: Int) {
    self.offset = offset
    origins = Array(repeating: -1, count: inserted)
    changes.reserveCapacity(deleted + inserted)
    for index in (0..<deleted).reversed() { changes.append(.delete(index: offset + index)) }
    for index in 0..<inserted { changes.append(.insert(index: offset + index)) }
  }

  /// Makes the matching of lists in which the first element moved to the end, or the last to the
  /// beginning.
  init(rotated count: Int, toTheEnd: Bool, offset: Int) {
    self.offset = offset
    let last = Int32(count - 1)
    origins = (0...last).map { toTheEnd ? ($0 == last ? 0 : $0 + 1) : ($0 == 0 ? last : $0 - 1) }
    let ends = (offset, offset + count - 1)
    changes = [toTheEnd ? .move(from: ends.0, to: ends.1) : .move(from: ends.1, to: ends.0)]
  }

  /// Whether the element at a new position was in the old list.
  func isOld(_ index: Int) -> Bool {
    let index = index - offset
    return !origins.indices.contains(index) || origins[index] >= 0
  }

  /// The old position of the element at a new position.
  ///
  /// - Parameters:
  ///   - index: A position in the new list.
  ///   - oldCount: The length of the old list.
  ///   - newCount: The length of the new list.
  /// - Returns: `nil` for a new element.
  func origin(of index: Int, oldCount: Int, newCount: Int) -> Int? {
    guard isOld(index) else { return nil }
    if index < offset { return index }
    let inside = index - offset
    return inside < origins.count ? offset + Int(origins[inside]) : index - newCount + oldCount
  }

  private static func kept(
    _ old: [UInt32], _ new: [UInt32], _ classCount: Int
  ) -> [(tag: Int, value: Int)] {
    let positions = ClassPositions(of: new, classCount: classCount)
    let pairCount = old.reduce(0) { $0 + positions.range(of: $1).count }
    // The tags are positions in the old list, the values are positions in the new one.
    var common = LongestIncreasingSubsequence()
    if pairCount <= pairsPerElement * (old.count + new.count) {
      for index in old.indices {
        for position in positions.range(of: old[index]).reversed() {
          common.append(positions.positions[position], tag: index)
        }
      }
    } else {
      var seen = Array(repeating: 0, count: classCount)
      for (index, number) in old.enumerated() {
        let candidates = positions.range(of: number)
        let rank = seen[Int(number)]
        guard rank < candidates.count else { continue }
        seen[Int(number)] += 1
        common.append(positions.positions[candidates.lowerBound + rank], tag: index)
      }
    }
    return common.reversedElements()
  }

  /// Finds elements that were removed once and inserted once, in old order.
  private mutating func makeMovers(
    _ old: [UInt32], _ new: [UInt32], _ classCount: Int, _ hasGone: [Bool]
  ) -> [ListMover] {
    var leaving = Array(repeating: 0, count: classCount)
    var arriving = Array(repeating: 0, count: classCount)
    var arrival = Array(repeating: 0, count: classCount)
    for index in old.indices where hasGone[index] { leaving[Int(old[index])] += 1 }
    for index in new.indices where origins[index] < 0 {
      arriving[Int(new[index])] += 1
      arrival[Int(new[index])] = index
    }
    var movers: [ListMover] = []
    var keptCount = 0
    for index in old.indices {
      let number = Int(old[index])
      if !hasGone[index] {
        keptCount += 1
      } else if leaving[number] == 1, arriving[number] == 1 {
        movers.append(ListMover(old: index, new: arrival[number], keptBeforeOld: keptCount))
      }
    }
    return movers
  }

  private mutating func addMoves(_ movers: [ListMover]) {
    guard !movers.isEmpty else { return }
    var sequence = MoveSequence(movers)
    var ranks: [Int: Int] = [:]
    for (rank, mover) in movers.enumerated() { ranks[mover.new] = rank }
    var keptCount = 0
    for index in origins.indices {
      if origins[index] >= 0 {
        keptCount += 1
      } else if let rank = ranks[index] {
        let (from, to) = sequence.place(rank, keptBeforeNew: keptCount)
        if from != to { changes.append(.move(from: offset + from, to: offset + to)) }
      }
    }
    for mover in movers { origins[mover.new] = Int32(mover.old) }
  }
}

/// The positions of each class in a list.
struct ClassPositions {
  private var starts: [Int]
  /// Positions, class by class, ascending in each.
  private(set) var positions: [Int32]

  /// Sorts the positions of a list by class.
  ///
  /// - Parameters:
  ///   - list: Classes, all below `classCount`.
  ///   - classCount: The number of classes.
  init(of list: [UInt32], classCount: Int) {
    starts = Array(repeating: 0, count: classCount + 1)
    positions = Array(repeating: 0, count: list.count)
    for number in list { starts[Int(number) + 1] += 1 }
    for number in 0..<classCount { starts[number + 1] += starts[number] }
    var next = starts
    for (index, number) in list.enumerated() {
      positions[next[Int(number)]] = Int32(index)
      next[Int(number)] += 1
    }
  }

  /// The range in ``positions`` of a class.
  func range(of number: UInt32) -> Range<Int> { starts[Int(number)]..<starts[Int(number) + 1] }
}
