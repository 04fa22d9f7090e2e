import PandoConsistency
import PandoModels

/// A change of a list that names the elements it is about, and not their places: those may have
/// changed when it is carried out.
indirect enum ListEdit<T: SimpleModel>: Sendable {
  /// The list is set as a whole.
  case set(LiveList<T>)
  /// Elements come in.
  case insert(LiveList<T>, at: ListAnchor)
  /// An element is replaced.
  case update(LiveRow, T)
  /// Elements go.
  case remove([LiveRow])
  /// An element goes elsewhere.
  case move(LiveRow, to: ListAnchor)

  /// The rows that come in or have new contents, in order.
  var rows: [LiveRow] {
    switch self {
    case .set(let list), .insert(let list, _): list.rows
    case .update(let row, _): [row]
    case .remove, .move: []
    }
  }

  /// The models that come with them.
  var models: [T] {
    switch self {
    case .set(let list), .insert(let list, _): list.models
    case .update(_, let model): [model]
    case .remove, .move: []
    }
  }

  /// Whether the contents of a row are what this edit says.
  func sets(_ row: LiveRow) -> Bool {
    switch self {
    case .set(let list), .insert(let list, _): list.rows.contains(row)
    case .update(let updated, _): updated == row
    case .remove, .move: false
    }
  }

  /// The same for the element that stands at the place where the edit was carried out: of several with
  /// one identifier that may be another one than was meant.
  func fitted(to plan: ListPlan, in rows: [LiveRow]) -> ListEdit<T> {
    guard case .update(_, let model) = self, case .update(let index) = plan else { return self }
    return .update(rows[index], model)
  }

  /// Works out the places in a list as it is now.
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

  /// The places of rows, joined to ranges.
  private static func ranges(of removed: [LiveRow], in rows: [LiveRow]) -> [Range<Int>] {
    var places: [Int] = []
    var expected = 0
    for row in removed {
      // As a rule they are neighbours.
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
  /// Sorts places and joins neighbours.
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
