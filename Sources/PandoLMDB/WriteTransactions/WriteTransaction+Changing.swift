import CPandoLMDB

extension WriteTransaction {
  /// Stores a value under a key; replaces an existing value.
  ///
  /// - Parameters:
  ///   - value: The bytes to store, less than 4 GiB.
  ///   - key: An encoded key, 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Throws: ``LMDBError`` with code `badKeySize` if `key` has another length, `mapFull` if the
  ///   map must grow (then ``Environment/write(_:)`` grows it and runs its closure again).
  /// - Complexity: O(log *n*) for *n* keys in the table.
  /// - Note: LMDB: `mdb_put`.
  public mutating func put(
    _ value: Span<UInt8>, forKey key: Span<UInt8>, in table: RawTable
  ) throws(LMDBError) {
    let status = try put(value, forKey: key, in: table, flags: 0)
    if status != 0 { throw fail(status, "mdb_put", table) }
  }

  /// Stores a value under a key that has none.
  ///
  /// - Parameters:
  ///   - value: The bytes to store, less than 4 GiB.
  ///   - key: An encoded key, 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Returns: `false` if the key already has a value, which stays.
  /// - Throws: ``LMDBError``, as `put(_:forKey:in:)`.
  /// - Complexity: O(log *n*) for *n* keys in the table.
  /// - Note: LMDB: `mdb_put` with `MDB_NOOVERWRITE`.
  public mutating func insert(
    _ value: Span<UInt8>, forKey key: Span<UInt8>, in table: RawTable
  ) throws(LMDBError) -> Bool {
    let status = try put(value, forKey: key, in: table, flags: UInt32(MDB_NOOVERWRITE))
    if status == MDB_KEYEXIST { return false }
    if status != 0 { throw fail(status, "mdb_put", table) }
    return true
  }

  /// Stores a value under a key, or finds the existing one.
  ///
  /// - Parameters:
  ///   - value: The bytes to store, less than 4 GiB.
  ///   - key: An encoded key, 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Returns: The existing value, unchanged, its bytes valid until the next change; `nil` if the
  ///   key had none.
  /// - Throws: ``LMDBError``, as ``put(_:forKey:in:)``.
  /// - Complexity: O(log *n*) for *n* keys in the table; one search.
  @unsafe
  package mutating func insertOrFind(
    _ value: Span<UInt8>, forKey key: Span<UInt8>, in table: RawTable
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    table.checkBelongs(to: handle.environment)
    hasPut = true
    var found = unsafe MDB_val()
    let status = try unsafe withMDBKey(key) { key in
      unsafe value.withUnsafeBufferPointer { buffer in
        unsafe found = MDB_val(buffer)
        return unsafe mdb_put(
          handle.transaction, table.number, &key, &found, UInt32(MDB_NOOVERWRITE))
      }
    }
    if status == 0 { return nil }
    guard status == MDB_KEYEXIST else { throw fail(status, "mdb_put", table) }
    return unsafe UnsafeRawBufferPointer(start: found.mv_data, count: found.mv_size)
  }

  /// Reserves room for a value under a key; discards an existing value.
  ///
  /// - Parameters:
  ///   - byteCount: The number of bytes of the value.
  ///   - key: An encoded key, 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  ///   - isLast: Whether the key is probably above all others of the table; then it costs no
  ///     search, and pages are filled completely.
  /// - Returns: The room, valid until the next change; the caller fills all of it before that.
  /// - Throws: ``LMDBError``, as ``put(_:forKey:in:)``.
  /// - Complexity: O(log *n*) for *n* keys in the table.
  @unsafe
  package mutating func reserve(
    _ byteCount: Int, forKey key: Span<UInt8>, in table: RawTable, isLast: Bool
  ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
    table.checkBelongs(to: handle.environment)
    hasPut = true
    var room = unsafe MDB_val()
    var status = MDB_KEYEXIST
    let flags = UInt32(MDB_RESERVE)
    if isLast {
      status = try unsafe withMDBKey(key) { key in
        unsafe room.mv_size = byteCount
        return unsafe mdb_put(
          handle.transaction, table.number, &key, &room, flags | UInt32(MDB_APPEND))
      }
    }
    if status == MDB_KEYEXIST {
      status = try unsafe withMDBKey(key) { key in
        unsafe room.mv_size = byteCount
        return unsafe mdb_put(handle.transaction, table.number, &key, &room, flags)
      }
    }
    if status != 0 { throw fail(status, "mdb_put", table) }
    return unsafe UnsafeMutableRawBufferPointer(start: room.mv_data, count: byteCount)
  }

