import PandoLMDB

extension CountedList {
  /// Replaces a range of a list, level by level from the leaves to the root.
  ///
  /// Each level works the same way. The touched rows, from the first to the last, become one run.
  /// Some of its items are replaced, the run is cut into rows again, and their entries replace the
  /// old ones one level higher. Only underfull rows involve their neighbours. A root that overflows
  /// gets a level above it; an only child becomes the root.
  ///
  /// `left`, `right`, `replacement` and `origins` describe the current level; `climb()` moves them
  /// up together. The other variables collect the results of all levels. A splice is used once,
  /// inside one write transaction.
  struct Splice {
    /// A row on the path from the root, and the item on the path.
    struct Step {
      let block: UInt64
      /// The position of the first element below the row.
      let start: Int
      let run: Run
      /// On level 0 an element, or the end; above it the child that is the next step.
      var index: Int

      var end: Int { start + run.elementCount }
    }

    let list: CountedList
    let elementCountBefore: Int
    let packing: Packing
    /// The path from the root to the first touched row of the current level.
    var left: [Step]
    /// The path from the root to the last touched row of the current level.
    var right: [Step]
    /// The new items that replace old ones of the current level.
    var replacement: Run
    var nextBlock: UInt64
    /// On level 0, the leaf of each part of the current run.
    var origins: [(block: UInt64?, byteCount: Int)] = []
    /// The elements that are now in another leaf.
    var moves: [LeafMove] = []

    /// Finds the rows with which a change begins.
    init(
      _ list: CountedList, _ range: Range<Int>, with inserted: Run, in snapshot: Snapshot
    ) throws {
      self.list = list
      replacement = inserted
      let root = try list.root(in: snapshot)
      let count = root?.elementCount ?? 0
      precondition(
        range.lowerBound >= 0 && range.upperBound <= count,
        "range \(range) is outside 0..<\(count)")
      elementCountBefore = count
      nextBlock = root?.nextBlock ?? 1
      packing = Self.packing(of: inserted, in: range, of: count)
      guard count > 0 else {
        left = [Step(block: rootBlock, start: 0, run: Run(level: 0), index: 0)]
        right = left
        return
      }
      guard let root else { preconditionFailure("a list of \(count) has a root") }
      left = try list.steps(to: range.lowerBound, downTo: 0, from: root, in: snapshot)
      let isOneLeaf = range.isEmpty || range.upperBound <= left[left.count - 1].end
      right = isOneLeaf ? left : try list.steps(to: range.upperBound - 1, downTo: 0, in: snapshot)
      // On the right, the index on the current level is that of the first item that stays.
      right[right.count - 1].index = range.upperBound - right[right.count - 1].start
    }

    /// Replaces elements of one leaf at the end of the steps.
    init(
      _ list: CountedList, _ range: Range<Int>, with inserted: Run, at steps: [Step],
      _ count: Int, nextBlock: UInt64
    ) {
      self.list = list
      self.nextBlock = nextBlock
      replacement = inserted
      elementCountBefore = count
      packing = Self.packing(of: inserted, in: range, of: count)
      left = steps
      left[left.count - 1].index = range.lowerBound - left[left.count - 1].start
      right = left
      right[right.count - 1].index = range.upperBound - right[right.count - 1].start
    }

    /// After a small insertion at one end, more are likely at that end.
    private static func packing(
      of inserted: Run, in range: Range<Int>, of count: Int
    ) -> Packing {
      let isLittle = inserted.bytes.count <= Limits.payloadByteCountMax
      guard isLittle, range.isEmpty, count > 0 else { return .even }
      if range.lowerBound == count { return .firstRowFull }
      return range.lowerBound == 0 ? .lastRowFull : .even
    }
  }
}

extension CountedList.Splice {
  typealias Run = CountedList.Run
  typealias Piece = CountedList.Piece
  typealias Entry = CountedList.Entry
  typealias Limits = CountedList.Limits

  /// Makes the change.
  ///
  /// - Parameter transaction: The write transaction.
  /// - Throws: ``CountedListError`` for a damaged row, or `LMDBError`.
  mutating func apply(to transaction: inout WriteTransaction) throws {
    while true {
      let (first, last) = (left[left.count - 1], right[right.count - 1])
      let isOneRow = first.start == last.start
      var run = first.run
      let byteCount = replacement.bytes.count
      if isOneRow {
        let old = run.replaceItems(first.index..<last.index, with: replacement)
        let rest = first.run.bytes.count - old.upperBound
        origins = [(first.block, old.lowerBound), (nil, byteCount), (first.block, rest)]
      } else {
        run = run.prefix(first.index)
        let rest = last.run.suffix(from: last.index)
        origins = [
          (first.block, run.bytes.count), (nil, byteCount), (last.block, rest.bytes.count),
        ]
        run.append(contentsOf: replacement)
        run.append(contentsOf: rest)
      }
      var pieces = pieces(of: run)
      // A single row that has not shrunk leaves no row smaller than before.
      let isRepaired =
        pieces.count != 1 || !isOneRow || run.bytes.count < first.run.bytes.count
      if isRepaired {
        try repair(&run, &pieces, in: transaction.snapshot)
      }
      if left.count == 1, pieces.count <= 1 {
        if run.level == 0 { noteMoves(run, [run.bytes.count], [CountedList.rootBlock]) }
        return try finish(run, in: &transaction)
      }
      let entries = try write(run, pieces, isRepaired: isRepaired, in: &transaction)
      if run.level == 0 {
        noteMoves(run, pieces.map(\.bytes.upperBound), entries.map(\.block))
      }
      replacement = Run(level: run.level + 1, entries: entries)
      climb()
    }
  }

