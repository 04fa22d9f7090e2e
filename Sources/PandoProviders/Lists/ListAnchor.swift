import PandoConsistency

/// A place between two elements, as somebody saw it.
///
/// It is before the element that followed, wherever that is now; if it has gone, behind the one that
/// preceded; if both have gone, at the same position or the end.
enum ListAnchor: Sendable {
  /// Behind all elements, whatever they are.
  case end
  /// Between two elements; `nil` where there was none.
  case between(LiveRow?, LiveRow?, index: Int)

  /// The place before a position.
  ///
  /// - Parameters:
  ///   - index: 0 to the count of `rows`.
  ///   - rows: The list as it was seen.
  ///   - hidden: The position in `rows` of an element that does not count; nor does it in `index`.
  init(_ index: Int, in rows: [LiveRow], without hidden: Int? = nil) {
    func row(_ index: Int) -> LiveRow? {
      let place = Hiding(hidden).actual(index)
      return rows.indices.contains(place) ? rows[place] : nil
    }
    self = .between(index > 0 ? row(index - 1) : nil, row(index), index: index)
  }

  /// The position in a list as it is now.
  ///
  /// - Parameters:
  ///   - rows: The list.
  ///   - hidden: The position of an element that does not count; nor does it in the result.
  /// - Returns: 0 to the count of the elements that count.
  func resolve(in rows: [LiveRow], without hidden: Int? = nil) -> Int {
    let count = rows.count - (hidden == nil ? 0 : 1)
    let hiding = Hiding(hidden)
    switch self {
    case .end: return count
    case .between(let before, let after, let index):
      // Most often nothing has happened.
      let guess = hiding.actual(index)
      if let after, rows.indices.contains(guess), rows[guess] == after { return index }
      if let after, let place = rows.firstIndex(of: after) { return hiding.visible(place) }
      if let before, let place = rows.firstIndex(of: before) { return hiding.visible(place) + 1 }
      return min(index, count)
    }
  }
}
