import PandoLMDB

extension CountedList {
  /// What a list is made of.
  struct Shape: Hashable, Sendable {
    var elementCount = 0
    /// Levels with the leaves; 0 for an empty list.
    var height = 0
    var leafCount = 0
    /// Rows above the leaves.
    var innerRowCount = 0
    /// Bytes of the values of all rows.
    var byteCount = 0
    /// Leaves that hold less than they should; at most every second one.
    var underfullLeafCount = 0
  }

  /// Walks the whole list and checks what must be true of it.
  ///
  /// Every row decodes and is reached exactly once, no other row has a key of this list, counts and
  /// levels agree from row to row, no row above the leaves is underfull but the root, and of two
  /// neighbouring leaves at least one is not.
  ///
  /// - Returns: What the list is made of.
  /// - Throws: ``CountedListError`` for the first thing that is wrong, or `LMDBError`.
  /// - Complexity: O(*n*).
  @discardableResult
  func checkInvariants(in snapshot: Snapshot) throws -> Shape {
    var check = InvariantCheck(self)
    if let root = try root(in: snapshot) {
      check.nextBlock = root.nextBlock
      try check.visit(root, in: snapshot)
      check.shape.elementCount = root.elementCount
      check.shape.height = root.level + 1
    }
    try snapshot.scan(table, prefix: keyPrefix) { key, value in
      guard key.count == 16 else {
        throw damaged(Self.rootBlock, "a key of \(key.count) bytes begins like a key of the list")
      }
      let block = [UInt8](copying: key.extracting(8...)).reduce(0) { $0 << 8 | UInt64($1) }
      guard check.reached.contains(block) else { throw damaged(block, "no row leads to this one") }
      check.shape.byteCount += value.count
      return true
    }
    return check.shape
  }

  fileprivate func damaged(_ block: UInt64, _ reason: String) -> CountedListError {
    .damaged(list: number, block: block, reason: reason)
  }
}

/// What a walk over all rows has seen so far.
private struct InvariantCheck {
  typealias Limits = CountedList.Limits

  let list: CountedList
  var shape = CountedList.Shape()
  var reached: Set<UInt64> = []
  var nextBlock: UInt64 = 0
  private var isLastLeafUnderfull = false

  init(_ list: CountedList) {
    self.list = list
  }

  /// Checks a row and all beneath it.
  mutating func visit(_ row: CountedList.Row, in snapshot: Snapshot) throws {
    guard reached.insert(row.block).inserted else { throw row.damaged("two rows lead to it") }
    guard row.block & ~CountedList.leafBit < nextBlock else {
      throw row.damaged("next block is \(nextBlock)")
    }
    let run = try row.run()
    let isUnderfull =
      row.block != CountedList.rootBlock && run.bytes.count < Limits.payloadByteCountMin
    if row.level == 0 {
      guard !(isUnderfull && isLastLeafUnderfull) else {
        throw row.damaged("this leaf and the one before it are underfull")
      }
      isLastLeafUnderfull = isUnderfull
      shape.underfullLeafCount += isUnderfull ? 1 : 0
      shape.leafCount += 1
      return
    }
    guard !isUnderfull, run.itemCount > 1 else {
      throw row.damaged("only \(run.itemCount) children")
    }
    shape.innerRowCount += 1
    for entry in run.entries {
      try visit(list.row(entry, level: row.level - 1, in: snapshot), in: snapshot)
    }
  }
}
