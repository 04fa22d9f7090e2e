import PandoLMDB
import PandoModels
import PandoSystem

/// Totals of the ranges of an index.
///
/// Changes of index rows are collected, and brought into the totals before a read and at the end of a flush:
/// first into those of rows, then level by level, so that the totals above divide what is final below.
extension WriteSession {
  /// A row that came to an index with totals, or left it.
  ///
  /// A class, because sorting moves one reference and not two arrays.
  final class RowChange {
    /// The key of the row, without the index number.
    let key: [UInt8]
    let value: [UInt8]
    let isAdded: Bool

    init(_ row: [UInt8], _ value: [UInt8], isAdded: Bool) {
      key = Array(row[StoredIndex.numberByteCount...])
      self.value = value
      self.isAdded = isAdded
    }
  }

  /// A change of the members of a row of totals.
  private struct MemberChange {
    /// A key in its range.
    let key: [UInt8]
    /// How many members have come.
    var memberCount: Int
    var total: RangeTotal
  }

  /// Puts a row that may be there into an index.
  func put(row key: [UInt8], _ value: [UInt8], of index: StoredIndex) throws {
    if index.keepsTotals {
      let former = try formerRow(key)
      if former == value { return }
      if let former { note(row: key, former, isAdded: false, of: index) }
      note(row: key, value, isAdded: true, of: index)
    }
    try put(value.span, forKey: key.span, in: tables.indexRows)
  }

  /// Puts a row that is not there into an index.
  func putNew(row key: [UInt8], _ value: [UInt8], of index: StoredIndex) throws {
    if index.keepsTotals { note(row: key, value, isAdded: true, of: index) }
    try put(value.span, forKey: key.span, in: tables.indexRows)
  }

  /// Deletes a row with a known value.
  ///
  /// - Returns: Whether it was there.
  func delete(row key: [UInt8], _ value: [UInt8], of index: StoredIndex) throws -> Bool {
    guard try deleteRow(key.span, in: tables.indexRows) else { return false }
    if index.keepsTotals { note(row: key, value, isAdded: false, of: index) }
    return true
  }

  /// Deletes a row of an index.
  ///
  /// - Returns: Whether it was there.
  @discardableResult
  func delete(row key: [UInt8], of index: StoredIndex) throws -> Bool {
    if index.keepsTotals, let former = try formerRow(key) {
      note(row: key, former, isAdded: false, of: index)
    }
    return try deleteRow(key.span, in: tables.indexRows)
  }

  private func formerRow(_ key: [UInt8]) throws -> [UInt8]? {
    try reading { reader in
      guard let row = try reader.snapshot.bytes(forKey: key.span, in: tables.indexRows) else {
        return nil
      }
      return Array(copying: row)
    }
  }

  private func note(row key: [UInt8], _ value: [UInt8], isAdded: Bool, of index: StoredIndex) {
    state.rowChanges[index.number, default: []].append(RowChange(key, value, isAdded: isAdded))
  }

  /// Brings the changes of rows into the totals.
  func settleTotals() throws {
    if state.rowChanges.isEmpty { return }
    for (number, changes) in exchange(&state.rowChanges, with: [:]) {
      let indexes = state.indexes?.values.first { $0.contains { $0.number == number } }
      guard let index = indexes?.first(where: { $0.number == number }) else { continue }
      var members: [MemberChange] = []
      for change in changes.ordered(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        var total = RangeTotal(of: index)
        let value = change.value
        try total.change(by: value.span, isAdded: change.isAdded)
        members.append(MemberChange(key: change.key, memberCount: total.rowCount, total: total))
      }
      var level = 1
      while !members.isEmpty {
        members = try change(members, at: level, of: index)
        level += 1
      }
    }
  }

  /// Makes all totals of an index from its rows.
  func makeTotals(of index: StoredIndex) throws {
    guard index.keepsTotals else { return }
    state.rowChanges[index.number] = nil
    var level = 1
    while try divide(level: level, from: [], upTo: nil, of: index) > TotalRow.memberCountMaximum {
      level += 1
    }
  }

  /// Removes the totals of an index, or the numbers of its words.
  func deleteTotals(of index: StoredIndex) throws {
    state.rowChanges[index.number] = nil
    state.wordChanges[index.number] = nil
    try deleteTotals(from: index.totalsPrefix, upTo: IndexRange.successor(of: index.totalsPrefix))
  }

  private func deleteTotals(from lower: [UInt8], upTo upper: [UInt8]?) throws {
    var keys: [[UInt8]] = []
    try reading { reader in
      try reader.snapshot.scan(tables.indexRows, from: lower, upTo: upper) { key, _ in
        keys.append(Array(copying: key))
        return true
      }
    }
    for key in keys { try deleteRow(key.span, in: tables.indexRows) }
  }

