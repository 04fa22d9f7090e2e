import PandoConsistency
import PandoModels

/// An element of the list that a caller saw when it made an edit.
///
/// A live list finds it by its row number. A stored list finds it by its identifier, or by equality
/// if it has none, nearest to its former position.
struct ListElement<T: SimpleModel>: Sendable {
  let row: LiveRow
  let place: Int
  let model: T
}

/// A position between two elements, which can be found again after the list has changed.
///
/// It is the position before the element that followed it. If that element was removed, it is the
/// position behind the element that preceded it. If both were removed, it is the original index, or
/// the end of a shorter list.
enum ListAnchor<T: SimpleModel>: Sendable {
  /// Behind all elements of any list.
  case end
  /// Between two elements; `nil` at an end of the list.
  case between(ListElement<T>?, ListElement<T>?, index: Int)

  /// Makes an anchor before a position.
  ///
  /// - Parameters:
  ///   - index: 0 to the count of `list`.
  ///   - list: The list to which `index` belongs.
  ///   - hidden: The position in `list` of an element that `index` does not count.
  init(_ index: Int, in list: LiveList<T>, without hidden: Int? = nil) {
    func element(_ index: Int) -> ListElement<T>? {
      let place = Hiding(hidden).actual(index)
      return list.rows.indices.contains(place) ? list.element(at: place) : nil
    }
    self = .between(index > 0 ? element(index - 1) : nil, element(index), index: index)
  }

  /// Returns the anchor's position in another list.
  ///
  /// - Parameters:
  ///   - count: The count of elements of the list.
  ///   - hidden: The position of an element that the result does not count.
  ///   - find: Finds the elements of the anchor.
  /// - Returns: 0 to the count of the counted elements.
  func resolve(
    count: Int, without hidden: Int? = nil, _ find: ListEdit<T>.Search
  ) rethrows -> Int {
    let hiding = Hiding(hidden)
    let others = Set(hidden.map { [$0] } ?? [])
    let count = count - others.count
    guard case .between(let before, let after, let index) = self else { return count }
    if let after, let place = try find(after, hiding.actual(index), others) {
      return hiding.visible(place)
    }
    if let before, let place = try find(before, hiding.actual(index - 1), others) {
      return hiding.visible(place) + 1
    }
    return min(index, count)
  }
}
