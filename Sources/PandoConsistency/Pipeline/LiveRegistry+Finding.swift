import PandoModels
import PandoSystem

extension LiveRegistry {
  /// A holder that an update may change.
  struct Affected {
    let holder: any LiveHolder
    let holderNumber: UInt64
    var rows: [LiveRow]
    /// The number of the row, if exactly one is affected; else negative.
    var number: Int32 = -1
    /// The count of nodes of the row, if exactly one is affected; else 0.
    var nodeCount = 0
  }

  /// Finds the trees that an update may change, in the order in which their holders were
  /// registered.
  ///
  /// - Parameters:
  ///   - update: The update.
  ///   - carried: The entries of the nodes that the update sets.
  ///   - unchanged: The entries among them that stay unchanged in all settled rows.
  /// - Returns: The holders, the numbers of the rows, and the mark that the rows have now.
  mutating func affected(
    by update: LiveUpdate, _ carried: [Int32], unchanged: [Int32]
  ) -> (holders: [Affected], rows: [Int32], mark: UInt64) {
    var found: [Int32] = []
    let mark = makeMark()
    for entry in carried { find(entry, mark, unchanged, &found) }
    for identifier in update.deleted {
      if let entry = entryNumbers[identifier] { find(entry, mark, [], &found) }
    }
    sort(&found)
    var affected: [Affected] = []
    affected.reserveCapacity(found.count)
    var last: UInt64?
    for number in found {
      let (holder, row) = (rows[number].holder, rows[number].row)
      if last == holder {
        affected[affected.count - 1].rows.append(row)
        affected[affected.count - 1].number = -1
        affected[affected.count - 1].nodeCount = 0
      } else if let owner = rows[number].owner {
        affected.append(
          Affected(
            holder: owner, holderNumber: holder, rows: row == 0 ? Self.firstRow : [row],
            number: number, nodeCount: rows[number].links.count))
      }
      last = holder
    }
    addAskedHolders(update, &affected)
    return (affected, found, mark)
  }

  /// Finds the entries of the nodes that an update sets.
  mutating func entries(of update: LiveUpdate) -> [Int32] {
    foundEntries.removeAll(keepingCapacity: foundEntries.count < Self.keptCountMaximum)
    var numbers: [Int32] = []
    for position in 0..<update.versions.count {
      let number = entryNumbers[update.versions.key(at: position)]
      if let number { numbers.append(number) }
      foundEntries.append(number ?? -1)
    }
    return numbers
  }

  /// The maximum capacity of the array that is kept between updates.
  private static let keptCountMaximum = 64

  private static let firstRow: [LiveRow] = [0]

  private mutating func find(
    _ entry: Int32, _ mark: UInt64, _ unchanged: [Int32], _ found: inout [Int32]
  ) {
    let start = unchanged.contains(entry) ? entries[entry].settledCount : 0
    for slot in entries[entry].slots[start...] where rows[slot.row].mark != mark {
      rows[slot.row].mark = mark
      found.append(slot.row)
    }
  }

  private func sort(_ found: inout [Int32]) {
    var isSorted = true
    for index in found.indices.dropFirst() where isSorted {
      let (row, last) = (found[index], found[index - 1])
      isSorted = (rows[last].holder, rows[last].row) <= (rows[row].holder, rows[row].row)
    }
    if isSorted { return }
    var keys = found.map { (rows[$0].holder, rows[$0].row, $0) }
    keys.sort { $0 < $1 }
    found = keys.map { $0.2 }
  }

  /// Adds the holders of operations and topics, also if none of their trees is affected.
  private func addAskedHolders(_ update: LiveUpdate, _ affected: inout [Affected]) {
    if update.topics.isEmpty, update.earlierOperations.isEmpty {
      if let number = update.operation?.holderNumber { add(number, to: &affected) }
      return
    }
    var asked = Set<UInt64>()
    for operation in update.operations {
      if let number = operation.holderNumber { asked.insert(number) }
    }
    for topic in update.topics.keys { asked.formUnion(topics[topic] ?? []) }
    for entry in affected { asked.remove(entry.holderNumber) }
    if asked.isEmpty { return }
    for number in asked {
      if let holder = holders[number]?.holder {
        affected.append(Affected(holder: holder, holderNumber: number, rows: []))
      }
    }
    affected = affected.ordered { $0.holderNumber < $1.holderNumber }
  }

  /// Inserts one holder in the order of the numbers, unless it is there.
  private func add(_ number: UInt64, to affected: inout [Affected]) {
    let place = affected.partitioningIndex { $0.holderNumber >= number }
    if place < affected.count, affected[place].holderNumber == number { return }
    guard let holder = holders[number]?.holder else { return }
    affected.insert(Affected(holder: holder, holderNumber: number, rows: []), at: place)
  }
}
