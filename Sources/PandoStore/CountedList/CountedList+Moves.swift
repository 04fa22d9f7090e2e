extension CountedList {
  /// Elements, one behind the other, that have come to lie in another leaf.
  struct LeafMove {
    /// The leaf where they are now; ``CountedList/rootBlock`` if the list is one row.
    let block: UInt64
    /// Whether they were in no leaf before: they have been inserted, or put in the place of others.
    let isNew: Bool
    /// Their items; see ``CountedList/elementRange(in:at:)``.
    let items: ArraySlice<UInt8>

    /// Calls `body` with the bytes of each element, in list order.
    func forEach(_ body: (Span<UInt8>) throws -> Void) rethrows {
      let bytes = items.span
      var offset = 0
      while let range = CountedList.elementRange(in: bytes, at: offset) {
        try body(bytes.extracting(range))
        offset = range.upperBound
      }
    }
  }

  /// Takes what a change has moved, in the order of the changes: what was noted last holds.
  ///
  /// Elements of a leaf that becomes the root are not named: in a list of one row nobody has to look for a
  /// leaf.
  typealias MoveNote = (LeafMove) -> Void
}

extension CountedList.Splice {
  /// Notes what of a run of leaves comes to lie in another leaf.
  ///
  /// - Parameters:
  ///   - run: The items of the leaves.
  ///   - ends: Where in the run's bytes each new leaf ends.
  ///   - blocks: The new leaves.
  mutating func noteMoves(_ run: Run, _ ends: [Int], _ blocks: [UInt64]) {
    var index = 0
    var start = 0
    for origin in origins {
      let end = start + origin.byteCount
      while start < end {
        let last = min(end, ends[index])
        if origin.block != blocks[index], start < last {
          moves.append(
            CountedList.LeafMove(
              block: blocks[index], isNew: origin.block == nil, items: run.bytes[start..<last]))
        }
        start = last
        if start == ends[index] { index += 1 }
      }
    }
  }
}
