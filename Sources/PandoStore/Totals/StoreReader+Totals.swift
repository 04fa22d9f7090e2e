import PandoLMDB
import PandoModels
import PandoSystem

/// Totals of the ranges of an index, from its rows and those of ``TotalRow``.
extension StoreReader {
  /// The total of the rows of an index in a range of values.
  ///
  /// - Complexity: O(log *n*) for *n* rows.
  func total(of index: StoredIndex, in range: IndexRange) throws -> RangeTotal {
    var total = try total(of: index, below: range.upper)
    if !range.lower.isEmpty { total.remove(try self.total(of: index, below: range.lower)) }
    return total
  }

  /// The total of the rows of an index below a key, which lacks the index number; of all for `nil`.
  func total(of index: StoredIndex, below key: [UInt8]?) throws -> RangeTotal {
    var total = RangeTotal(of: index)
    // The range of the level below in which the key is.
    var start: [UInt8] = []
    // The last row of a level in its reused room: the key is in its range, so only those before count.
    var (lastKey, last): ([UInt8], [UInt8]) = ([], [])
    for level in stride(from: try totalLevelCount(of: index), through: 1, by: -1) {
      last.removeAll(keepingCapacity: true)
      let prefix = index.totalsPrefix(level: level)
      try snapshot.scan(
        tables.indexRows, from: prefix + start, upTo: Self.end(of: prefix, notAbove: key)
      ) { row, value in
        if !last.isEmpty { try total.add(last.span) }
        last.replace(with: value)
        lastKey.replace(with: row.extracting(prefix.count..<row.count))
        return true
      }
      if last.isEmpty { continue }
      if key == nil {
        try total.add(last.span)
        return total
      }
      start = lastKey
    }
    guard let key else { return total }
    try snapshot.scan(
      tables.indexRows, from: index.prefix + start, upTo: index.prefix + key
    ) { _, value in
      try total.change(by: value, isAdded: true)
      return true
    }
    return total
  }

  /// The first bytes after the rows of a level that begin at a key or before it.
  private static func end(of prefix: [UInt8], notAbove key: [UInt8]?) -> [UInt8]? {
    key.map { prefix + $0 + [0] } ?? IndexRange.successor(of: prefix)
  }

  /// The key of the row of an index that has a number of rows before it, without the index number.
  ///
  /// - Parameters:
  ///   - place: The number of rows before it.
  ///   - index: An index with totals.
  /// - Returns: `nil` if the index has no such row.
  /// - Throws: ``StoreError`` `damaged`; `LMDBError`.
  /// - Complexity: O(log *n*) for *n* rows.
  func rowKey(at place: Int, of index: StoredIndex) throws -> [UInt8]? {
    var rest = place
    var start: [UInt8] = []
    for level in stride(from: try totalLevelCount(of: index), through: 1, by: -1) {
      let prefix = index.totalsPrefix(level: level)
      var found: [UInt8]?
      try snapshot.scan(
        tables.indexRows, from: prefix + start, upTo: IndexRange.successor(of: prefix)
      ) { row, value in
        let rowCount = try TotalRow(value, of: index).total.rowCount
        if rest < rowCount {
          found = Array(copying: row.extracting(prefix.count..<row.count))
          return false
        }
        rest -= rowCount
        return true
      }
      guard let found else { return nil }
      start = found
    }
    var key: [UInt8]?
    try snapshot.scan(
      tables.indexRows, from: index.prefix + start, upTo: IndexRange.successor(of: index.prefix)
    ) { row, _ in
      if rest == 0 { key = Array(copying: row.extracting(StoredIndex.numberByteCount..<row.count)) }
      rest -= 1
      return rest >= 0
    }
    return key
  }

  /// The number of levels of totals; 0 for an index without rows.
  func totalLevelCount(of index: StoredIndex) throws -> Int {
    let prefix = index.totalsPrefix
    guard let end = IndexRange.successor(of: prefix) else { return 0 }
    var cursor = try snapshot.cursor(in: tables.indexRows)
    guard try cursor.move(toLastBelow: end.span), let key = cursor.key, key.count > prefix.count,
      key.extracting(0..<prefix.count).hasSameBytes(as: prefix.span)
    else { return 0 }
    return Int(key[prefix.count])
  }
}

extension [UInt8] {
  /// Takes other bytes into the same room.
  fileprivate mutating func replace(with bytes: Span<UInt8>) {
    removeAll(keepingCapacity: true)
    // Read during the call only.
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}

/// The check of the totals.
extension StoreReader {
  /// The nodes whose rows do not have the numbers of their records.
  func nodesWithWrongNumbers(of index: StoredIndex) throws -> [UInt64] {
    guard index.keepsTotals else { return [] }
    var wrong: [UInt64] = []
    try snapshot.scan(tables.indexRows, prefix: index.prefix) { key, value in
      guard let node = StoredIndex.node(ofRow: key),
        let body = try body(of: RecordKey(type: index.type, node: node))
      else { return true }
      let numbers = try index.rowValue(in: body)
      if !numbers.span.hasSameBytes(as: value) { wrong.append(node) }
      return true
    }
    return wrong
  }

  /// The totals above the rows of an index (level 0) or above a level, and whether they are right.
  func totals(
    above level: Int, of index: StoredIndex
  ) throws -> [(key: [UInt8], bytes: [UInt8], isRight: Bool)] {
    var totals: [(key: [UInt8], bytes: [UInt8], isRight: Bool)] = []
    let prefix = index.totalsPrefix(level: level + 1)
    try snapshot.scan(tables.indexRows, prefix: prefix) { key, value in
      totals.append(
        (Array(copying: key.extracting(prefix.count..<key.count)), Array(copying: value), false))
      return true
    }
    let below = level == 0 ? index.prefix : index.totalsPrefix(level: level)
    for place in totals.indices {
      let upper =
        place + 1 < totals.count
        ? below + totals[place + 1].key : IndexRange.successor(of: below)
      var expected = TotalRow(of: index)
      try snapshot.scan(
        tables.indexRows, from: below + totals[place].key, upTo: upper
      ) { _, value in
        try expected.addMember(value, ofLevel: level)
        return true
      }
      totals[place].isRight =
        expected.bytes == totals[place].bytes && (place > 0 || totals[place].key.isEmpty)
    }
    return totals
  }
}
