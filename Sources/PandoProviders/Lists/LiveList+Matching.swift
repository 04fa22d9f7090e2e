import PandoConsistency
import PandoModels

extension LiveList {
  /// Returns row numbers for the elements of a list that replaces this one.
  ///
  /// An element of this list keeps its row number. An element with an identifier gets the first
  /// unused row of that identifier. An element without one keeps its row only within an unchanged
  /// beginning or end.
  ///
  /// - Complexity: O(*n*).
  func rows(for new: [T], takeRows: (Int) -> [LiveRow]) -> [LiveRow] {
    if rows.isEmpty { return takeRows(new.count) }
    let shorter = min(rows.count, new.count)
    var before = 0
    while before < shorter, Self.isSame(models[before], new[before]) { before += 1 }
    var after = 0
    while after < shorter - before,
      Self.isSame(models[rows.count - 1 - after], new[new.count - 1 - after])
    { after += 1 }
    let middle = matched(
      before..<(rows.count - after), new[before..<(new.count - after)], takeRows: takeRows)
    return rows[..<before] + middle + rows[(rows.count - after)...]
  }

  /// Returns the rows that both lists have with different models.
  ///
  /// - Complexity: O(*n*).
  func updatedRows(since old: LiveList<T>) -> [LiveRow] {
    if rows == old.rows {
      return rows.indices.filter { !models[$0].isEqual(to: old.models[$0]) }.map { rows[$0] }
    }
    let places = Dictionary(zip(old.rows, old.rows.indices)) { first, _ in first }
    return zip(rows, models).compactMap { row, model in
      guard let place = places[row], !model.isEqual(to: old.models[place]) else { return nil }
      return row
    }
  }

  /// Returns true if two models stand for the same element.
  static func isSame(_ old: T, _ new: T) -> Bool {
    switch (old.modelIdentifier, new.modelIdentifier) {
    case (let old?, let new?): old.hasSameBytes(as: new)
    case (nil, nil): old.isEqual(to: new)
    default: false
    }
  }

  private func matched(
    _ range: Range<Int>, _ new: ArraySlice<T>, takeRows: (Int) -> [LiveRow]
  ) -> [LiveRow] {
    if range.isEmpty || new.isEmpty { return takeRows(new.count) }
    // The positions are stacked in reverse order, so that the first one is used first.
    var places: [ByteString: [Int]] = [:]
    for place in range.reversed() {
      guard let identifier = models[place].modelIdentifier else { continue }
      places[ByteString(identifier), default: []].append(place)
    }
    let found = new.map { model in
      model.modelIdentifier.flatMap { places[ByteString($0)]?.popLast() }
    }
    var fresh = takeRows(found.count { $0 == nil })[...]
    return found.map { place in
      if let place { return rows[place] }
      return fresh.removeFirst()
    }
  }
}
