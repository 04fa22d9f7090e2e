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

  /// Rows with their models.
  typealias Rows = [(row: LiveRow, model: T)]

  /// Returns the rows that both lists have with different models, and those that only one has.
  ///
  /// - Complexity: O(*n*).
  func difference(
    since old: LiveList<T>
  ) -> (updated: Rows, inserted: Rows, removed: Set<LiveRow>) {
    var difference = (updated: Rows(), inserted: Rows(), removed: Set<LiveRow>())
    if rows == old.rows {
      for (index, model) in models.enumerated() where !model.isEqual(to: old.models[index]) {
        difference.updated.append((rows[index], model))
      }
      return difference
    }
    var places = Dictionary(zip(old.rows, old.rows.indices)) { first, _ in first }
    for (row, model) in zip(rows, models) {
      guard let place = places.removeValue(forKey: row) else {
        difference.inserted.append((row, model))
        continue
      }
      if !model.isEqual(to: old.models[place]) { difference.updated.append((row, model)) }
    }
    difference.removed = Set(places.keys)
    return difference
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
