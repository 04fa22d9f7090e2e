import PandoConsistency
import PandoModels

/// A change of a list that identifies elements by row number, not by position.
///
/// Positions may change before the edit is carried out; row numbers do not.
indirect enum ListEdit<T: SimpleModel>: Sendable {
  /// Replaces the whole list.
  case set(LiveList<T>)
  case insert(LiveList<T>, at: ListAnchor)
  /// Replaces the model of an element.
  case update(LiveRow, T)
  case remove([LiveRow])
  case move(LiveRow, to: ListAnchor)

  /// The inserted or updated rows, in order.
  var rows: [LiveRow] {
    switch self {
    case .set(let list), .insert(let list, _): list.rows
    case .update(let row, _): [row]
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

  /// Returns true if the edit inserts a row or replaces its model.
  func sets(_ row: LiveRow) -> Bool {
    switch self {
    case .set(let list), .insert(let list, _): list.rows.contains(row)
    case .update(let updated, _): updated == row
    case .remove, .move: false
    }
  }

  /// Returns the edit for the row at the planned position.
  ///
  /// Several elements may share an identifier, so that row may differ from the one in the edit.
  func fitted(to plan: ListPlan, in rows: [LiveRow]) -> ListEdit<T> {
    guard case .update(_, let model) = self, case .update(let index) = plan else { return self }
    return .update(rows[index], model)
  }

  /// Returns the positions that the edit changes in the current list.
  func plan(in rows: [LiveRow]) -> ListPlan {
    switch self {
    case .set: return .set
    case .insert(let list, let anchor):
      let index = anchor.resolve(in: rows)
      return .insert(index..<(index + list.rows.count))
    case .update(let row, _):
      return rows.firstIndex(of: row).map { .update($0) } ?? .nothing
    case .remove(let removed):
      let ranges = Self.ranges(of: removed, in: rows)
      return ranges.isEmpty ? .nothing : .remove(ranges)
    case .move(let row, let anchor):
      guard let from = rows.firstIndex(of: row) else { return .nothing }
      return .move(from: from, to: anchor.resolve(in: rows, without: from))
    }
  }

  /// Returns the positions of rows as ranges.
  private static func ranges(of removed: [LiveRow], in rows: [LiveRow]) -> [Range<Int>] {
    var places: [Int] = []
    var expected = 0
    for row in removed {
      // Removed rows are neighbours in most cases.
      if expected < rows.count, rows[expected] == row {
        places.append(expected)
      } else if let place = rows.firstIndex(of: row) {
        places.append(place)
        expected = place
      } else {
        continue
      }
      expected += 1
    }
    return places.joinedToRanges()
  }
}

extension [Int] {
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
