extension Array {
  /// Applies the changes of a list to this one, whose elements stand for those of that list.
  ///
  /// What stands in the same place on both sides stays together, so this list may hold anything that
  /// is made from the elements of the other: only what is new or changed is made again.
  ///
  /// *Precondition:* the positions exist when their change is applied.
  ///
  /// - Parameters:
  ///   - changes: What happened, one after another.
  ///   - contents: Returns what stands for the element at an index of the list *after* all changes;
  ///     called once, in ascending order, for each element that came in, moved or was updated.
  /// - Complexity: O(*n* + *c*) for a list of *n* elements and *c* changes in the order in which
  ///   ``CollectionChange/difference(from:to:)`` gives them, O(*c*) if all are updates; up to O(*n*)
  ///   a change in any other order.
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
  ///   - changes: What happened, one after another.
  ///   - contents: Returns what stands for the element at an index of the list *after* all changes;
  ///     called once, in ascending order, for each element that came in, moved or was updated.
  /// - Returns: The changed list.
  public func applying(
    _ changes: [CollectionChangeInformation], contents: (_ index: Int) -> Element
  ) -> [Element] {
    var result = self
    result.apply(changes, contents: contents)
    return result
  }

  /// Returns this list with a change of another list applied, whatever it is.
  ///
  /// - Parameters:
  ///   - change: What happened. After ``CollectionChange/reset`` everything is made again.
  ///   - newList: The other list after the change.
  ///   - contents: Returns what stands for an element.
  /// - Returns: The changed list.
  public func applying<Source>(
    _ change: CollectionChange, from newList: [Source], contents: (Source) -> Element
  ) -> [Element] {
    switch change {
    case .reset: newList.map(contents)
    case .changes(let changes): applying(changes) { contents(newList[$0]) }
    }
  }

  /// The indexes of changes that are all updates, ascending, each once; `nil` if one is not.
  private static func updatedIndexes(_ changes: [CollectionChangeInformation]) -> [Int]? {
    var indexes: [Int] = []
    for change in changes {
      guard case .update(let index) = change else { return nil }
      indexes.append(index)
    }
    guard zip(indexes, indexes.dropFirst()).allSatisfy({ $0 < $1 }) else {
      return Set(indexes).sorted()
    }
    return indexes
  }
}

extension CollectionChangeInformation {
  fileprivate var isInsertion: Bool {
    if case .insert = self { return true }
    return false
  }
}
