import PandoModels

extension LiveRegistry {
  /// A node that an update carries, and a row that speaks for all that are settled on it.
  struct Spokesman {
    let entry: Int32
    let identifier: ByteString
    let holder: any LiveHolder
    let row: LiveRow

    /// The node as the row's tree holds it; asked outside the registry's lock.
    var node: (any Model)? {
      holder.tree(ofRow: row).flatMap(ModelTypes.asModel).flatMap {
        TreeNodes.find(identifier, in: $0)
      }
    }
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
      if let spokesman = spokesman(for: number) { spokesmen.append(spokesman) }
    }
    return spokesmen
  }

  /// Whom to ask about a node on which a row is settled; `nil` if that does not pay.
  private func spokesman(for number: Int32) -> Spokesman? {
    guard entries[number].otherTypes == nil else { return nil }
    let row = entries[number].slots[0].row
    guard rows[row].links.count <= Self.askedNodeCountMaximum, let holder = rows[row].owner else {
      return nil
    }
    return Spokesman(
      entry: number, identifier: entries[number].identifier, holder: holder, row: rows[row].row)
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
          settle(position, ofEntry: number)
        }
        position += 1
      }
    }
  }

  private mutating func settle(_ position: Int, ofEntry entry: Int32) {
    swap(position, entries[entry].settledCount, ofEntry: entry)
    rows[entries[entry].slots[entries[entry].settledCount].row].settledCount += 1
    entries[entry].settledCount += 1
  }

  mutating func unsettle(_ row: Int32) {
    if rows[row].settledCount == 0 { return }
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

/// Rows that are settled as they come.
extension LiveRegistry {
  /// A node of a new row that may be what the rows hold that are settled on it.
  struct Candidate {
    /// Which of the row's nodes it is.
    let index: Int
    let row: Int32
    let spokesman: Spokesman
  }

  /// Makes a new row hold nodes, and settles it on those that no other row is settled on.
  ///
  /// - Returns: Those that others are settled on, for ``settle(_:)`` if they have the same content. A
  ///   tree that holds a node several times has none: the occurrences may differ.
  mutating func setFirstNodes(_ nodes: [Node], of holder: UInt64, row: LiveRow) -> [Candidate] {
    let isNew = rowNumber(holder, row) == nil
    setNodes(nodes, of: holder, row: row)
    guard isNew, let number = rowNumber(holder, row),
      rows[number].links.count == nodes.count, nodes.count <= Self.askedNodeCountMaximum
    else { return [] }
    var candidates: [Candidate] = []
    for index in nodes.indices {
      let link = rows[number].links[index]
      if entries[link.entry].otherTypes != nil { continue }
      if entries[link.entry].settledCount == 0 {
        settle(Int(link.position), ofEntry: link.entry)
      } else if let spokesman = spokesman(for: link.entry) {
        candidates.append(Candidate(index: index, row: number, spokesman: spokesman))
      }
    }
    return candidates
  }

  /// Settles a new row on nodes that have the content of those that others are settled on.
  mutating func settle(_ candidates: [Candidate]) {
    for candidate in candidates {
      let link = rows[candidate.row].links[candidate.index]
      settle(Int(link.position), ofEntry: link.entry)
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