  /// Cuts a run of the current level into rows.
  func pieces(of run: Run) -> [Piece] {
    run.pieces(run.level == 0 ? packing : .even)
  }

  /// Moves one level up, above the old root if necessary.
  private mutating func climb() {
    if left.count == 1 {
      let top = Run(level: replacement.level)
      left = [Step(block: CountedList.rootBlock, start: 0, run: top, index: 0)]
      right = left
    } else {
      left.removeLast()
      right.removeLast()
      right[right.count - 1].index += 1
    }
  }
}

extension CountedList.Splice {
  /// Joins the touched rows with their neighbours if one of them would be underfull.
  ///
  /// Afterwards no two adjacent rows are underfull, if none were before. So a level has at most
  /// about eight times the rows that it needs, and about twice with elements of common size.
  mutating func repair(
    _ run: inout Run, _ pieces: inout [Piece], in snapshot: Snapshot
  ) throws {
    if left.count == 1 { return }
    var isFirst = true
    while pieces.first?.isUnderfull ?? true, left[left.count - 1].start > 0 {
      let position = left[left.count - 1].start - 1
      let row = try list.row(holding: position, onLevel: run.level, in: snapshot)
      guard isToBeJoined(row, with: pieces.first, isFirst: isFirst) else { break }
      left = try list.steps(to: position, downTo: run.level, in: snapshot)
      run.replaceItems(0..<0, with: left[left.count - 1].run)
      origins.insert((left[left.count - 1].block, left[left.count - 1].run.bytes.count), at: 0)
      pieces = self.pieces(of: run)
      isFirst = false
    }
    isFirst = true
    while pieces.last?.isUnderfull ?? false, right[right.count - 1].end < elementCountBefore {
      let position = right[right.count - 1].end
      let row = try list.row(holding: position, onLevel: run.level, in: snapshot)
      guard isToBeJoined(row, with: pieces.last, isFirst: isFirst) else { break }
      right = try list.steps(to: position, downTo: run.level, in: snapshot)
      run.append(contentsOf: right[right.count - 1].run)
      origins.append((right[right.count - 1].block, right[right.count - 1].run.bytes.count))
      pieces = self.pieces(of: run)
      isFirst = false
    }
  }

  /// Whether a neighbour is joined with an underfull piece, or with an empty place.
  ///
  /// Two underfull rows must not be adjacent. The first neighbour is also joined if both fit in one
  /// row or if it has several items, but never one large element.
  private func isToBeJoined(
    _ row: CountedList.Row, with piece: Piece?, isFirst: Bool
  ) -> Bool {
    let byteCount = row.payload.count
    if byteCount < Limits.payloadByteCountMin { return true }
    guard isFirst, let piece else { return false }
    return row.itemCount > 1 || byteCount + piece.bytes.count <= Limits.payloadByteCountMax
  }
}

extension CountedList {
  /// The row of a level at a position.
  @_lifetime(copy snapshot)
  func row(holding position: Int, onLevel level: Int, in snapshot: Snapshot) throws -> Row {
    guard var row = try root(in: snapshot) else {
      preconditionFailure("a list with position \(position) has a root")
    }
    var offset = position
    while row.level > level {
      let child = try row.child(at: offset)
      offset -= child.start
      row = try self.row(child.entry, level: row.level - 1, in: snapshot)
    }
    return row
  }

  /// The path from the root to the row of a level at a position.
  ///
  /// The position after the last element leads to the last leaf.
  func steps(
    to position: Int, downTo level: Int, in snapshot: Snapshot
  ) throws -> [Splice.Step] {
    guard let root = try root(in: snapshot) else {
      preconditionFailure("a list with position \(position) has a root")
    }
    return try steps(to: position, downTo: level, from: root, in: snapshot)
  }

  /// The same with a root that was read before.
  func steps(
    to position: Int, downTo level: Int, from root: Row, in snapshot: Snapshot
  ) throws -> [Splice.Step] {
    var row = root
    let target = min(position, row.elementCount - 1)
    var (steps, start): ([Splice.Step], Int) = ([], 0)
    while row.level > level {
      let child = try row.child(at: target - start)
      try steps.append(
        Splice.Step(block: row.block, start: start, run: row.run(), index: child.index))
      start += child.start
      row = try self.row(child.entry, level: row.level - 1, in: snapshot)
    }
    try steps.append(
      Splice.Step(block: row.block, start: start, run: row.run(), index: position - start))
    return steps
  }
}

extension CountedList.Splice {
  /// Writes the rows of the current level, reusing the blocks of the old ones.
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

  /// Writes the root, or a single child in its place, or removes an empty root.
  ///
  /// - Parameters:
  ///   - run: The items of the highest level; they fit in one row.
  ///   - transaction: The transaction to write to.
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

  /// The blocks of one level from the left path to the right one.
  ///
  /// - Parameters:
  ///   - depth: The level, counted from the root.
  ///   - transaction: The transaction, in which the rows of the levels above are unchanged so far.
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
