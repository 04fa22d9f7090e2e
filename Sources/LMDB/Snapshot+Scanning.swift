import CLMDB

extension Snapshot {
  /// Calls `body` for each key in a range, in key order.
  ///
  /// - Parameters:
  ///   - table: A table opened in this environment.
  ///   - lower: The first key, if it is there; `nil` starts at the beginning.
  ///   - upper: The key to stop before; `nil` goes to the end.
  ///   - reversed: Whether to go from the end of the range to its beginning.
  ///   - body: Gets key and value, which live during the call; returns `false` to stop.
  /// - Throws: ``LMDBError``, or what `body` throws.
  /// - Complexity: O(log *n* + *m*) for *m* keys visited; one allocation, for the cursor.
  public func scan(
    _ table: RawTable, from lower: [UInt8]? = nil, upTo upper: [UInt8]? = nil,
    reversed: Bool = false, _ body: (Span<UInt8>, Span<UInt8>) throws -> Bool
  ) throws {
    let scanner = try RangeScanner(handle, table)
    if reversed {
      try scanner.scanReversed(from: lower, upTo: upper, body)
    } else {
      try scanner.scan(from: lower, upTo: upper, body)
    }
  }

  /// Calls `body` for each key with a prefix, in key order.
  ///
  /// - Parameters:
  ///   - table: A table opened in this environment.
  ///   - prefix: What the keys begin with; an empty one means all keys.
  ///   - reversed: Whether to begin with the last key.
  ///   - body: Gets key and value, which live during the call; returns `false` to stop.
  /// - Throws: ``LMDBError``, or what `body` throws.
  /// - Complexity: O(log *n* + *m*) for *m* keys visited; one allocation, for the cursor.
  public func scan(
    _ table: RawTable, prefix: [UInt8], reversed: Bool = false,
    _ body: (Span<UInt8>, Span<UInt8>) throws -> Bool
  ) throws {
    let upper = keyAfterPrefix(prefix)
    try scan(
      table, from: prefix.isEmpty ? nil : prefix, upTo: upper, reversed: reversed, body)
  }
}

/// The first key that is above every key with a prefix; `nil` if there is none.
func keyAfterPrefix(_ prefix: [UInt8]) -> [UInt8]? {
  var key = prefix
  while let last = key.popLast() {
    if last < .max {
      key.append(last + 1)
      return key
    }
  }
  return nil
}

/// A cursor that walks a range.
///
/// LMDB keeps what a cursor returns in place until the transaction ends or changes something; it
/// can't change while a snapshot of it is in use.
@safe
struct RangeScanner: ~Copyable {
  private let cursor: OpaquePointer

  init(_ handle: UnsafeSnapshotHandle, _ table: RawTable) throws(LMDBError) {
    unsafe cursor = try handle.openCursor(table)
  }

  deinit {
    unsafe mdb_cursor_close(cursor)
  }

  func scan(
    from lower: [UInt8]?, upTo upper: [UInt8]?,
    _ body: (Span<UInt8>, Span<UInt8>) throws -> Bool
  ) throws {
    var key = unsafe MDB_val()
    var value = unsafe MDB_val()
    var isFound = try unsafe seekFirst(from: lower, &key, &value)
    while isFound {
      if let upper, unsafe !key.span.isLess(than: upper.span) { return }
      guard try unsafe body(key.span, value.span) else { return }
      isFound = try unsafe checkFound(
        mdb_cursor_get(cursor, &key, &value, MDB_NEXT), "mdb_cursor_get")
    }
  }

  func scanReversed(
    from lower: [UInt8]?, upTo upper: [UInt8]?,
    _ body: (Span<UInt8>, Span<UInt8>) throws -> Bool
  ) throws {
    var key = unsafe MDB_val()
    var value = unsafe MDB_val()
    var isFound = try unsafe seekLast(below: upper, &key, &value)
    while isFound {
      if let lower, unsafe key.span.isLess(than: lower.span) { return }
      guard try unsafe body(key.span, value.span) else { return }
      isFound = try unsafe checkFound(
        mdb_cursor_get(cursor, &key, &value, MDB_PREV), "mdb_cursor_get")
    }
  }

  private func seekFirst(
    from lower: [UInt8]?, _ key: inout MDB_val, _ value: inout MDB_val
  ) throws(LMDBError) -> Bool {
    guard let lower, !lower.isEmpty else {
      return try unsafe checkFound(
        mdb_cursor_get(cursor, &key, &value, MDB_FIRST), "mdb_cursor_get")
    }
    return try unsafe seek(lower.span, &key, &value)
  }

  private func seekLast(
    below upper: [UInt8]?, _ key: inout MDB_val, _ value: inout MDB_val
  ) throws(LMDBError) -> Bool {
    if let upper {
      if upper.isEmpty { return false }
      if try unsafe seek(upper.span, &key, &value) {
        return try unsafe checkFound(
          mdb_cursor_get(cursor, &key, &value, MDB_PREV), "mdb_cursor_get")
      }
    }
    return try unsafe checkFound(
      mdb_cursor_get(cursor, &key, &value, MDB_LAST), "mdb_cursor_get")
  }

  private func seek(
    _ target: Span<UInt8>, _ key: inout MDB_val, _ value: inout MDB_val
  ) throws(LMDBError) -> Bool {
    let status = unsafe target.withUnsafeBufferPointer { buffer in
      unsafe key = MDB_val(buffer)
      // LMDB puts the key it found into `key`, so nothing of `buffer` is left behind.
      return unsafe mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
    }
    return try checkFound(status, "mdb_cursor_get")
  }
}

extension UnsafeSnapshotHandle {
  /// Opens a cursor, to be closed before the transaction ends.
  @unsafe
  func openCursor(_ table: RawTable) throws(LMDBError) -> OpaquePointer {
    table.checkBelongs(to: environment)
    var cursor: OpaquePointer?
    let status = unsafe mdb_cursor_open(transaction, table.number, &cursor)
    guard let cursor = unsafe cursor, status == 0 else {
      throw tableError(status, "mdb_cursor_open", table)
    }
    return unsafe cursor
  }
}
