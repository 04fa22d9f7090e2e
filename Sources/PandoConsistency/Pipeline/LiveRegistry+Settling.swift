import PandoModels

extension LiveRegistry {
  /// A node that an update sets, and a row that represents all rows settled on it.
  struct Spokesman {
    let entry: Int32
    let identifier: ByteString
    let holder: any LiveHolder
    let row: LiveRow

    /// The node in the row's tree; read outside the registry's lock.
    var node: (any Model)? {
      holder.tree(ofRow: row).flatMap(ModelTypes.asModel).flatMap {
        TreeNodes.find(identifier, in: $0)
      }
    }
  }

  /// The minimum count of settled rows for which a comparison with one of them saves time.
  private static let settledCountMinimum = 4
  /// The maximum count of nodes of a representative row, because its tree is searched.
  static let askedNodeCountMaximum = 64
  /// The maximum count of rows not settled on a node that are searched.
  private static let unsettledCountMaximum = 4

  /// Finds rows to decide if an update changes anything for the settled rows.
  ///
  /// - Parameter carried: The entries of the nodes that the update sets.
  /// - Returns: One representative row for each node for which the comparison saves time.
  func spokesmen(for carried: [Int32]) -> [Spokesman] {
    var spokesmen: [Spokesman] = []
    for number in carried where entries[number].settledCount >= Self.settledCountMinimum {
      if let spokesman = spokesman(for: number) { spokesmen.append(spokesman) }
    }
    return spokesmen
  }

  /// Returns the representative row of a node with settled rows; `nil` if the comparison would cost
  /// too much.
  private func spokesman(for number: Int32) -> Spokesman? {
    guard entries[number].otherTypes == nil else { return nil }
    let row = entries[number].slots[0].row
    guard rows[row].links.count <= Self.askedNodeCountMaximum, let holder = rows[row].owner else {
      return nil
    }
    return Spokesman(
      entry: number, identifier: entries[number].identifier, holder: holder, row: rows[row].row)
  }

  /// Records that a row's tree contains an update.
  mutating func resolve(_ holder: UInt64, _ row: LiveRow, _ mark: UInt64) {
    if let number = rowNumber(holder, row) { rows[number].resolved = mark }
  }

  /// Returns the count of nodes of a row.
  func nodeCount(of holder: UInt64, _ row: LiveRow) -> Int {
    rowNumber(holder, row).map { rows[$0].links.count } ?? 0
  }

  /// Unsettles a row whose tree was replaced without an update.
  mutating func unsettle(_ holder: UInt64, _ row: LiveRow) {
    if let number = rowNumber(holder, row) { unsettle(number) }
  }

  /// Settles the rows whose trees contain an update on its nodes, and unsettles the other found rows.
  ///
  /// - Parameters:
  ///   - update: The update.
  ///   - carried: The entries of its nodes, found before the update was staged.
  ///   - found: The rows that the search found.
  ///   - resolved: Rows whose trees contain the update, in addition to those marked as resolved.
  ///   - mark: The mark of the search.
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
      // The entry may have been removed, and its number used again for another node.
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

/// Settling of new rows.
extension LiveRegistry {
  /// A node of a new row that may equal the node of the rows settled on it.
  struct Candidate {
    /// The index of the node in the row.
    let index: Int
    let row: Int32
    let spokesman: Spokesman
  }

  /// Registers the nodes of a new row, and settles the row on nodes without settled rows.
  ///
  /// - Parameters:
  ///   - nodes: The nodes of a plain tree.
  ///   - holder: The number of the row's holder.
  ///   - row: The row.
  /// - Returns: The nodes that have settled rows. If their contents are equal, the caller passes
  ///   them to ``settle(_:)``.
  mutating func setFirstNodes(_ nodes: [Node], of holder: UInt64, row: LiveRow) -> [Candidate] {
    let isNew = rowNumber(holder, row) == nil
    setNodes(nodes, of: holder, row: row)
    guard isNew, let number = rowNumber(holder, row) else { return [] }
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

  /// Finds rows that represent all other rows with some nodes.
  ///
  /// - Parameters:
  ///   - nodes: The nodes of a plain tree.
  ///   - own: A row that does not count; `nil` to leave out rows that wait for a node.
  /// - Returns: The nodes that other rows contain. `nil` if a node has no representative: rows are
  ///   not settled on it, or contain it in another type.
  func candidates(
    for nodes: [Node], besides own: (holder: UInt64, row: LiveRow)?
  ) -> [Candidate]? {
    let ownNumber = own.flatMap { rowNumber($0.holder, $0.row) }
    var candidates: [Candidate] = []
    for index in nodes.indices {
      guard let entry = entryNumbers[nodes[index].identifier] else { continue }
      guard entries[entry].otherTypes == nil, entries[entry].type == nodes[index].type,
        entries[entry].slots.count - entries[entry].settledCount <= Self.unsettledCountMaximum
      else { return nil }
      for position in entries[entry].settledCount..<entries[entry].slots.count {
        let slot = entries[entry].slots[position]
        if slot.row == ownNumber { continue }
        if own != nil || rows[slot.row].links[Int(slot.link)].isInTree { return nil }
      }
      guard let first = entries[entry].slots.first,
        entries[entry].settledCount > (first.row == ownNumber ? 1 : 0)
      else { continue }
      guard let spokesman = spokesman(for: entry) else { return nil }
      candidates.append(Candidate(index: index, row: first.row, spokesman: spokesman))
    }
    return candidates
  }

  /// Sets the nodes of a row, and settles it on all of them.
  ///
  /// - Parameters:
  ///   - nodes: The nodes of a plain tree, whose contents are those of the settled rows.
  ///   - holder: The number of the row's holder.
  ///   - row: The row, which waits for no node.
  mutating func setAgreedNodes(_ nodes: [Node], of holder: UInt64, row: LiveRow) {
    setNodes(nodes, of: holder, row: row)
    guard let number = rowNumber(holder, row) else { return }
    for index in rows[number].links.indices {
      let link = rows[number].links[index]
      if Int(link.position) >= entries[link.entry].settledCount {
        settle(Int(link.position), ofEntry: link.entry)
      }
    }
  }

  /// Settles a new row on nodes whose contents equal those of the settled rows.
  mutating func settle(_ candidates: [Candidate]) {
    for candidate in candidates {
      let link = rows[candidate.row].links[candidate.index]
      settle(Int(link.position), ofEntry: link.entry)
    }
  }
}

extension LiveUpdate.Versions {
  /// Returns true if a node has versions of one type only.
  func holdsOnly(_ type: any SimpleModel.Type) -> Bool {
    !(stored.isEmpty && given.isEmpty) && stored.allSatisfy { Swift.type(of: $0) == type }
      && given.allSatisfy { Swift.type(of: $0) == type }
  }
}
