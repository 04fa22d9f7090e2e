/// A list while changes are applied to it: for each place, where its element comes from.
///
/// The places lie around a gap that goes where the next change is, so changes that ascend or descend
/// cost no more than the length of the list together.
struct ChangedList {
  /// Positions in the list before; -1 for elements that come from the list after.
  private var origins: [Int]
  private var gap: Range<Int>

  /// Begins with a list as it is.
  ///
  /// - Parameters:
  ///   - count: How long the list is.
  ///   - insertions: How many insertions will come.
  init(count: Int, insertions: Int) {
    origins = Array(0..<count)
    origins.append(contentsOf: repeatElement(-1, count: insertions))
    gap = count..<(count + insertions)
  }

  /// How long the list is now.
  var count: Int { origins.count - gap.count }

  /// Applies one change.
  ///
  /// *Precondition:* its positions exist.
  mutating func apply(_ change: CollectionChangeInformation) {
    switch change {
    case .update(let index):
      precondition((0..<count).contains(index), "\(change) of a list with \(count) elements")
      origins[place(of: index)] = -1
    case .delete(let index):
      precondition((0..<count).contains(index), "\(change) of a list with \(count) elements")
      remove(at: index)
    case .insert(let index):
      precondition((0...count).contains(index), "\(change) into a list with \(count) elements")
      insert(at: index)
    case .move(let from, let to):
      precondition(
        (0..<count).contains(from) && (0..<count).contains(to),
        "\(change) in a list with \(count) elements")
      remove(at: from)
      insert(at: to)
    }
  }

  /// Calls a closure for each run of places, in order, with their positions in the list before; `nil`
  /// for one place whose element comes from the list after.
  func forEachRun(_ visit: (Range<Int>?) -> Void) {
    var run = 0..<0
    for part in [origins[..<gap.lowerBound], origins[gap.upperBound...]] {
      for origin in part {
        if origin == run.upperBound, !run.isEmpty {
          run = run.lowerBound..<(origin + 1)
          continue
        }
        if !run.isEmpty { visit(run) }
        run = origin < 0 ? 0..<0 : origin..<(origin + 1)
        if origin < 0 { visit(nil) }
      }
    }
    if !run.isEmpty { visit(run) }
  }

  private func place(of index: Int) -> Int {
    index < gap.lowerBound ? index : index + gap.count
  }

  private mutating func remove(at index: Int) {
    // The gap next to the element is enough: it takes it in from either side.
    if index < gap.lowerBound {
      moveGap(to: index + 1)
      gap = index..<gap.upperBound
    } else {
      moveGap(to: index)
      gap = gap.lowerBound..<(gap.upperBound + 1)
    }
  }

  private mutating func insert(at index: Int) {
    moveGap(to: index)
    origins[index] = -1
    gap = (index + 1)..<gap.upperBound
  }

  private mutating func moveGap(to index: Int) {
    let length = gap.count
    if index < gap.lowerBound {
      for place in (index..<gap.lowerBound).reversed() { origins[place + length] = origins[place] }
    } else {
      for place in gap.lowerBound..<index { origins[place] = origins[place + length] }
    }
    gap = index..<(index + length)
  }
}
