extension CountedList {
  /// Successive elements that a change moved to another leaf.
  struct LeafMove {
    /// The present leaf; ``CountedList/rootBlock`` if the list is one row.
    let block: UInt64
    /// Whether they were in no leaf before, because they were inserted or replaced others.
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

  /// Receives the moves of a change in order; later ones override earlier ones.
  ///
  /// It does not receive elements of a leaf that becomes the root: a list of one row needs no
  /// search for a leaf.
  typealias MoveNote = (LeafMove) -> Void
}

extension CountedList.Splice {
  /// Notes the elements of a run of leaves that are now in another leaf.
  ///
  /// - Parameters:
  ///   - run: The items of the leaves.
  ///   - ends: The end of each new leaf in the bytes of the run.
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
