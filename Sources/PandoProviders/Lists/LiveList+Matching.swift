import PandoConsistency
import PandoModels

extension LiveList {
  /// Gives rows to the elements of a list that replaces this one.
  ///
  /// An element that is in this list keeps its row: the one with the same identifier, and of several
  /// the first that is not taken; without identifier, an equal one near the beginning or the end.
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

  /// The rows that another list has too, with other contents.
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

  /// Whether two models stand for the same element.
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
    // From the last to the first, so that the first is taken first.
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
