import CLMDB

/// A cursor that looks up keys of one table, in one committed version after the other.
///
/// A key that lies on the page of the one before is found without a search from the root. For code
/// that can't hold a `~Escapable` cursor; whoever uses it proves that the snapshot it serves is still
/// alive. Reader transactions only.
///
/// - Note: One thread at a time.
@safe
package final class ReaderCursor {
  private let table: RawTable
  @exclusivity(unchecked) private var pointer: OpaquePointer?
  /// The transaction that it serves; `nil` between uses.
  @exclusivity(unchecked) private var handle: UnsafeSnapshotHandle?
  /// Whether the cursor belongs to the transaction already.
  @exclusivity(unchecked) private var isAttached = false

  /// Makes a cursor that serves no snapshot yet.
  ///
  /// - Parameter table: A table opened in the environment of the snapshots to come.
  package init(_ table: RawTable) { self.table = table }

  deinit {
    // Allowed when the environment is closed: a reader's cursor is in no list of its transaction.
    if let pointer = unsafe pointer { unsafe mdb_cursor_close(pointer) }
  }

  /// Serves a snapshot from now on.
  ///
  /// - Parameter handle: Of a reader transaction, which lives until ``end()`` or the next call.
  package func begin(_ handle: UnsafeSnapshotHandle) {
    table.checkBelongs(to: handle.environment)
    unsafe self.handle = handle
    unsafe isAttached = false
  }

  /// Serves no snapshot any longer.
  package func end() {
    unsafe handle = nil
    unsafe isAttached = false
  }

  /// Looks a key up.
  ///
  /// - Parameter key: 1 to 511 bytes.
  /// - Returns: The value's bytes, valid as long as the snapshot; `nil` if the key has none.
  /// - Throws: ``LMDBError``, as `Snapshot.bytes(forKey:in:)`.
  package func bytes(forKey key: Span<UInt8>) throws(LMDBError) -> UnsafeRawBufferPointer? {
    let cursor = unsafe try attachedPointer()
    var value = unsafe MDB_val()
    let status = try unsafe withMDBKey(key) { key in
      unsafe mdb_cursor_get(cursor, &key, &value, MDB_SET)
    }
    if status == MDB_NOTFOUND { return nil }
    try check(status, "mdb_cursor_get")
    return unsafe UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
  }

  private func attachedPointer() throws(LMDBError) -> OpaquePointer {
    if unsafe isAttached, let pointer = unsafe pointer { return unsafe pointer }
    guard let handle = unsafe handle else { preconditionFailure("a cursor without a snapshot") }
    if let pointer = unsafe pointer {
      let status = unsafe mdb_cursor_renew(handle.transaction, pointer)
      if status != 0 { throw handle.tableError(status, "mdb_cursor_renew", table) }
    } else {
      let status = unsafe mdb_cursor_open(handle.transaction, table.number, &pointer)
      if status != 0 { throw handle.tableError(status, "mdb_cursor_open", table) }
    }
    unsafe isAttached = true
    guard let pointer = unsafe pointer else { preconditionFailure("an open cursor is not nil") }
    return unsafe pointer
  }
}
