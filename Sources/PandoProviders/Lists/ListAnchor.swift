import PandoConsistency

/// A position between two elements that stays meaningful when the list changes.
///
/// The anchor stands before the element that followed it, at the current position of that element.
/// If that element was removed, the anchor stands behind the element that preceded it. If both were
/// removed, it stands at its original index, or at the end of a shorter list.
enum ListAnchor: Sendable {
  /// Behind all elements of any list.
  case end
  /// Between two elements; `nil` at an end of the list.
  case between(LiveRow?, LiveRow?, index: Int)

  /// Makes an anchor before a position.
  ///
  /// - Parameters:
  ///   - index: 0 to the count of `rows`.
  ///   - rows: The list to which `index` belongs.
  ///   - hidden: The position in `rows` of an element that `index` does not count.
  init(_ index: Int, in rows: [LiveRow], without hidden: Int? = nil) {
    func row(_ index: Int) -> LiveRow? {
      let place = Hiding(hidden).actual(index)
      return rows.indices.contains(place) ? rows[place] : nil
    }
    self = .between(index > 0 ? row(index - 1) : nil, row(index), index: index)
  }

  /// Returns the anchor's position in the current list.
  ///
  /// - Parameters:
  ///   - rows: The current list.
  ///   - hidden: The position of an element that the result does not count.
  /// - Returns: 0 to the count of the counted elements.
  func resolve(in rows: [LiveRow], without hidden: Int? = nil) -> Int {
    let count = rows.count - (hidden == nil ? 0 : 1)
    let hiding = Hiding(hidden)
    switch self {
    case .end: return count
    case .between(let before, let after, let index):
      // The list is unchanged in most cases.
      let guess = hiding.actual(index)
      if let after, rows.indices.contains(guess), rows[guess] == after { return index }
      if let after, let place = rows.firstIndex(of: after) { return hiding.visible(place) }
      if let before, let place = rows.firstIndex(of: before) { return hiding.visible(place) + 1 }
      return min(index, count)
    }
  }
}
