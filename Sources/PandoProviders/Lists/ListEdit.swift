import PandoConsistency
import PandoModels

/// A change of a list that identifies elements, not positions.
///
/// Positions may change before the edit is carried out.
indirect enum ListEdit<T: SimpleModel>: Sendable {
  /// Replaces the whole list.
  case set(LiveList<T>)
  case insert(LiveList<T>, at: ListAnchor<T>)
  /// Replaces the model of an element.
  case update(ListElement<T>, T)
  case remove([ListElement<T>])
  case move(ListElement<T>, to: ListAnchor<T>)

  /// Finds an element in a list, near a position, except at some positions.
  typealias Search = (ListElement<T>, _ near: Int, _ others: Set<Int>) throws -> Int?

  /// The inserted or updated rows, in order.
  var rows: [LiveRow] {
    switch self {
    case .set(let list), .insert(let list, _): list.rows
    case .update(let element, _): [element.row]
    case .remove, .move: []
    }
  }

  /// The models of `rows`, in the same order.
  var models: [T] {
    switch self {
    case .set(let list), .insert(let list, _): list.models
    case .update(_, let model): [model]
    case .remove, .move: []
    }
  }

  /// True if the edit inserts behind all elements of any list.
  var isAppend: Bool {
    if case .insert(_, .end) = self { true } else { false }
  }

  /// Returns the edit for the elements at planned positions of a list.
  ///
  /// Several elements may share an identifier. The planned ones may therefore differ from those of the
  /// edit.
  func fitted(to plan: ListPlan, in list: LiveList<T>) -> ListEdit<T> {
    switch (self, plan) {
    case (.insert(let new, .between), .insert(let range)):
      .insert(new, at: ListAnchor(range.lowerBound, in: list))
    case (.update(_, let model), .update(let index)): .update(list.element(at: index), model)
    case (.remove, .remove(let ranges)): .remove(ranges.joined().map(list.element))
    case (.move, .move(let from, let to)):
      .move(list.element(at: from), to: ListAnchor(to, in: list, without: from))
    default: self
    }
  }

  /// Returns the positions that the edit changes in a live list.
  func plan(in rows: [LiveRow]) -> ListPlan {
    plan(count: rows.count) { element, place, _ in rows.place(of: element.row, near: place) }
  }

  /// Returns the positions that the edit changes in a list.
  ///
  /// - Parameters:
  ///   - count: The count of elements of the list.
  ///   - find: Finds the elements of the edit.
  /// - Returns: `nothing` if the edited elements are missing.
  func plan(count: Int, _ find: Search) rethrows -> ListPlan {
    switch self {
    case .set: return .set
    case .insert(let list, let anchor):
      let index = try anchor.resolve(count: count, find)
      return .insert(index..<(index + list.rows.count))
    case .update(let element, _):
      return try find(element, element.place, []).map { .update($0) } ?? .nothing
    case .remove(let elements):
      var places: Set<Int> = []
      for element in elements {
        if let place = try find(element, element.place, places) { places.insert(place) }
      }
      return places.isEmpty ? .nothing : .remove(places.joinedToRanges())
    case .move(let element, let anchor):
      guard let from = try find(element, element.place, []) else { return .nothing }
      return .move(from: from, to: try anchor.resolve(count: count, without: from, find))
    }
  }
}

extension [LiveRow] {
  /// Returns the position of a row.
  ///
  /// - Complexity: O(*d*) for a distance *d* to `place`.
  fileprivate func place(of row: LiveRow, near place: Int) -> Int? {
    var (low, high) = (Swift.min(Swift.max(place, 0), count) - 1, Swift.max(place, 0))
    while low >= 0 || high < count {
      if high < count, self[high] == row { return high }
      if low >= 0, self[low] == row { return low }
      (low, high) = (low - 1, high + 1)
    }
    return nil
  }
}

extension Collection<Int> {
  /// Sorts positions and joins adjacent ones to ranges.
  func joinedToRanges() -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    for place in sorted() {
      if let last = ranges.last, last.upperBound == place {
        ranges[ranges.count - 1] = last.lowerBound..<(place + 1)
      } else {
        ranges.append(place..<(place + 1))
      }
    }
    return ranges
  }
}
