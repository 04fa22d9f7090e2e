import CPandoLMDB

/// A cursor that looks up keys of one table, in one committed version after the other.
///
/// A key that lies on the page of the one before is found without a search from the root. Pages are read
/// where they lie (``PageSearch``); liblmdb's cursor is asked where that is not possible. For code
/// that can't hold a `~Escapable` cursor; whoever uses it proves that the snapshot it serves is still
/// alive. Reader transactions only.
///
/// - Note: One thread at a time.
@safe
package final class ReaderCursor {
  private let table: RawTable
  private let name: [UInt8]
  private let hasNumberKeys: Bool
  @exclusivity(unchecked) private var pointer: OpaquePointer?
  /// The transaction that it serves; `nil` between uses.
  @exclusivity(unchecked) private var handle: UnsafeSnapshotHandle?
  /// Whether the cursor belongs to the transaction already.
  @exclusivity(unchecked) private var isAttached = false
  /// The table's pages in that transaction, if they can be read.
  @exclusivity(unchecked) private var search: PageSearch?
  /// Whether the pages have been looked for.
  @exclusivity(unchecked) private var hasSearch = false
  /// Where they were last.
  @exclusivity(unchecked) private var map: UnsafeRawPointer?
  /// The version whose pages have been looked for.
  @exclusivity(unchecked) private var version: Version?

  /// What two transactions share that see the same pages at the same addresses.
  ///
  /// Pages of the newest version are not written to, and those of an older one are not as long as somebody
  /// reads it: what a transaction has found holds for a later one of the same number.
  private struct Version: Equatable {
    let environment: EnvironmentNumber
    let mapNumber: UInt32
    let transactionID: Int

    init(_ handle: UnsafeSnapshotHandle) {
      environment = handle.environment
      mapNumber = handle.mapNumber
      transactionID = unsafe mdb_txn_id(handle.transaction)
    }
  }

  /// Makes a cursor that serves no snapshot yet.
  ///
  /// - Parameters:
  ///   - table: A table opened in the environment of the snapshots to come.
  ///   - name: Its name.
  ///   - hasNumberKeys: Whether all its keys have eight bytes.
  package init(_ table: RawTable, named name: String, hasNumberKeys: Bool) {
    self.table = table
    self.hasNumberKeys = hasNumberKeys
    self.name = Array(name.utf8)
  }

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
    let version = Version(handle)
    if unsafe version == self.version {
      unsafe search?.forgetLeaf()
      return
    }
    unsafe self.version = version
    unsafe search = nil
    unsafe hasSearch = false
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
    precondition(unsafe handle != nil, "a cursor without a snapshot")
    if unsafe !hasSearch { findPages() }
    // Read during the call only.
    let answer = unsafe key.withUnsafeBytes { key in unsafe search?.value(forKey: key) }
    switch answer {
    case .found(let value): return unsafe value
    case .absent: return nil
    case .unknown, nil: return try unsafe cursorBytes(forKey: key)
    }
  }

  /// Whether the pages of the present version are read where they lie; known after the first look-up.
  package var readsPages: Bool { unsafe search != nil }

  @inline(never)
  private func findPages() {
    guard let handle = unsafe handle else { preconditionFailure("a cursor without a snapshot") }
    unsafe search = unsafe PageSearch(
      ofTableNamed: name, hasNumberKeys: hasNumberKeys, in: handle.transaction, knownMap: &map)
    unsafe hasSearch = true
  }

  /// The same, asked of liblmdb.
  @inline(never)
  private func cursorBytes(
    forKey key: Span<UInt8>
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
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
