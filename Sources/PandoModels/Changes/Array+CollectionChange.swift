import PandoSystem

extension Array {
  /// Applies the changes of a list to this one, whose elements correspond to those of that list.
  ///
  /// Corresponding positions stay together, so this list may contain anything derived from the
  /// elements of the other. Only new or changed elements are made again.
  ///
  /// *Precondition:* the positions exist when their change is applied.
  ///
  /// - Parameters:
  ///   - changes: The changes, in order.
  ///   - contents: Returns the element for an index of the list *after* all changes; called once,
  ///     in ascending order, for each inserted, moved or updated element.
  /// - Complexity: O(*n* + *c*) for a list of *n* elements and *c* changes in the order of
  ///   ``CollectionChange/difference(from:to:)``, O(*c*) if all are updates; up to O(*n*) per
  ///   change in another order.
  public mutating func apply(
    _ changes: [CollectionChangeInformation], contents: (_ index: Int) -> Element
  ) {
    if let indexes = Self.updatedIndexes(changes) {
      for index in indexes {
        precondition(
          indices.contains(index), "update(index: \(index)) of a list with \(count) elements")
        self[index] = contents(index)
      }
      return
    }
    var list = ChangedList(count: count, insertions: changes.count(where: \.isInsertion))
    for change in changes { list.apply(change) }
    var result: [Element] = []
    result.reserveCapacity(list.count)
    list.forEachRun { run in
      if let run {
        result.append(contentsOf: self[run])
      } else {
        result.append(contents(result.count))
      }
    }
    self = result
  }

  /// Returns this list with the changes of another list applied.
  ///
  /// The same as ``apply(_:contents:)`` on a copy.
  ///
  /// - Parameters:
  ///   - changes: The changes, in order.
  ///   - contents: Returns the element for an index of the list *after* all changes; called once,
  ///     in ascending order, for each inserted, moved or updated element.
  /// - Returns: The changed list.
  public func applying(
    _ changes: [CollectionChangeInformation], contents: (_ index: Int) -> Element
  ) -> [Element] {
    var result = self
    result.apply(changes, contents: contents)
    return result
  }

  /// Returns this list with any change of another list applied.
  ///
  /// - Parameters:
  ///   - change: The change. ``CollectionChange/reset`` makes all elements again.
  ///   - newList: The other list after the change.
  ///   - contents: Returns the element for one of the other list.
  /// - Returns: The changed list.
  public func applying<Source>(
    _ change: CollectionChange, from newList: [Source], contents: (Source) -> Element
  ) -> [Element] {
    switch change {
    case .reset: newList.map(contents)
    case .changes(let changes): applying(changes) { contents(newList[$0]) }
    }
  }

  /// The indexes of changes that are all updates, ascending, without duplicates; `nil` if one is
  /// not.
  fileprivate static func updatedIndexes(_ changes: [CollectionChangeInformation]) -> [Int]? {
    var indexes: [Int] = []
    for change in changes {
      guard case .update(let index) = change else { return nil }
      indexes.append(index)
    }
    guard zip(indexes, indexes.dropFirst()).allSatisfy({ $0 < $1 }) else {
      return Set(indexes).ordered()
    }
    return indexes
  }
}

extension [CollectionChangeInformation] {
  /// The indexes for which ``Array/apply(_:contents:)`` calls `contents`, in ascending order.
  ///
  /// - Parameter count: The length of the list after the changes.
  /// - Returns: The indexes.
  /// - Complexity: O(1) for one change, else O(*n*) for a list of *n* elements.
  package func places(in count: Int) -> [Int] {
    if self.count == 1 {
      switch self[0] {
      case .update(let index), .insert(let index), .move(_, let index): return [index]
      case .delete: return []
      }
    }
    if let indexes = Array<Void>.updatedIndexes(self) { return indexes }
    var list = ChangedList(
      count: count - deltaNumberOfElements(), insertions: self.count(where: \.isInsertion))
    for change in self { list.apply(change) }
    var (places, place) = ([Int](), 0)
    list.forEachRun { run in
      if run == nil { places.append(place) }
      place += run?.count ?? 1
    }
    return places
  }
}

extension CollectionChangeInformation {
  fileprivate var isInsertion: Bool {
    if case .insert = self { return true }
    return false
  }
}

/// A list while changes are applied to it: the origin of each element.
///
/// The elements surround a gap at the next change's position, so ascending or descending changes
/// together cost no more than the list's length.
struct ChangedList {
  /// Positions in the old list; -1 for elements of the new list.
  private var origins: [Int]
  private var gap: Range<Int>

  /// Begins with the old list.
  ///
  /// - Parameters:
  ///   - count: The length of the list.
  ///   - insertions: The number of later insertions.
  init(count: Int, insertions: Int) {
    origins = Array(0..<count)
    origins.append(contentsOf: repeatElement(-1, count: insertions))
    gap = count..<(count + insertions)
  }

  /// The present length of the list.
  var count: Int { origins.count - gap.count }

  /// Applies one change.
  ///
  /// *Precondition:* its positions exist.
  mutating func apply(_ change: CollectionChangeInformation) {
    switch change {
    case .update(let index):
      precondition((0..<count).contains(index), "\(change) of a list with \(count) elements")
      origins[position(of: index)] = -1
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

  /// Calls a closure for each run of elements, in order, with their old positions; `nil` for an
  /// element of the new list.
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

  private func position(of index: Int) -> Int {
    index < gap.lowerBound ? index : index + gap.count
  }

  private mutating func remove(at index: Int) {
    // Any position of the gap next to the element is sufficient.
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
      for position in (index..<gap.lowerBound).reversed() {
        origins[position + length] = origins[position]
      }
    } else {
      for position in gap.lowerBound..<index { origins[position] = origins[position + length] }
    }
    gap = index..<(index + length)
  }
}
