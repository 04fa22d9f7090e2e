import PandoModels

extension LiveRegistry {
  /// Stops the process if the two directions of the index differ.
  ///
  /// - Complexity: O(*l*) for *l* nodes of all trees.
  func checkInvariants() {
    var rowCount = 0
    for (number, holder) in holders {
      precondition(holder.holder.number == number, "holder \(number) has another number")
      holder.rows.forEach {
        check(row: $0, of: number)
        rowCount += 1
      }
    }
    precondition(rowCount == rows.count, "\(rows.count) rows, of holders \(rowCount)")
    for (identifier, number) in entryNumbers { check(entry: number, of: identifier) }
    precondition(
      entryNumbers.count == entries.count,
      "\(entries.count) entries, \(entryNumbers.count) with identifiers")
    for (topic, numbers) in topics {
      precondition(!numbers.isEmpty, "topic \(topic.text) has no holder")
    }
  }

  private func check(row number: Int32, of holder: UInt64) {
    let row = rows[number]
    precondition(row.holder == holder, "row \(number) of holder \(holder) has another holder")
    precondition(holders[holder]?.rows[row.row] == number, "row \(number) has another number")
    precondition(!row.links.isEmpty, "row \(number) has no node")
    var settledCount = 0
    for (index, link) in row.links.enumerated() {
      precondition(link.isInTree || link.isAwaited, "row \(number) has a node without a reason")
      let slots = entries[link.entry].slots
      precondition(
        slots.indices.contains(Int(link.position)), "row \(number) is not at its position")
      let slot = slots[Int(link.position)]
      precondition(
        slot.row == number && slot.link == Int32(index),
        "the entry of \(entries[link.entry].identifier.text) does not lead to row \(number)")
      if Int(link.position) < entries[link.entry].settledCount { settledCount += 1 }
    }
    precondition(
      settledCount == Int(row.settledCount),
      "row \(number) is settled on \(settledCount) nodes, and counts \(row.settledCount)")
    precondition(
      Set(row.links.map(\.entry)).count == row.links.count, "row \(number) has a node twice")
  }

  private func check(entry number: Int32, of identifier: ByteString) {
    let entry = entries[number]
    precondition(
      entry.identifier == identifier, "the entry of \(identifier.text) is of another node")
    precondition(!entry.slots.isEmpty, "the entry of \(identifier.text) has no row")
    precondition(
      (0...entry.slots.count).contains(entry.settledCount),
      "\(identifier.text): \(entry.settledCount) settled of \(entry.slots.count) rows")
    for (position, slot) in entry.slots.enumerated() {
      let links = rows[slot.row].links
      precondition(
        links.indices.contains(Int(slot.link)) && links[Int(slot.link)].entry == number
          && links[Int(slot.link)].position == Int32(position),
        "row \(slot.row) does not lead to the entry of \(identifier.text)")
    }
  }
}
