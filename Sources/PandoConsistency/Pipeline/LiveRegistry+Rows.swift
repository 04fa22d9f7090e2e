import PandoModels

extension LiveRegistry {
  /// A registered node of a tree.
  typealias Node = TreeNodes.Node

  /// Sets the nodes of a row; awaited nodes stay.
  mutating func setNodes(_ nodes: [Node], of holder: UInt64, row: LiveRow) {
    guard nodes.isEmpty == false || rowNumber(holder, row) != nil else { return }
    guard let number = makeRow(holder, row) else { return }
    setNodes(nodes, ofRow: number, areInUpdate: false)
  }

  /// Sets the nodes of a row to those of the running update; awaited nodes stay.
  ///
  /// `resolved` is the mark of the update if the row's tree contains it, else 0.
  mutating func setOwnNodes(
    _ nodes: [Node], of holder: UInt64, row: LiveRow, resolved: UInt64
  ) {
    guard nodes.isEmpty == false || rowNumber(holder, row) != nil else { return }
    guard let number = makeRow(holder, row) else { return }
    unsettle(number)
    if resolved != 0 { rows[number].resolved = resolved }
    setNodes(nodes, ofRow: number, areInUpdate: nodes.count == foundEntries.count)
  }

  /// Sets the nodes of a row; awaited nodes stay.
  ///
  /// `areInUpdate` is true if the nodes are those of the running update, in its order.
  private mutating func setNodes(_ nodes: [Node], ofRow number: Int32, areInUpdate: Bool) {
    let met = makeMark()
    let kept = makeMark()
    var wanted: [Int32] = []
    wanted.reserveCapacity(nodes.count)
    for index in nodes.indices {
      let node = nodes[index]
      let entry = makeEntry(
        node.identifier, node.type, expected: areInUpdate ? foundEntries[index] : -1)
      guard entries[entry].mark != met else { continue }
      entries[entry].mark = met
      wanted.append(entry)
    }
    var index = rows[number].links.count - 1
    while index >= 0 {
      let link = rows[number].links[index]
      if entries[link.entry].mark == met {
        entries[link.entry].mark = kept
        rows[number].links[index].isInTree = true
      } else if link.isAwaited {
        rows[number].links[index].isInTree = false
      } else {
        removeLink(index, ofRow: number)
      }
      index -= 1
    }
    for entry in wanted where entries[entry].mark == met {
      link(number, entry, isInTree: true, isAwaited: false)
    }
    dropRowIfEmpty(number)
  }

  /// Registers a row as waiting for a node.
  mutating func await(
    _ identifier: ByteString, _ type: any SimpleModel.Type, of holder: UInt64, row: LiveRow
  ) {
    guard let number = makeRow(holder, row) else { return }
    let entry = makeEntry(identifier, type)
    if let index = rows[number].links.firstIndex(where: { $0.entry == entry }) {
      rows[number].links[index].isAwaited = true
    } else {
      link(number, entry, isInTree: false, isAwaited: true)
    }
  }

  /// Ends the waiting that ``await(_:_:of:row:)`` started.
  mutating func endAwaiting(_ identifier: ByteString, of holder: UInt64, row: LiveRow) {
    guard let number = rowNumber(holder, row), let entry = entryNumbers[identifier],
      let index = rows[number].links.firstIndex(where: { $0.entry == entry })
    else { return }
    if rows[number].links[index].isInTree {
      rows[number].links[index].isAwaited = false
    } else {
      removeLink(index, ofRow: number)
      dropRowIfEmpty(number)
    }
  }

  mutating func removeRow(_ number: Int32) {
    while let last = rows[number].links.indices.last { removeLink(last, ofRow: number) }
    holders[rows[number].holder]?.rows[rows[number].row] = nil
    rows.remove(number)
  }

  private mutating func makeRow(_ holder: UInt64, _ row: LiveRow) -> Int32? {
    guard let index = holders.index(forKey: holder) else { return nil }
    if let number = holders.values[index].rows[row] { return number }
    let owner = holders.values[index].holder
    let number = rows.insert(Row(holder: holder, row: row, owner: owner))
    holders.values[index].rows[row] = number
    return number
  }

  private mutating func dropRowIfEmpty(_ number: Int32) {
    if rows[number].links.isEmpty { removeRow(number) }
  }

  /// Returns the entry of a node; makes one if there is none.
  ///
  /// A correct `expected` saves the search.
  private mutating func makeEntry(
    _ identifier: ByteString, _ type: any SimpleModel.Type, expected: Int32 = -1
  ) -> Int32 {
    if expected >= 0, entries.isInside(expected), entries[expected].identifier == identifier,
      !entries[expected].slots.isEmpty
    {
      entries[expected].add(type)
      return expected
    }
    if let number = entryNumbers[identifier] {
      entries[number].add(type)
      return number
    }
    let number = entries.insert(Entry(identifier: identifier, type: type))
    entryNumbers[identifier] = number
    return number
  }

  private mutating func link(
    _ row: Int32, _ entry: Int32, isInTree: Bool, isAwaited: Bool
  ) {
    let link = Link(
      entry: entry, position: Int32(entries[entry].slots.count), isInTree: isInTree,
      isAwaited: isAwaited)
    entries[entry].slots.append(Slot(row: row, link: Int32(rows[row].links.count)))
    rows[row].links.append(link)
  }

  /// Removes a node from a row.
  ///
  /// The last elements of both lists fill the free positions.
  private mutating func removeLink(_ index: Int, ofRow row: Int32) {
    let link = rows[row].links[index]
    let lastLink = rows[row].links.count - 1
    if index != lastLink {
      let moved = rows[row].links[lastLink]
      rows[row].links[index] = moved
      entries[moved.entry].slots[Int(moved.position)].link = Int32(index)
    }
    rows[row].links.removeLast()
    var position = Int(link.position)
    if position < entries[link.entry].settledCount {
      entries[link.entry].settledCount -= 1
      rows[row].settledCount -= 1
      fill(position, ofEntry: link.entry, from: entries[link.entry].settledCount)
      position = entries[link.entry].settledCount
    }
    fill(position, ofEntry: link.entry, from: entries[link.entry].slots.count - 1)
    entries[link.entry].slots.removeLast()
    if entries[link.entry].slots.isEmpty {
      entryNumbers[entries[link.entry].identifier] = nil
      entries.remove(link.entry)
    }
  }

  /// Moves one slot of a node to the position of another that is no longer used.
  private mutating func fill(_ position: Int, ofEntry entry: Int32, from other: Int) {
    guard position != other else { return }
    let moved = entries[entry].slots[other]
    entries[entry].slots[position] = moved
    rows[moved.row].links[Int(moved.link)].position = Int32(position)
  }
}