  /// Changes the totals of a level.
  ///
  /// - Parameters:
  ///   - changes: The changes of their members, by key.
  ///   - level: The level.
  ///   - index: The index.
  /// - Returns: The changes for the level above.
  /// - Throws: ``StoreError`` `damaged`; `LMDBError`.
  private func change(
    _ changes: [MemberChange], at level: Int, of index: StoredIndex
  ) throws -> [MemberChange] {
    var above: [MemberChange] = []
    var rest = changes[...]
    while let first = rest.first {
      guard var found = try totalRow(around: first.key, level, index) else {
        // The level begins when the rows of the one below are too many.
        if level > 1, try totalCount(level - 1, index) <= TotalRow.memberCountMaximum { return [] }
        let count = try divide(level: level, from: [], upTo: nil, of: index)
        if count <= TotalRow.memberCountMaximum { return [] }
        return [MemberChange(key: [], memberCount: 0, total: RangeTotal(of: index))]
      }
      var change = MemberChange(key: found.key, memberCount: 0, total: RangeTotal(of: index))
      while let next = rest.first,
        found.upper.map({ next.key.lexicographicallyPrecedes($0) }) ?? true
      {
        found.row.memberCount += next.memberCount
        change.total.add(next.total)
        rest.removeFirst()
      }
      found.row.total.add(change.total)
      let key = index.totalsPrefix(level: level) + found.key
      if found.row.memberCount > TotalRow.memberCountMaximum {
        change.memberCount =
          try divide(level: level, from: found.key, upTo: found.upper, of: index) - 1
      } else if found.row.total.rowCount == 0, try !begins(level + 1, with: found.key, index) {
        for level in 1...level {
          let prefix = index.totalsPrefix(level: level)
          try deleteTotals(
            from: prefix + found.key,
            upTo: found.upper.map { prefix + $0 } ?? IndexRange.successor(of: prefix))
        }
        change.memberCount = -1
      } else {
        try put(found.row.bytes.span, forKey: key.span, in: tables.indexRows)
      }
      above.append(change)
    }
    return above
  }

  /// The row of a level whose range contains a key, and the end of the range.
  private func totalRow(
    around key: [UInt8], _ level: Int, _ index: StoredIndex
  ) throws -> (key: [UInt8], upper: [UInt8]?, row: TotalRow)? {
    let prefix = index.totalsPrefix(level: level)
    func rest(_ key: Span<UInt8>?) -> [UInt8]? {
      guard let key, key.count >= prefix.count,
        key.extracting(0..<prefix.count).hasSameBytes(as: prefix.span)
      else { return nil }
      return Array(copying: key.extracting(prefix.count..<key.count))
    }
    return try reading { reader in
      var cursor = try reader.snapshot.cursor(in: tables.indexRows)
      guard try cursor.move(toLastBelow: (prefix + key + [0]).span), let found = rest(cursor.key),
        let value = cursor.value
      else { return nil }
      let row = try TotalRow(value, of: index)
      let upper = try cursor.moveToNext() ? rest(cursor.key) : nil
      return (found, upper, row)
    }
  }

  /// Whether a range of a level begins with a key.
  private func begins(_ level: Int, with key: [UInt8], _ index: StoredIndex) throws -> Bool {
    if key.isEmpty { return true }
    return try reading { reader in
      try reader.snapshot.bytes(
        forKey: (index.totalsPrefix(level: level) + key).span, in: tables.indexRows) != nil
    }
  }

  private func totalCount(_ level: Int, _ index: StoredIndex) throws -> Int {
    var count = 0
    try reading { reader in
      try reader.snapshot.scan(tables.indexRows, prefix: index.totalsPrefix(level: level)) { _, _ in
        count += 1
        return count <= TotalRow.memberCountMaximum
      }
    }
    return count
  }

  /// Divides the members in a range of a level among new rows; the first one begins with the range.
  ///
  /// - Returns: The number of the rows.
  private func divide(
    level: Int, from lower: [UInt8], upTo upper: [UInt8]?, of index: StoredIndex
  ) throws -> Int {
    var rows: [(key: [UInt8], row: TotalRow)] = [(lower, TotalRow(of: index))]
    let below = level == 1 ? index.prefix : index.totalsPrefix(level: level - 1)
    try reading { reader in
      try reader.snapshot.scan(
        tables.indexRows, from: below + lower,
        upTo: upper.map { below + $0 } ?? IndexRange.successor(of: below)
      ) { key, value in
        if rows[rows.count - 1].row.memberCount == TotalRow.newMemberCount {
          let start = Array(copying: key.extracting(below.count..<key.count))
          rows.append((start, TotalRow(of: index)))
        }
        try rows[rows.count - 1].row.addMember(value, ofLevel: level - 1)
        return true
      }
    }
    let prefix = index.totalsPrefix(level: level)
    for (key, row) in rows {
      try put(row.bytes.span, forKey: (prefix + key).span, in: tables.indexRows)
    }
    return rows.count
  }
}
