import PandoLMDB

extension CountedList {
  /// Returns the number of elements.
  ///
  /// - Throws: ``CountedListError`` for a damaged row, or `LMDBError`.
  /// - Complexity: O(log *n*) for *n* rows in the table.
  func count(in snapshot: Snapshot) throws -> Int {
    try root(in: snapshot)?.elementCount ?? 0
  }

  /// Returns the bytes of one element.
  ///
  /// They live as long as the snapshot.
  ///
  /// - Throws: ``CountedListError`` for a damaged row, or `LMDBError`.
  /// - Complexity: O(log *n*); no copy, no allocation.
  /// - Precondition: `0 <= index < count`.
  @_lifetime(copy snapshot)
  func element(at index: Int, in snapshot: Snapshot) throws -> Span<UInt8> {
    guard var row = try root(in: snapshot), index >= 0, index < row.elementCount else {
      preconditionFailure("index \(index) is outside the list")
    }
    var position = index
    while row.level > 0 {
      let child = try row.child(at: position)
      position -= child.start
      row = try self.row(child.entry, level: row.level - 1, in: snapshot)
    }
    var range = try row.elementRange(at: 0)
    for _ in 0..<position {
      range = try row.elementRange(at: range.upperBound)
    }
    return row.payload.extracting(range)
  }

  /// Calls `body` for each element in a range of positions, in list order.
  ///
  /// - Parameters:
  ///   - range: The range of positions; `nil` means all.
  ///   - snapshot: The snapshot to read.
  ///   - leaves: The leaves to read, if the list has more than one row; `nil` means all.
  ///   - mayMatter: Receives a leaf's block, its items and their number; returns `false` to skip
  ///     them.
  ///   - body: Receives position and bytes, valid during the call; returns `false` to stop.
  /// - Throws: ``CountedListError`` for a damaged row, `LMDBError`, or the error of `body`.
  /// - Complexity: O(log *n* + *m*) for *m* visited elements. With `leaves`, it reads the rows
  ///   above the leaves, one for some 20 000 elements of 9 bytes. No copy, no allocation.
  /// - Precondition: The range lies within `0...count`.
  func forEach(
    in range: Range<Int>? = nil, of snapshot: Snapshot, leaves: [UInt64]? = nil,
    where mayMatter: (UInt64, Span<UInt8>, Int) -> Bool = { _, _, _ in true },
    _ body: (Int, Span<UInt8>) throws -> Bool
  ) throws {
    let root = try root(in: snapshot)
    let count = root?.elementCount ?? 0
    let range = range ?? 0..<count
    precondition(
      range.lowerBound >= 0 && range.upperBound <= count,
      "range \(range) is outside 0..<\(count)")
    guard let root, !range.isEmpty else { return }
    _ = try visit(root, startingAt: 0, range, of: snapshot, leaves, where: mayMatter, body)
  }

  /// Calls `body` for the elements below a row; `start` is the position of its first element.
  ///
  /// - Returns: `false` if `body` stopped.
  private func visit(
    _ row: Row, startingAt start: Int, _ range: Range<Int>, of snapshot: Snapshot,
    _ allLeaves: [UInt64]?, where mayMatter: (UInt64, Span<UInt8>, Int) -> Bool,
    _ body: (Int, Span<UInt8>) throws -> Bool
  ) throws -> Bool {
    if row.level == 0 {
      guard mayMatter(row.block, row.payload, row.itemCount) else { return true }
      return try visitLeaf(row, startingAt: start, range, body)
    }
    let first = try row.child(at: max(range.lowerBound - start, 0))
    var position = start + first.start
    let leaves = row.level == 1 ? allLeaves : nil
    var index = first.index
    while index < row.itemCount, position < range.upperBound {
      if let leaves {
        let next = try row.nextChild(in: leaves, from: index)
        position += next.start
        index = next.index
        if index == row.itemCount { break }
      }
      let entry = try row.entry(at: index)
      let child = try self.row(entry, level: row.level - 1, in: snapshot)
      let goesOn = try visit(
        child, startingAt: position, range, of: snapshot, allLeaves, where: mayMatter, body)
      guard goesOn else { return false }
      position += entry.elementCount
      index += 1
    }
    guard position >= min(range.upperBound, start + row.elementCount) else {
      throw row.damaged("fewer elements than the row says")
    }
    return true
  }

  private func visitLeaf(
    _ row: Row, startingAt start: Int, _ range: Range<Int>,
    _ body: (Int, Span<UInt8>) throws -> Bool
  ) throws -> Bool {
    let last = min(range.upperBound - start, row.itemCount)
    var offset = 0
    for index in 0..<last {
      let element = try row.elementRange(at: offset)
      offset = element.upperBound
      guard start &+ index >= range.lowerBound else { continue }
      guard try body(start &+ index, row.payload.extracting(element)) else { return false }
    }
    guard last < row.itemCount || offset == row.payload.count else {
      throw row.damaged("bytes after the last element")
    }
    return true
  }
}

extension CountedList {
  /// The row at which every search begins; `nil` for a list without elements.
  @_lifetime(copy snapshot)
  func root(in snapshot: Snapshot) throws -> Row? {
    let key = key(ofBlock: Self.rootBlock)
    guard let bytes = try snapshot.bytes(forKey: key.span, in: table) else { return nil }
    return try Row(bytes, list: number, block: Self.rootBlock)
  }

  /// The row of an entry.
  @_lifetime(copy snapshot)
  func row(_ entry: Entry, level: Int, in snapshot: Snapshot) throws -> Row {
    let key = key(ofBlock: entry.block)
    guard let bytes = try snapshot.bytes(forKey: key.span, in: table) else {
      throw CountedListError.damaged(list: number, block: entry.block, reason: "the row is missing")
    }
    let row = try Row(bytes, list: number, block: entry.block)
    guard row.level == level, row.elementCount == entry.elementCount else {
      throw row.damaged(
        "level \(row.level) with \(row.elementCount) elements, its parent says level \(level) "
          + "with \(entry.elementCount)")
    }
    return row
  }
}

extension CountedList {
  /// The figures of a list.
  struct Shape: Equatable, Sendable {
    var elementCount = 0
    /// The number of levels, including the leaves; 0 for an empty list.
    var height = 0
    var leafCount = 0
    /// The number of rows above the leaves.
    var innerRowCount = 0
    /// The number of bytes of all row values.
    var byteCount = 0
    /// The number of underfull leaves; at most every second one.
    var underfullLeafCount = 0
  }

  /// Walks the whole list and checks its invariants.
  ///
  /// Every row decodes and is reached exactly once, and no other row has a key of this list. Counts
  /// and levels agree. No row above the leaves except the root is underfull, and no two
  /// neighbouring leaves are.
  ///
  /// - Returns: The figures of the list.
  /// - Throws: ``CountedListError`` for the first violation, or `LMDBError`.
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
      let block = key.bigEndian(at: 8) ?? 0
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

/// The state of a walk over all rows.
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

  /// Checks a row and its descendants.
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
