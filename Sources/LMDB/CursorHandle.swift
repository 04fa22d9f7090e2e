import CLMDB

/// An open cursor of LMDB and what it points to.
///
/// LMDB keeps the bytes in place until the transaction ends or changes something. Whoever hands them
/// out narrows their lifetime to that.
@safe
struct CursorHandle: ~Copyable {
  private let pointer: OpaquePointer
  /// The key it points to, after a move that returned `true`.
  private(set) var key = unsafe MDB_val()
  /// The value it points to, after a move that returned `true`.
  private(set) var value = unsafe MDB_val()

  init(_ handle: UnsafeSnapshotHandle, _ table: RawTable) throws(LMDBError) {
    table.checkBelongs(to: handle.environment)
    var cursor: OpaquePointer?
    let status = unsafe mdb_cursor_open(handle.transaction, table.number, &cursor)
    guard status == 0, let cursor = unsafe cursor else {
      throw handle.tableError(status, "mdb_cursor_open", table)
    }
    unsafe pointer = cursor
  }

  deinit {
    unsafe mdb_cursor_close(pointer)
  }

  /// Moves, and tells whether there is something at the new place.
  @inline(__always)
  mutating func move(_ operation: MDB_cursor_op) throws(LMDBError) -> Bool {
    let status = unsafe mdb_cursor_get(pointer, &key, &value, operation)
    return try checkFound(status, "mdb_cursor_get")
  }

  /// Moves to the first key that is not below the target.
  mutating func seek(_ target: Span<UInt8>) throws(LMDBError) -> Bool {
    if target.isEmpty { return try move(MDB_FIRST) }
    let status = unsafe target.withUnsafeBufferPointer { buffer in
      unsafe key = MDB_val(buffer)
      // LMDB replaces `key` by the key it found; nothing found, nobody reads it.
      return unsafe mdb_cursor_get(pointer, &key, &value, MDB_SET_RANGE)
    }
    return try checkFound(status, "mdb_cursor_get")
  }

  /// Moves to the last key below the limit; `nil` means the last key of all.
  mutating func seekLast(below limit: Span<UInt8>?) throws(LMDBError) -> Bool {
    guard let limit else { return try move(MDB_LAST) }
    if limit.isEmpty { return false }
    return try seek(limit) ? move(MDB_PREV) : move(MDB_LAST)
  }

  /// Removes what it points to; `move(MDB_NEXT)` then goes to the key after it.
  func delete() -> CInt {
    unsafe mdb_cursor_del(pointer, 0)
  }
}
