extension CountedList {
  /// Consecutive items of one level, in memory: of a row, or for new rows.
  struct Run: Equatable {
    /// 0 for elements, otherwise the level of the row of these items above the leaves.
    let level: Int

    /// The items, one after the other; see ``Entry`` and ``elementRange(in:at:)``.
    private(set) var bytes: [UInt8]

    private(set) var itemCount: Int

    /// The number of elements below all items; on level 0 the number of items.
    private(set) var elementCount: Int

    /// A run without items.
    init(level: Int) {
      self.level = level
      bytes = []
      itemCount = 0
      elementCount = 0
    }

    /// Makes the run of a row's items.
    init(level: Int, bytes: [UInt8], itemCount: Int, elementCount: Int) {
      self.level = level
      self.bytes = bytes
      self.itemCount = itemCount
      self.elementCount = elementCount
    }

    /// Makes a run of a level above the leaves.
    init(level: Int, entries: [Entry]) {
      self.init(level: level)
      bytes.reserveCapacity(entries.count * CountedList.entryByteCount)
      for entry in entries {
        entry.append(to: &bytes)
        elementCount += entry.elementCount
      }
      itemCount = entries.count
    }

    /// Makes a run of level 0.
    init(elements: some Sequence<[UInt8]>) throws(CountedListError) {
      self.init(level: 0)
      for element in elements {
        try append(element.span)
      }
    }
  }
}

extension CountedList.Run {
  typealias Entry = CountedList.Entry

  /// Appends an element to a run of level 0.
  mutating func append(_ element: Span<UInt8>) throws(CountedListError) {
    precondition(level == 0, "elements lie on level 0, this run is on level \(level)")
    try CountedList.append(element, to: &bytes)
    itemCount += 1
    elementCount += 1
  }

  /// Appends the items of another run of the same level.
  mutating func append(contentsOf other: Self) {
    precondition(level == other.level, "runs of levels \(level) and \(other.level)")
    bytes.append(contentsOf: other.bytes)
    itemCount += other.itemCount
    elementCount += other.elementCount
  }

  /// The end of the item at an offset, and its number of elements; `nil` if it is impossible.
  func item(at offset: Int) -> (end: Int, elementCount: Int)? {
    if level > 0 {
      guard let entry = Entry(in: bytes.span, at: offset) else { return nil }
      return (offset + CountedList.entryByteCount, entry.elementCount)
    }
    guard let range = CountedList.elementRange(in: bytes.span, at: offset) else { return nil }
    return (range.upperBound, 1)
  }

  /// Whether the bytes match the counts of items and elements.
  var isConsistent: Bool {
    var (offset, items, elements) = (0, 0, 0)
    while offset < bytes.count {
      guard let item = item(at: offset) else { return false }
      (offset, items, elements) = (item.end, items + 1, elements + item.elementCount)
    }
    return items == itemCount && elements == elementCount
  }

  /// The entries of a consistent run above the leaves.
  var entries: [Entry] {
    (0..<itemCount).compactMap {
      Entry(in: bytes.span, at: $0 * CountedList.entryByteCount)
    }
  }

  /// Replaces some items by others.
  ///
  /// - Returns: The range of the replaced bytes.
  /// - Precondition: The run is consistent, and `items` lies within it.
  @discardableResult
  mutating func replaceItems(_ items: Range<Int>, with other: Self) -> Range<Int> {
    precondition(level == other.level, "runs of levels \(level) and \(other.level)")
    let first = cut(before: items.lowerBound)
    let last = cut(before: items.upperBound, from: (items.lowerBound, first))
    bytes.replaceSubrange(first.offset..<last.offset, with: other.bytes)
    itemCount += other.itemCount - items.count
    elementCount += other.elementCount - (last.elementCount - first.elementCount)
    return first.offset..<last.offset
  }

  /// The first items of a consistent run.
  func prefix(_ count: Int) -> Self {
    let cut = cut(before: count)
    return Self(
      level: level, bytes: Array(bytes[..<cut.offset]), itemCount: count,
      elementCount: cut.elementCount)
  }

  /// The items of a consistent run from an index on.
  func suffix(from index: Int) -> Self {
    let cut = cut(before: index)
    return Self(
      level: level, bytes: Array(bytes[cut.offset...]), itemCount: itemCount - index,
      elementCount: elementCount - cut.elementCount)
  }

