import CPandoLMDB

/// A cursor that looks up keys of one table in successive committed versions.
///
/// A key on the page of the previous one is found without a search from the root. Pages are read
/// directly (``PageSearch``), or else through liblmdb's cursor. Use it where code can't hold a
/// `~Escapable` cursor; the caller then ensures that the snapshot is still alive. Read transactions
/// only.
///
/// `handle` and `isAttached` belong to the current transaction, `search`, `hasSearch` and `map` to
/// `version`.
///
/// - Note: One thread at a time.
@safe
package final class ReaderCursor {
  private let table: RawTable
  private let name: [UInt8]
  private let hasNumberKeys: Bool
  @exclusivity(unchecked) private var pointer: OpaquePointer?
  /// The current transaction; `nil` between uses.
  @exclusivity(unchecked) private var handle: UnsafeSnapshotHandle?
  /// Whether the cursor is bound to the current transaction.
  @exclusivity(unchecked) private var isAttached = false
  /// The pages of the table in that version, if they can be read directly.
  @exclusivity(unchecked) private var search: PageSearch?
  /// Whether ``PageSearch`` was tried.
  @exclusivity(unchecked) private var hasSearch = false
  /// The last address of page 0.
  @exclusivity(unchecked) private var map: UnsafeRawPointer?
  /// The version for which it was tried.
  @exclusivity(unchecked) private var version: Version?

  /// The identity of a version at an address: two equal ones have the same pages.
  ///
  /// Pages of the newest version, and of an older one with a reader, are not overwritten. So the
  /// pages found by a transaction are valid for a later one of the same number.
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

  /// Makes a cursor without a snapshot.
  ///
  /// - Parameters:
  ///   - table: A table opened in the environment of the later snapshots.
  ///   - name: Its name.
  ///   - hasNumberKeys: Whether all its keys have eight bytes.
  package init(_ table: RawTable, named name: String, hasNumberKeys: Bool) {
    self.table = table
    self.hasNumberKeys = hasNumberKeys
    self.name = Array(name.utf8)
  }

  deinit {
    // Allowed after the environment is closed: a reader's cursor is in no list of its transaction.
    if let pointer = unsafe pointer { unsafe mdb_cursor_close(pointer) }
  }

  /// Uses a snapshot from now on.
  ///
  /// - Parameter handle: A read transaction that lives until ``end()`` or the next call.
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

  /// Uses no snapshot any longer.
  package func end() {
    unsafe handle = nil
    unsafe isAttached = false
  }

  /// Looks up a key.
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

  /// Whether the pages of this version are read directly; set by the first lookup.
  package var readsPages: Bool { unsafe search != nil }

  @inline(never)
  private func findPages() {
    guard let handle = unsafe handle else { preconditionFailure("a cursor without a snapshot") }
    unsafe search = unsafe PageSearch(
      ofTableNamed: name, hasNumberKeys: hasNumberKeys, in: handle.transaction, knownMap: &map)
    unsafe hasSearch = true
  }

  /// The same through liblmdb.
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
