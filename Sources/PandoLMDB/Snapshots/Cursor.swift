/// A position in a table, to walk from key to key in both directions.
///
/// ```swift
/// try environment.read { snapshot in
///   var cursor = try snapshot.cursor(in: table)
///   while try cursor.moveToNext() { print(cursor.key?.count ?? 0, cursor.value?.count ?? 0) }
/// }
/// ```
///
/// It begins without an entry: move it before reading ``key``. Like its snapshot, it can't leave
/// the closure; the bytes of its entry live as long as that snapshot.
///
/// - Note: One thread at a time uses a cursor.
public struct Cursor: ~Copyable, ~Escapable {
  private var handle: CursorHandle
  /// The current entry; `nowhere` after a move that found none, or before the first move.
  ///
  /// The bytes stay in the map as long as the cursor's snapshot.
  @usableFromInline internal private(set) var entry = CursorEntry.nowhere

  @_lifetime(copy snapshot)
  init(_ snapshot: Snapshot, _ table: RawTable) throws(LMDBError) {
    handle = try CursorHandle(snapshot.handle, table)
  }

  /// The key of the current entry; `nil` after a move that found none, or before the first move.
  @inlinable
  public var key: Span<UInt8>? {
    @_lifetime(copy self)
    get {
      guard entry.isSomewhere else { return nil }
      // The bytes outlive `self`, see `entry`.
      return unsafe _overrideLifetime(Span(_unsafeBytes: entry.key), copying: self)
    }
  }

  /// The value of the current entry; `nil` after a move that found none, or before the first move.
  @inlinable
  public var value: Span<UInt8>? {
    @_lifetime(copy self)
    get {
      guard entry.isSomewhere else { return nil }
      // As for `key`.
      return unsafe _overrideLifetime(Span(_unsafeBytes: entry.value), copying: self)
    }
  }

  /// Moves to the first key.
  ///
  /// - Returns: `false` if the table is empty.
  /// - Throws: ``LMDBError`` if the file is damaged.
  /// - Complexity: O(log *n*) for *n* keys in the table.
  @_lifetime(self: copy self)
  public mutating func moveToFirst() throws(LMDBError) -> Bool {
    defer { entry = handle.entry }
    return try handle.moveToFirst()
  }

  /// Moves to the last key.
  ///
  /// - Returns: `false` if the table is empty.
  /// - Throws: ``LMDBError`` if the file is damaged.
  /// - Complexity: O(log *n*) for *n* keys in the table.
  @_lifetime(self: copy self)
  public mutating func moveToLast() throws(LMDBError) -> Bool {
    defer { entry = handle.entry }
    return try handle.moveToLast()
  }

  /// Moves to the next key; without an entry, to the first one.
  ///
  /// - Returns: `false` after the last key.
  /// - Throws: ``LMDBError`` if the file is damaged.
  /// - Complexity: O(1) on average.
  @_lifetime(self: copy self)
  public mutating func moveToNext() throws(LMDBError) -> Bool {
    defer { entry = handle.entry }
    return try handle.moveToNext()
  }

  /// Moves to the previous key; without an entry, to the last one.
  ///
  /// - Returns: `false` before the first key.
  /// - Throws: ``LMDBError`` if the file is damaged.
  /// - Complexity: O(1) on average.
  @_lifetime(self: copy self)
  public mutating func moveToPrevious() throws(LMDBError) -> Bool {
    defer { entry = handle.entry }
    return try handle.moveToPrevious()
  }

  /// Moves to a key, or to the first one above it.
  ///
  /// - Parameter key: Any bytes; empty bytes mean the first key.
  /// - Returns: `false` if the table has no key at or above it.
  /// - Throws: ``LMDBError`` if the file is damaged.
  /// - Complexity: O(log *n*) for *n* keys in the table.
  @_lifetime(self: copy self)
  public mutating func move(toFirstNotBelow key: Span<UInt8>) throws(LMDBError) -> Bool {
    defer { entry = handle.entry }
    return try handle.seek(key)
  }

  /// Moves to the last key below another.
  ///
  /// - Parameter key: Any bytes.
  /// - Returns: `false` if the table has no key below it.
  /// - Throws: ``LMDBError`` if the file is damaged.
  /// - Complexity: O(log *n*) for *n* keys in the table.
  @_lifetime(self: copy self)
  public mutating func move(toLastBelow key: Span<UInt8>) throws(LMDBError) -> Bool {
    defer { entry = handle.entry }
    return try handle.seekLast(below: key)
  }
}

extension Snapshot {
  /// Makes a cursor in a table.
  ///
  /// - Parameter table: A table opened in this environment.
  /// - Returns: A cursor without an entry.
  /// - Throws: ``LMDBError`` with code `badTable` if the table was opened after this snapshot.
  /// - Complexity: O(1), one allocation.
  @_lifetime(copy self)
  public func cursor(in table: RawTable) throws(LMDBError) -> Cursor {
    try Cursor(self, table)
  }
}

