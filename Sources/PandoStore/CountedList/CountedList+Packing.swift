extension CountedList {
  /// A part of a run that becomes one row.
  struct Piece: Hashable {
    /// Offsets in the bytes of the run.
    let bytes: Range<Int>
    let itemCount: Int
    let elementCount: Int

    /// Whether the row would be so empty that it looks for a neighbour to share with.
    var isUnderfull: Bool { bytes.count < Limits.payloadByteCountMin }
  }

  /// Where a run that is too large for one row is cut.
  enum Packing {
    /// Into rows of about the same size.
    case even

    /// The first row as full as it can be: what comes next is expected at the end.
    case firstRowFull

    /// The last row as full as it can be: what comes next is expected at the beginning.
    case lastRowFull
  }
}

extension CountedList.Run {
  typealias Limits = CountedList.Limits
  typealias Piece = CountedList.Piece

  /// Cuts the run into rows.
  ///
  /// A piece of more than one item fits in a row. Two pieces next to each other are never both
  /// underfull: a piece is closed early only before an item of more than half a row.
  ///
  /// - Parameter packing: Where to cut when one row is not enough.
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

  /// What a row should hold when as many bytes are left as given.
  ///
  /// Never less than half of what a row can hold while the rest needs more than one.
  private func evenTarget(forRest rest: Int) -> Int {
    let isLong = rest > 2 * Limits.payloadByteCountMax
    let fill = isLong ? Limits.payloadByteCountPacked : Limits.payloadByteCountMax
    return rest / ((rest + fill - 1) / fill)
  }

  /// Closes a piece before the item with which it would overflow or be farther from its target.
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

  /// Cuts in two before the first item that begins at an offset or later, or before the last.
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
