import PandoLMDB

extension CountedList {
  /// Replaces a range of a list, level by level from the leaves to the root.
  ///
  /// The same happens on each level: the rows from the first to the last that are touched become
  /// one run, some of its items are replaced, the run is cut into rows again, and the entries of
  /// these rows replace the entries of the old ones one level higher. Only rows that come out too
  /// empty make it look at their neighbours. A root that overflows gets a level above it, and an
  /// only child becomes the root.
  struct Splice {
    /// A row on the way from the root, and the item the way goes through.
    struct Step {
      let block: UInt64
      /// The position of the first element beneath the row.
      let start: Int
      let run: Run
      /// On level 0 an element, or the end; above it the child that is the next step.
      var index: Int

      var end: Int { start + run.elementCount }
    }

    let list: CountedList
    let elementCountBefore: Int
    let packing: Packing
    /// From the root to the first row of the current level that is touched.
    var left: [Step]
    /// From the root to the last row of the current level that is touched.
    var right: [Step]
    /// What comes in the place of the replaced items of the current level.
    var replacement: Run
    var nextBlock: UInt64

    /// Finds the rows a change begins with.
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
      left = try list.steps(to: range.lowerBound, downTo: 0, in: snapshot)
      let isOneLeaf = range.isEmpty || range.upperBound <= left[left.count - 1].end
      right = isOneLeaf ? left : try list.steps(to: range.upperBound - 1, downTo: 0, in: snapshot)
      // On the right the index of the current level is that of the first item that stays.
      right[right.count - 1].index = range.upperBound - right[right.count - 1].start
    }

    /// A little at one end is likely to be followed by more at that end.
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
  mutating func apply(to transaction: inout WriteTransaction) throws {
    while true {
      let (first, last) = (left[left.count - 1], right[right.count - 1])
      let isOneRow = first.start == last.start
      var run = first.run
      if isOneRow {
        run.replaceItems(first.index..<last.index, with: replacement)
      } else {
        run = run.prefix(first.index)
        run.append(contentsOf: replacement)
        run.append(contentsOf: last.run.suffix(from: last.index))
      }
      var pieces = pieces(of: run)
      // A single row that has not shrunk leaves no row emptier than it was.
      let isRepaired =
        pieces.count != 1 || !isOneRow || run.bytes.count < first.run.bytes.count
      if isRepaired {
        try repair(&run, &pieces, in: transaction.snapshot)
      }
      if left.count == 1, pieces.count <= 1 {
        return try finish(run, in: &transaction)
      }
      let entries = try write(run, pieces, isRepaired: isRepaired, in: &transaction)
      replacement = Run(level: run.level + 1, entries: entries)
      climb()
    }
  }

  /// Cuts a run of the current level into rows.
  func pieces(of run: Run) -> [Piece] {
    run.pieces(run.level == 0 ? packing : .even)
  }

  /// Goes one level up, above the old root if need be.
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
