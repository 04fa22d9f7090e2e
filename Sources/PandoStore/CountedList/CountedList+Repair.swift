import PandoLMDB

extension CountedList.Splice {
  /// Joins the touched rows with their neighbours where one of them would come out too empty.
  ///
  /// Afterwards no two rows next to each other are underfull, if none were before: the level has at
  /// most about eight times the rows it needs, and with elements of common size about twice.
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
      pieces = self.pieces(of: run)
      isFirst = false
    }
  }

  /// Whether a neighbour is taken to an underfull piece, or to the place where nothing is left.
  ///
  /// Two underfull rows must not stay side by side. Beyond that the first neighbour is taken when
  /// the two fit in one row or when it has items to share, not when it is one large element.
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
  /// The row of a level that holds a position.
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

  /// The way from the root to the row of a level that holds a position.
  ///
  /// The position behind the last element leads to the last leaf.
  func steps(
    to position: Int, downTo level: Int, in snapshot: Snapshot
  ) throws -> [Splice.Step] {
    guard var row = try root(in: snapshot) else {
      preconditionFailure("a list with position \(position) has a root")
    }
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
