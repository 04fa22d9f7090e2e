import PandoSystem

/// A part of an old list, and the part of the new list in its place.
struct ListRegion: Equatable {
  let old: Range<Int>
  let new: Range<Int>
}

/// The correspondence of elements between an old list and a new one.
///
/// The lists differ in some regions only; between these they have the same elements, which keep their positions. The
/// elements of all regions are given as classes, one region after another: elements of one class are the same.
struct ListMatching {
  /// The regions in ascending order, each with the position of its first element among those of all regions.
  private let regions: [(region: ListRegion, old: Int, new: Int)]
  /// Old positions by new ones, both among the elements of all regions; -1 for new elements.
  private var origins: [Int32]
  /// Deletions, moves and insertions, in this order; updates follow them.
  private(set) var changes: [CollectionChangeInformation] = []

  /// The most pairs per element that are searched: few elements occur more often, and for those
  /// that do, pairs in order are sufficient.
  private static let pairsPerElement = 8

  /// Matches two lists.
  ///
  /// As many elements of a region as possible keep their positions (Hunt and Szymanski, *A fast algorithm for
  /// computing longest common subsequences*, 1977).
  ///
  /// - Parameters:
  ///   - regions: The regions, in ascending order.
  ///   - old: Their classes in the old list, all below `classCount`.
  ///   - new: Their classes in the new list, all below `classCount`.
  ///   - classCount: The number of classes.
  /// - Complexity: O(*n* log *n*) for *n* elements in regions.
  init(_ regions: [ListRegion], old: [UInt32], new: [UInt32], classCount: Int) {
    self.init(regions, newCount: new.count)
    var hasGone = Array(repeating: true, count: old.count)
    for (old, new) in kept(old, new, classCount) {
      origins[new] = Int32(old)
      hasGone[old] = false
    }
    let movers = makeMovers(old, new, classCount, hasGone)
    for mover in movers { hasGone[mover.old] = false }
    for (region, start, _) in self.regions.reversed() {
      for index in region.old.reversed() where hasGone[index - region.old.lowerBound + start] {
        changes.append(.delete(index: index))
      }
    }
    addMoves(movers)
    for (region, _, start) in self.regions {
      for index in region.new where origins[index - region.new.lowerBound + start] < 0 {
        changes.append(.insert(index: index))
      }
    }
  }

  /// Makes the matching of two lists of which one is empty apart from the common parts.
  init(deleted: Int, inserted: Int, offset: Int) {
    let region = ListRegion(
      old: offset..<(offset + deleted), new: offset..<(offset + inserted))
    self.init([region], newCount: inserted)
    changes.reserveCapacity(deleted + inserted)
    for index in region.old.reversed() { changes.append(.delete(index: index)) }
    for index in region.new { changes.append(.insert(index: index)) }
  }

  /// Makes the matching of lists in which the first element moved to the end, or the last to the
  /// beginning.
  init(rotated count: Int, toTheEnd: Bool, offset: Int) {
    let all = offset..<(offset + count)
    self.init([ListRegion(old: all, new: all)], newCount: count)
    let last = Int32(count - 1)
    origins = (0...last).map { toTheEnd ? ($0 == last ? 0 : $0 + 1) : ($0 == 0 ? last : $0 - 1) }
    let ends = (offset, offset + count - 1)
    changes = [toTheEnd ? .move(from: ends.0, to: ends.1) : .move(from: ends.1, to: ends.0)]
  }

  private init(_ regions: [ListRegion], newCount: Int) {
    var (old, new) = (0, 0)
    self.regions = regions.map { region in
      defer { (old, new) = (old + region.old.count, new + region.new.count) }
      return (region, old, new)
    }
    origins = Array(repeating: -1, count: newCount)
  }

  /// Whether the element at a new position was in the old list.
  func isOld(_ index: Int) -> Bool { origin(of: index) != nil }

  /// The old position of the element at a new position.
  ///
  /// - Returns: `nil` for a new element.
  /// - Complexity: O(log *r*) for *r* regions.
  func origin(of index: Int) -> Int? {
    let after = regions.partitioningIndex { $0.region.new.lowerBound > index }
    guard after > 0 else { return index }
    let (region, _, start) = regions[after - 1]
    if index >= region.new.upperBound {
      return index - region.new.upperBound + region.old.upperBound
    }
    let origin = Int(origins[index - region.new.lowerBound + start])
    return origin < 0 ? nil : oldPosition(origin)
  }

  /// The position in the old list of one among the elements of all regions.
  private func oldPosition(_ index: Int) -> Int {
    // Several regions may begin at one position; the last one that does has the element.
    let (region, start, _) = regions[regions.partitioningIndex { $0.old > index } - 1]
    return index - start + region.old.lowerBound
  }

  /// The pairs of elements that keep their positions: old and new, from the last to the first.
  private func kept(
    _ old: [UInt32], _ new: [UInt32], _ classCount: Int
  ) -> [(tag: Int, value: Int)] {
    let positions = ClassPositions(of: new, classCount: classCount)
    let pairCount = old.reduce(0) { $0 + positions.range(of: $1).count }
    let isFew = pairCount <= Self.pairsPerElement * (old.count + new.count)
    // The tags are positions in the old list, the values are positions in the new one.
    var common = LongestIncreasingSubsequence()
    var seen = isFew ? [] : Array(repeating: 0, count: classCount)
    for (region, oldStart, newStart) in regions {
      let here = Int32(newStart)..<Int32(newStart + region.new.count)
      for index in oldStart..<(oldStart + region.old.count) {
        let candidates = positions.range(of: old[index])
        if isFew {
          for position in candidates.reversed() where here.contains(positions.positions[position]) {
            common.append(positions.positions[position], tag: index)
          }
          continue
        }
        let rank = seen[Int(old[index])]
        guard rank < candidates.count else { continue }
        seen[Int(old[index])] += 1
        let position = positions.positions[candidates.lowerBound + rank]
        if here.contains(position) { common.append(position, tag: index) }
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
    for (region, start, _) in regions {
      let shared = region.old.lowerBound - start
      for index in start..<(start + region.old.count) {
        let number = Int(old[index])
        if !hasGone[index] {
          keptCount += 1
        } else if leaving[number] == 1, arriving[number] == 1 {
          movers.append(
            ListMover(old: index, new: arrival[number], keptBeforeOld: shared + keptCount))
        }
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
    for (region, _, start) in regions {
      let shared = region.new.lowerBound - start
      for index in start..<(start + region.new.count) {
        if origins[index] >= 0 {
          keptCount += 1
        } else if let rank = ranks[index] {
          let (from, to) = sequence.place(rank, keptBeforeNew: shared + keptCount)
          if from != to { changes.append(.move(from: from, to: to)) }
        }
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
