import ModelCore

extension LiveRegistry {
  /// A node that an update carries, and a row that speaks for all that are settled on it.
  struct Spokesman {
    let entry: Int32
    let identifier: ByteString
    let holder: any LiveHolder
    let row: LiveRow
  }

  /// From how many settled rows on it pays to ask one of them first.
  private static let settledCountMinimum = 4
  /// How many nodes a row may have to be asked: its tree is searched.
  private static let askedNodeCountMaximum = 64

  /// Whom to ask whether what an update carries changes anything for the settled rows.
  ///
  /// - Parameter carried: Where the nodes are that it carries.
  /// - Returns: One row for each node for which that pays.
  func spokesmen(for carried: [Int32]) -> [Spokesman] {
    var spokesmen: [Spokesman] = []
    for number in carried where entries[number].settledCount >= Self.settledCountMinimum {
      let entry = entries[number]
      guard entry.otherTypes == nil else { continue }
      let row = rows[entry.slots[0].row]
      guard row.links.count <= Self.askedNodeCountMaximum, let holder = row.owner else { continue }
      spokesmen.append(
        Spokesman(entry: number, identifier: entry.identifier, holder: holder, row: row.row))
    }
    return spokesmen
  }

  /// Notes that an update is in a row's tree.
  mutating func resolve(_ holder: UInt64, _ row: LiveRow, _ mark: UInt64) {
    if let number = rowNumber(holder, row) { rows[number].resolved = mark }
  }

  /// How many nodes a row has.
  func nodeCount(of holder: UInt64, _ row: LiveRow) -> Int {
    rowNumber(holder, row).map { rows[$0].links.count } ?? 0
  }

  /// Unsettles a row whose tree is another one, for another reason than an update.
  mutating func unsettle(_ holder: UInt64, _ row: LiveRow) {
    if let number = rowNumber(holder, row) { unsettle(number) }
  }

  /// Settles the rows that have taken an update on the nodes it carries, and unsettles those that were
  /// asked and have not.
  ///
  /// - Parameters:
  ///   - update: What happened.
  ///   - carried: Where the nodes were that it carries.
  ///   - found: The rows that were asked.
  ///   - resolved: Rows that have taken the update, besides those that say so.
  ///   - mark: The mark of the search that found them.
  mutating func settle(
    _ update: LiveUpdate, _ carried: [Int32], _ found: [Int32], _ resolved: [Int32],
    _ mark: UInt64
  ) {
    for number in resolved where rows.isInside(number) { rows[number].resolved = mark }
    for number in found where rows.isInside(number) {
      guard rows[number].mark == mark, rows[number].settledCount > 0 else { continue }
      if rows[number].resolved != mark { unsettle(number) }
    }
    for number in carried where entries.isInside(number) {
      // Nobody may hold the node any more, and another one have its place.
      guard entries[number].otherTypes == nil,
        let versions = update.versions[entries[number].identifier],
        versions.holdsOnly(entries[number].type)
      else { continue }
      var position = entries[number].settledCount
      while position < entries[number].slots.count {
        if rows[entries[number].slots[position].row].resolved == mark {
          swap(position, entries[number].settledCount, ofEntry: number)
          rows[entries[number].slots[entries[number].settledCount].row].settledCount += 1
          entries[number].settledCount += 1
        }
        position += 1
      }
    }
  }

  private mutating func unsettle(_ row: Int32) {
    for link in rows[row].links where Int(link.position) < entries[link.entry].settledCount {
      entries[link.entry].settledCount -= 1
      swap(Int(link.position), entries[link.entry].settledCount, ofEntry: link.entry)
    }
    rows[row].settledCount = 0
  }

  private mutating func swap(_ position: Int, _ other: Int, ofEntry entry: Int32) {
    guard position != other else { return }
    entries[entry].slots.swapAt(position, other)
    for place in [position, other] {
      let slot = entries[entry].slots[place]
      rows[slot.row].links[Int(slot.link)].position = Int32(place)
    }
  }
}

extension LiveUpdate.Versions {
  /// Whether what counts for a node is of one type.
  func holdsOnly(_ type: any SimpleModel.Type) -> Bool {
    stored.allSatisfy { Swift.type(of: $0) == type }
      && given.allSatisfy { Swift.type(of: $0) == type }
  }
}