  /// The bytes and elements before an item.
  ///
  /// - Parameters:
  ///   - index: The item.
  ///   - start: An item before it, or the same, and the bytes and elements before that.
  /// - Returns: The number of bytes, and the number of elements.
  private func cut(
    before index: Int, from start: (index: Int, cut: (offset: Int, elementCount: Int)) = (0, (0, 0))
  ) -> (offset: Int, elementCount: Int) {
    precondition((start.index...itemCount).contains(index), "item \(index) of \(itemCount)")
    var (offset, elements) = start.cut
    for _ in start.index..<index {
      guard let item = item(at: offset) else { preconditionFailure("the run is consistent") }
      (offset, elements) = (item.end, elements + item.elementCount)
    }
    return (offset, elements)
  }
}

extension CountedList {
  /// A part of a run that becomes one row.
  struct Piece: Equatable {
    /// Offsets in the bytes of the run.
    let bytes: Range<Int>
    let itemCount: Int
    let elementCount: Int

    /// Whether the row would be so small that it is joined with a neighbour.
    var isUnderfull: Bool { bytes.count < Limits.payloadByteCountMin }
  }

  /// How a run that is too large for one row is cut.
  enum Packing {
    /// Into rows of about the same size.
    case even

    /// The first row is filled completely: the next insertion is expected at the end.
    case firstRowFull

    /// The last row is filled completely: the next insertion is expected at the beginning.
    case lastRowFull
  }
}

extension CountedList.Run {
  typealias Limits = CountedList.Limits
  typealias Piece = CountedList.Piece

  /// Cuts the run into rows.
  ///
  /// A piece of more than one item fits in a row. No two adjacent pieces are both underfull: a
  /// piece ends early only before an item of more than half a row.
  ///
  /// - Parameter packing: How to cut if one row is not enough.
  /// - Returns: The pieces in order; none for a run without items.
  /// - Precondition: The run is consistent.
  func pieces(_ packing: CountedList.Packing) -> [Piece] {
    if itemCount == 0 { return [] }
    if bytes.count <= Limits.payloadByteCountMax || itemCount == 1 {
      return [Piece(bytes: 0..<bytes.count, itemCount: itemCount, elementCount: elementCount)]
    }
    switch packing {
    case .even: return cut { evenTarget(forRest: $0) }
    case .firstRowFull: return cut { min($0, Limits.payloadByteCountMax) }
    case .lastRowFull:
      let pieces = cutOnce(before: bytes.count - Limits.payloadByteCountMax)
      let fits = pieces.allSatisfy {
        $0.itemCount == 1 || $0.bytes.count <= Limits.payloadByteCountMax
      }
      return fits ? pieces : self.pieces(.even)
    }
  }

  /// The target size of a row, given the number of bytes left.
  ///
  /// At least half of a row's capacity while the rest needs more than one row.
  private func evenTarget(forRest rest: Int) -> Int {
    let isLong = rest > 2 * Limits.payloadByteCountMax
    let fill = isLong ? Limits.payloadByteCountPacked : Limits.payloadByteCountMax
    return rest / ((rest + fill - 1) / fill)
  }

  /// Ends a piece before the item that would overflow it or move it away from its target.
  private func cut(_ target: (_ rest: Int) -> Int) -> [Piece] {
    var pieces: [Piece] = []
    var (start, end, items, elements) = (0, 0, 0, 0)
    var wanted = target(bytes.count)
    while end < bytes.count {
      guard let item = item(at: end) else { preconditionFailure("the run is consistent") }
      let grown = item.end - start
      let overshoot = grown - wanted
      let isClosed = grown > Limits.payloadByteCountMax || overshoot > wanted - (end - start)
      if isClosed, items > 0 {
        pieces.append(Piece(bytes: start..<end, itemCount: items, elementCount: elements))
        (start, items, elements) = (end, 0, 0)
        wanted = target(bytes.count - start)
      }
      (end, items, elements) = (item.end, items + 1, elements + item.elementCount)
    }
    pieces.append(Piece(bytes: start..<end, itemCount: items, elementCount: elements))
    return pieces
  }

  /// Cuts in two before the first item at or after an offset, or before the last item.
  private func cutOnce(before offset: Int) -> [Piece] {
    var (end, items, elements) = (0, 0, 0)
    while end < offset || items == 0, items < itemCount - 1 {
      guard let item = item(at: end) else { preconditionFailure("the run is consistent") }
      (end, items, elements) = (item.end, items + 1, elements + item.elementCount)
    }
    return [
      Piece(bytes: 0..<end, itemCount: items, elementCount: elements),
      Piece(
        bytes: end..<bytes.count, itemCount: itemCount - items,
        elementCount: elementCount - elements),
    ]
  }
}
