import PandoLMDB

extension CountedList.Splice {
  /// Writes the rows of the current level, in the blocks of the old ones as far as they go.
  ///
  /// - Returns: The entries of the rows, for the level above.
  mutating func write(
    _ run: Run, _ pieces: [Piece], isRepaired: Bool, in transaction: inout WriteTransaction
  ) throws -> [Entry] {
    let blocks = try left.count == 1 ? [] : touchedBlocks(at: left.count - 1, in: transaction)
    var entries: [Entry] = []
    entries.reserveCapacity(pieces.count)
    for (index, piece) in pieces.enumerated() {
      let isOld = index < blocks.count
      let block = isOld ? blocks[index] : nextBlock | (run.level == 0 ? CountedList.leafBit : 0)
      let key = list.key(ofBlock: block)
      let bytes = CountedList.Row.bytes(
        of: piece, in: run, list: list.number, block: block, nextBlock: 0)
      if !isOld {
        nextBlock += 1
        guard try transaction.insert(bytes.span, forKey: key.span, in: list.table) else {
          throw damaged(block, "the block was given before")
        }
      } else if try !isRepaired || !isStored(bytes, block, in: transaction.snapshot) {
        try transaction.put(bytes.span, forKey: key.span, in: list.table)
      }
      entries.append(Entry(block: block, elementCount: piece.elementCount))
    }
    try delete(blocks.dropFirst(pieces.count), in: &transaction)
    return entries
  }

  /// Writes the root, or what takes its place when it has a single child or none.
  ///
  /// - Parameters:
  ///   - run: The items of the highest level; they fit in one row.
  ///   - transaction: Where to write.
  /// - Throws: ``CountedListError`` for a damaged row, or `LMDBError`.
  func finish(_ run: Run, in transaction: inout WriteTransaction) throws {
    var run = run
    while run.level > 0, run.itemCount == 1, let child = run.entries.first {
      run = try list.row(child, level: run.level - 1, in: transaction.snapshot).run()
      try delete([child.block], in: &transaction)
    }
    let block = CountedList.rootBlock
    let key = list.key(ofBlock: block)
    guard run.itemCount > 0 else {
      try transaction.delete(key: key.span, in: list.table)
      return
    }
    let piece = Piece(
      bytes: 0..<run.bytes.count, itemCount: run.itemCount, elementCount: run.elementCount)
    let bytes = CountedList.Row.bytes(
      of: piece, in: run, list: list.number, block: block, nextBlock: nextBlock)
    try transaction.put(bytes.span, forKey: key.span, in: list.table)
  }

  /// The blocks of one level from the left way to the right one.
  ///
  /// - Parameters:
  ///   - depth: The level, counted from the root.
  ///   - transaction: Where the rows from the level above on are still as they were.
  /// - Returns: One block or more, in list order.
  /// - Throws: ``CountedListError`` for a damaged row, or `LMDBError`.
  private func touchedBlocks(
    at depth: Int, in transaction: borrowing WriteTransaction
  ) throws -> [UInt64] {
    if left[depth].start == right[depth].start { return [left[depth].block] }
    let (first, last) = (left[depth - 1], right[depth - 1])
    let (firstEntries, lastEntries) = (first.run.entries, last.run.entries)
    if first.start == last.start {
      return firstEntries[first.index...last.index].map(\.block)
    }
    var blocks = firstEntries[first.index...].map(\.block)
    for block in try touchedBlocks(at: depth - 1, in: transaction).dropFirst().dropLast() {
      let key = list.key(ofBlock: block)
      guard let bytes = try transaction.bytes(forKey: key.span, in: list.table) else {
        throw damaged(block, "the row is missing")
      }
      let run = try CountedList.Row(bytes, list: list.number, block: block).run()
      guard run.level == first.run.level else { throw damaged(block, "level \(run.level)") }
      blocks += run.entries.map(\.block)
    }
    return blocks + lastEntries[...last.index].map(\.block)
  }

  private func isStored(_ bytes: [UInt8], _ block: UInt64, in snapshot: Snapshot) throws -> Bool {
    let key = list.key(ofBlock: block)
    guard let stored = try snapshot.bytes(forKey: key.span, in: list.table) else { return false }
    return bytes == [UInt8](copying: stored)
  }

  private func delete(
    _ blocks: ArraySlice<UInt64>, in transaction: inout WriteTransaction
  ) throws {
    for block in blocks {
      let key = list.key(ofBlock: block)
      guard try transaction.delete(key: key.span, in: list.table) else {
        throw damaged(block, "the row is missing")
      }
    }
  }

  private func damaged(_ block: UInt64, _ reason: String) -> CountedListError {
    .damaged(list: list.number, block: block, reason: reason)
  }
}
