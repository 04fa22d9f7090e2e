/// How much two lists have in common at their beginnings and ends.
struct CommonEnds {
  /// How many elements at the beginning.
  let before: Int
  /// How many elements at the end, none of which is counted in ``before``.
  let after: Int

  /// Compares two lists.
  ///
  /// - Parameters:
  ///   - oldCount: How long one is.
  ///   - newCount: How long the other is.
  ///   - isSame: Compares an element of one with an element of the other.
  @inline(__always)
  init(_ oldCount: Int, _ newCount: Int, isSame: (Int, Int) -> Bool) {
    let most = min(oldCount, newCount)
    var before = 0
    while before < most, isSame(before, before) { before += 1 }
    var after = 0
    while after < most - before, isSame(oldCount - 1 - after, newCount - 1 - after) { after += 1 }
    self.before = before
    self.after = after
  }
}
