extension CollectionChange {
  /// Compares two lists of models.
  ///
  /// An element is the same in both if its identifier is, byte by byte; without identifier, if it is
  /// equal. As many elements as possible keep their places. The changes, applied one after another,
  /// turn `old` into `new` (``Swift/Array/applying(_:contents:)``). They come in this order:
  ///
  /// 1. deletions from high to low, in positions of the old list;
  /// 2. moves, one for each element that left once and came in once;
  /// 3. insertions from low to high, in positions of the new list;
  /// 4. updates of elements that kept their places and are not equal to what they were, from low to
  ///    high, in positions of the new list.
  ///
  /// A moved element is not named as updated; it may be. Models without identifier whose type is not
  /// `Hashable` have to be compared one with another: beyond a million such comparisons they count as
  /// new ones, and the changes are more than need be.
  ///
  /// - Parameters:
  ///   - old: The list before.
  ///   - new: The list now.
  /// - Returns: Never ``reset``; no changes if the lists are equal.
  /// - Complexity: O(*n*), and O(*m* log *m*) for the *m* elements between the common beginning and
  ///   end of the lists.
  public static func difference<Element: SimpleModel>(
    from old: [Element], to new: [Element]
  ) -> CollectionChange {
    let ends = CommonEnds(old.count, new.count) {
      ModelClasses<Element>.isSame(old[$0], new[$1])
    }
    let before = old[ends.before..<(old.count - ends.after)]
    let after = new[ends.before..<(new.count - ends.after)]
    var classes = ModelClasses<Element>()
    let oldClasses = classes.numbers(of: before)
    let newClasses = classes.numbers(of: after)
    let matching = ListMatching(
      old: oldClasses, new: newClasses, classCount: classes.count, offset: ends.before)
    var changes = matching.changes
    for (index, model) in new.enumerated() {
      guard let origin = matching.origin(of: index, oldCount: old.count, newCount: new.count),
        !model.isEqual(to: old[origin])
      else { continue }
      changes.append(.update(index: index))
    }
    return .changes(changes)
  }
}