extension Snapshot {
  /// Calls `body` for each key in a range, in key order.
  ///
  /// - Parameters:
  ///   - table: A table opened in this environment.
  ///   - lower: The first key, inclusive; `nil` starts at the beginning.
  ///   - upper: The end, exclusive; `nil` goes to the end of the table.
  ///   - reversed: Whether to visit the keys in descending order.
  ///   - body: Receives key and value, valid during the call; returns `false` to stop.
  /// - Throws: ``LMDBError``, or the error of `body`.
  /// - Complexity: O(log *n* + *m*) for *m* visited keys; one allocation, for the cursor.
  public func scan(
    _ table: RawTable, from lower: [UInt8]? = nil, upTo upper: [UInt8]? = nil,
    reversed: Bool = false, _ body: (Span<UInt8>, Span<UInt8>) throws -> Bool
  ) throws {
    var cursor = try CursorHandle(handle, table)
    if reversed {
      try cursor.visitReversed(from: lower, upTo: upper, body)
    } else {
      try cursor.visit(from: lower, upTo: upper, body)
    }
  }

  /// Calls `body` for each key with a prefix, in key order.
  ///
  /// - Parameters:
  ///   - table: A table opened in this environment.
  ///   - prefix: The first bytes of the keys; an empty prefix means all keys.
  ///   - reversed: Whether to visit the keys in descending order.
  ///   - body: Receives key and value, valid during the call; returns `false` to stop.
  /// - Throws: ``LMDBError``, or the error of `body`.
  /// - Complexity: O(log *n* + *m*) for *m* visited keys; one allocation, for the cursor.
  public func scan(
    _ table: RawTable, prefix: [UInt8], reversed: Bool = false,
    _ body: (Span<UInt8>, Span<UInt8>) throws -> Bool
  ) throws {
    let upper = keyAfterPrefix(prefix)
    try scan(
      table, from: prefix.isEmpty ? nil : prefix, upTo: upper, reversed: reversed, body)
  }
}

extension Snapshot {
  /// Counts the keys in a range.
  ///
  /// If a page lies in the range as a whole, only its count is read.
  ///
  /// - Parameters:
  ///   - table: A table opened in this environment.
  ///   - lower: The first key, inclusive.
  ///   - upper: The end, exclusive; `nil` goes to the end of the table.
  ///   - limit: The number at which counting stops.
  /// - Returns: The number of keys, at most `limit`.
  /// - Throws: ``LMDBError``.
  /// - Complexity: O(log *n* + *p*) for *p* pages of the range.
  package func count(
    in table: RawTable, from lower: [UInt8], upTo upper: [UInt8]?, atMost limit: Int = .max
  ) throws(LMDBError) -> Int {
    var cursor = try CursorHandle(handle, table)
    var isFound = try cursor.seek(lower.span)
    var count = 0
    while isFound, count < limit {
      if let upper, !cursor.entry.keySpan.isLess(than: upper.span) { break }
      count += 1 + cursor.skipPage(below: upper)
      isFound = try cursor.moveToNext()
    }
    return min(count, limit)
  }
}

/// The first key above every key with a prefix; `nil` if there is none.
package func keyAfterPrefix(_ prefix: [UInt8]) -> [UInt8]? {
  var key = prefix
  while let last = key.popLast() {
    if last < .max {
      key.append(last + 1)
      return key
    }
  }
  return nil
}

extension CursorHandle {
  /// Visits the keys of a range in ascending order.
  fileprivate mutating func visit(
    from lower: [UInt8]?, upTo upper: [UInt8]?,
    _ body: (Span<UInt8>, Span<UInt8>) throws -> Bool
  ) throws {
    var isFound = try lower.map { try seek($0.span) } ?? moveToFirst()
    while isFound {
      if let upper, !entry.keySpan.isLess(than: upper.span) { return }
      guard try body(entry.keySpan, entry.valueSpan) else { return }
      isFound = try moveToNext()
    }
  }

  /// Visits the keys of a range in descending order.
  fileprivate mutating func visitReversed(
    from lower: [UInt8]?, upTo upper: [UInt8]?,
    _ body: (Span<UInt8>, Span<UInt8>) throws -> Bool
  ) throws {
    var isFound = try seekLast(below: upper?.span)
    while isFound {
      if let lower, entry.keySpan.isLess(than: lower.span) { return }
      guard try body(entry.keySpan, entry.valueSpan) else { return }
      isFound = try moveToPrevious()
    }
  }
}

/// A key and its value in the map, decoded on access.
///
/// ```swift
/// try environment.read { snapshot in
///   try snapshot.scan(ages) { entry in
///     print(try entry.key, try entry.value)
///     return true  // false ends the scan
///   }
/// }
/// ```
///
/// It lives as long as the call that receives it.
///
/// - Note: It belongs to the reading thread: it can't leave the closure.
public struct Entry<Key, Value>: ~Escapable {
  /// The encoded key.
  public let keyBytes: Span<UInt8>
  /// The encoded value.
  public let valueBytes: Span<UInt8>
  private let table: Table<Key, Value>

  @_lifetime(copy keyBytes, copy valueBytes)
  init(_ keyBytes: Span<UInt8>, _ valueBytes: Span<UInt8>, _ table: Table<Key, Value>) {
    self.keyBytes = keyBytes
    self.valueBytes = valueBytes
    self.table = table
  }

  /// The key; decoded each time.
  public var key: Key {
    get throws { try table.keys.decode(keyBytes) }
  }

  /// The value; decoded each time.
  public var value: Value {
    get throws { try table.values.decode(valueBytes) }
  }
}
