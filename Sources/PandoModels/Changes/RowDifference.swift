/// Differences of lists whose rows have numbers; each number stands in a list at most once.
package enum RowDifference {
  /// The difference of two lists.
  ///
  /// Applied one after another: deletions from high to low in old positions, moves, insertions from
  /// low to high in new positions, and last the updates of rows that kept their places, in new
  /// positions from low to high. A move implies its update. As many rows as possible keep their places.
  ///
  /// - Parameters:
  ///   - old: The rows before.
  ///   - new: The rows now.
  ///   - updated: Rows whose contents are not what they were, in any order; those that are new, or not
  ///     in the list, don't matter.
  /// - Returns: What turns `old` into `new`.
  /// - Complexity: O(*n*), and O(*m* log *m*) for the *m* rows between the common beginning and end,
  ///   unless just one row was moved or all of one side are new.
  package static func changes(
    from old: [UInt32], to new: [UInt32], updated: [UInt32]
  ) -> [CollectionChangeInformation] {
    let matching = old.span.isIdentical(to: new.span) ? nil : match(old, new)
    var changes = matching?.changes ?? []
    for place in RowSet(updated).places(in: new) where matching?.isKept(place) ?? true {
      changes.append(.update(index: place))
    }
    return changes
  }

  /// What a change of elements elsewhere did to a list: deletions and updates, from high to low.
  ///
  /// - Parameters:
  ///   - rows: The rows before.
  ///   - deleted: Rows that have gone, in any order.
  ///   - updated: Rows whose contents are not what they were, in any order.
  /// - Returns: The changes, in an order in which they can be applied one after another.
  /// - Complexity: O(*n*).
  package static func changes(
    in rows: [UInt32], deleted: [UInt32], updated: [UInt32]
  ) -> [CollectionChangeInformation] {
    let touched = RowSet(updated + deleted)
    let deleted = RowSet(deleted)
    return touched.places(in: rows).reversed().map { place in
      deleted.contains(rows[place]) ? .delete(index: place) : .update(index: place)
    }
  }

  private static func match(_ old: [UInt32], _ new: [UInt32]) -> ListMatching? {
    let ends = CommonEnds(old.count, new.count) { [old = old.span, new = new.span] in
      old[$0] == new[$1]
    }
    let before = old[ends.before..<(old.count - ends.after)]
    let after = new[ends.before..<(new.count - ends.after)]
    if before.isEmpty, after.isEmpty { return nil }
    if before.isEmpty || after.isEmpty {
      return ListMatching(deleted: before.count, inserted: after.count, offset: ends.before)
    }
    if before.count == after.count {
      if before.first == after.last, before.dropFirst().elementsEqual(after.dropLast()) {
        return ListMatching(rotated: before.count, toTheEnd: true, offset: ends.before)
      }
      if before.last == after.first, before.dropLast().elementsEqual(after.dropFirst()) {
        return ListMatching(rotated: before.count, toTheEnd: false, offset: ends.before)
      }
    }
    var numbers = RowNumbers(of: after)
    let oldClasses = before.map { numbers.classNumber(of: $0) }
    return ListMatching(
      old: oldClasses, new: Array(0..<UInt32(after.count)), classCount: numbers.classCount,
      offset: ends.before)
  }
}