  /// Stores a value under a key above all others; fills pages completely.
  ///
  /// - Parameters:
  ///   - value: The bytes to store, less than 4 GiB.
  ///   - key: An encoded key, above the last one of the table.
  ///   - table: A table opened in this environment.
  /// - Throws: ``LMDBError`` with code `keyExists` if the key is not above the last one, else as
  ///   `put(_:forKey:in:)`. The transaction stays usable after `keyExists`.
  /// - Complexity: O(log *n*) for *n* keys in the table, without a search.
  /// - Note: LMDB: `mdb_put` with `MDB_APPEND`.
  public mutating func append(
    _ value: Span<UInt8>, forKey key: Span<UInt8>, in table: RawTable
  ) throws(LMDBError) {
    let status = try put(value, forKey: key, in: table, flags: UInt32(MDB_APPEND))
    if status == 0 { return }
    guard status == MDB_KEYEXIST else { throw fail(status, "mdb_put", table) }
    throw LMDBError(
      .keyExists, function: "mdb_put", detail: "an appended key must be above the last one")
  }

  /// Removes a key and its value.
  ///
  /// - Parameters:
  ///   - key: An encoded key, 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Returns: `false` if the key had no value.
  /// - Throws: ``LMDBError`` with code `badKeySize` if `key` has another length.
  /// - Complexity: O(log *n*) for *n* keys in the table.
  /// - Note: LMDB: `mdb_del`.
  @discardableResult
  public mutating func delete(
    key: Span<UInt8>, in table: RawTable
  ) throws(LMDBError) -> Bool {
    table.checkBelongs(to: handle.environment)
    let status = try unsafe withMDBKey(key) { key in
      unsafe mdb_del(handle.transaction, table.number, &key, nil)
    }
    if status == MDB_NOTFOUND { return false }
    if status != 0 { throw fail(status, "mdb_del", table) }
    return true
  }

  /// Removes every key of a table; the table stays.
  ///
  /// - Parameter table: A table opened in this environment.
  /// - Throws: ``LMDBError`` if the pages cannot be freed.
  /// - Complexity: O(*p*) for *p* pages of the table.
  /// - Note: LMDB: `mdb_drop`.
  public mutating func removeAll(in table: RawTable) throws(LMDBError) {
    table.checkBelongs(to: handle.environment)
    let status = unsafe mdb_drop(handle.transaction, table.number, 0)
    if status != 0 { throw fail(status, "mdb_drop", table) }
  }

  /// Removes the keys of a range.
  ///
  /// - Parameters:
  ///   - lower: The first key, inclusive; `nil` starts at the beginning.
  ///   - upper: The end, exclusive; `nil` goes to the end of the table.
  ///   - table: A table opened in this environment.
  /// - Returns: The number of removed keys.
  /// - Throws: ``LMDBError``, as `put(_:forKey:in:)`.
  /// - Complexity: O(log *n* + *m*) for *m* removed keys.
  /// - Note: LMDB: `mdb_cursor_del`.
  @discardableResult
  public mutating func delete(
    from lower: [UInt8]?, upTo upper: [UInt8]?, in table: RawTable
  ) throws(LMDBError) -> Int {
    var cursor = try CursorHandle(handle, table)
    var count = 0
    let start = lower ?? []
    var isFound = try cursor.seek(start.span)
    while isFound {
      if let upper, !cursor.entry.keySpan.isLess(than: upper.span) { break }
      let status = cursor.delete()
      if status != 0 { throw fail(status, "mdb_cursor_del", table) }
      count += 1
      isFound = try cursor.moveToNext()
    }
    return count
  }

  /// Calls `mdb_put`.
  @inline(__always)
  private mutating func put(
    _ value: Span<UInt8>, forKey key: Span<UInt8>, in table: RawTable, flags: UInt32
  ) throws(LMDBError) -> CInt {
    table.checkBelongs(to: handle.environment)
    hasPut = true
    return try unsafe withMDBKey(key) { key in
      unsafe value.withUnsafeBufferPointer { buffer in
        var value = unsafe MDB_val(buffer)
        return unsafe mdb_put(handle.transaction, table.number, &key, &value, flags)
      }
    }
  }

  /// The error of a failed change, kept because LMDB refuses to commit after it.
  @inline(never)
  mutating func fail(_ status: CInt, _ function: String, _ table: RawTable) -> LMDBError {
    let error = handle.tableError(status, function, table)
    if failure == nil, error.code != .badKeySize, error.code != .badTable { failure = error }
    return error
  }
}
