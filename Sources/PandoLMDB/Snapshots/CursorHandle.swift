import CPandoLMDB

/// An open cursor of LMDB and its current entry.
///
/// LMDB keeps the bytes in place until the transaction ends or changes something. Code that returns
/// the bytes narrows their lifetime to that.
///
/// In a read transaction, a step on the same page does not call liblmdb. liblmdb's cursor stays
/// behind, and catches up at the end of the page.
///
/// `leaf`, `index` and `isBehind` belong to `entry`: if `leaf` has entries, `entry` is the one at
/// `index`. One thread uses a handle.
@safe
struct CursorHandle: ~Copyable {
  private let pointer: OpaquePointer
  /// The current entry; `nowhere` after a move that found none, or before the first move.
  private(set) var entry = CursorEntry.nowhere
  /// The page of the entry, if it was read.
  private var leaf = LeafPage.none
  /// The index of the entry on that page.
  private var index = 0
  /// Whether liblmdb's cursor is still at another entry of that page.
  private var isBehind = false
  /// Whether pages lie in the map and do not change.
  private var readsPages: Bool
  /// The size of pages; 0 until it is read.
  private var pageSizeInBytes = 0
  private let transaction: OpaquePointer

  init(_ handle: UnsafeSnapshotHandle, _ table: RawTable) throws(LMDBError) {
    table.checkBelongs(to: handle.environment)
    var cursor: OpaquePointer?
    let status = unsafe mdb_cursor_open(handle.transaction, table.number, &cursor)
    guard status == 0, let cursor = unsafe cursor else {
      throw handle.tableError(status, "mdb_cursor_open", table)
    }
    unsafe pointer = cursor
    unsafe transaction = handle.transaction
    readsPages = handle.isReadOnly
  }

  deinit {
    unsafe mdb_cursor_close(pointer)
  }

  /// Moves to the first key; returns whether there is one.
  mutating func moveToFirst() throws(LMDBError) -> Bool { try move(MDB_FIRST) }

  /// Moves to the last key; returns whether there is one.
  mutating func moveToLast() throws(LMDBError) -> Bool { try move(MDB_LAST) }

  /// Moves to the next key, or to the first one; returns whether there is one.
  @inline(__always)
  mutating func moveToNext() throws(LMDBError) -> Bool {
    if step(to: index &+ 1) { return true }
    return try leavePage(by: 1)
  }

  /// Moves to the previous key, or to the last one; returns whether there is one.
  @inline(__always)
  mutating func moveToPrevious() throws(LMDBError) -> Bool {
    if step(to: index &- 1) { return true }
    return try leavePage(by: -1)
  }

  /// Moves to the first key that is not below the target.
  mutating func seek(_ target: Span<UInt8>) throws(LMDBError) -> Bool {
    if target.isEmpty { return try move(MDB_FIRST) }
    return try unsafe target.withUnsafeBufferPointer { buffer throws(LMDBError) in
      // LMDB replaces the key by the found one; if it found none, the key is not read.
      try unsafe move(MDB_SET_RANGE, MDB_val(buffer))
    }
  }

  /// Moves to the last key below the limit; `nil` means the last key of all.
  mutating func seekLast(below limit: Span<UInt8>?) throws(LMDBError) -> Bool {
    guard let limit else { return try move(MDB_LAST) }
    if limit.isEmpty {
      forget()
      return false
    }
    return try seek(limit) ? move(MDB_PREV) : move(MDB_LAST)
  }

  /// Removes the current entry; ``moveToNext()`` then moves to the following one.
  ///
  /// In write transactions only.
  func delete() -> CInt {
    unsafe mdb_cursor_del(pointer, 0)
  }

  /// Stores a value under a key; needs no search from the root if the key belongs on the current
  /// page.
  ///
  /// In write transactions only.
  func put(_ value: Span<UInt8>, forKey key: Span<UInt8>) throws(LMDBError) -> CInt {
    try unsafe withMDBKey(key) { key in
      unsafe value.withUnsafeBufferPointer { buffer in
        var value = unsafe MDB_val(buffer)
        return unsafe mdb_cursor_put(pointer, &key, &value, 0)
      }
    }
  }

  /// Removes a key, if it exists; finds it like ``put(_:forKey:)``.
  ///
  /// In write transactions only.
  func delete(_ key: Span<UInt8>) throws(LMDBError) -> CInt {
    try unsafe withMDBKey(key) { key in
      var value = unsafe MDB_val()
      let status = unsafe mdb_cursor_get(pointer, &key, &value, MDB_SET)
      if status == 0 { return unsafe mdb_cursor_del(pointer, 0) }
      return status == MDB_NOTFOUND ? 0 : status
    }
  }

  /// Moves liblmdb's cursor, which is at the same entry unless that does not matter.
  private mutating func move(_ operation: MDB_cursor_op) throws(LMDBError) -> Bool {
    try unsafe move(operation, MDB_val())
  }

  /// Moves liblmdb's cursor to a key, for the operations that take one.
  private mutating func move(
    _ operation: MDB_cursor_op, _ target: MDB_val
  ) throws(LMDBError) -> Bool {
    var key = unsafe target
    var value = unsafe MDB_val()
    forget()
    let status = unsafe mdb_cursor_get(pointer, &key, &value, operation)
    guard try checkFound(status, "mdb_cursor_get") else { return false }
    unsafe entry = CursorEntry(key, value)
    return true
  }

  private mutating func forget() {
    entry = .nowhere
    leaf = .none
    isBehind = false
  }
}

extension CursorHandle {
  /// Moves to an entry of the page, if the page has it.
  @inline(__always)
  private mutating func step(to target: Int) -> Bool {
    guard let found = leaf.entry(at: target) else { return false }
    entry = found
    index = target
    isBehind = true
    return true
  }

  /// Moves to the last entry of the page below a key, if pages are read directly.
  ///
  /// - Parameter upper: The key, above the present entry; `nil` for the last entry of the page.
  /// - Returns: How many entries it moved ahead.
  mutating func skipPage(below upper: [UInt8]?) -> Int {
    if leaf.count == 0, entry.isSomewhere { _ = enterPage(isNearEnd: false) }
    var last = leaf.count - 1
    guard index < last, let found = leaf.entry(at: last) else { return 0 }
    if let upper, !found.keySpan.isLess(than: upper.span) {
      var end = last
      last = index
      while end - last > 1 {
        let middle = (last + end) / 2
        guard let entry = leaf.entry(at: middle) else { return 0 }
        if entry.keySpan.isLess(than: upper.span) { last = middle } else { end = middle }
      }
    }
    let distance = last - index
    return distance > 0 && step(to: last) ? distance : 0
  }

  /// Moves to a neighbour for which the page has to be read, or left.
  @inline(never)
  private mutating func leavePage(by distance: Int) throws(LMDBError) -> Bool {
    guard entry.isSomewhere else { return try move(distance > 0 ? MDB_FIRST : MDB_LAST) }
    if leaf.count == 0, enterPage(isNearEnd: distance < 0), step(to: index &+ distance) {
      return true
    }
    if isBehind { try catchUp() }
    return try move(distance > 0 ? MDB_NEXT : MDB_PREV)
  }

  /// Reads the page of the entry to which the cursor has just moved.
  ///
  /// - Returns: Whether its neighbours can be read from the page.
  private mutating func enterPage(isNearEnd: Bool) -> Bool {
    guard readsPages, let key = unsafe entry.key.baseAddress else { return false }
    if pageSizeInBytes == 0 {
      var statistics = MDB_stat()
      guard unsafe mdb_env_stat(mdb_txn_env(transaction), &statistics) == 0 else { return false }
      pageSizeInBytes = Int(statistics.ms_psize)
      readsPages = LeafPage.hasKnownLayout && pageSizeInBytes <= LeafPage.sizeInBytesMax
      guard readsPages else { return false }
    }
    guard let page = unsafe LeafPage(holdingKeyAt: key, sizeInBytes: pageSizeInBytes),
      let found = unsafe page.index(ofKeyAt: key, isNearEnd: isNearEnd),
      page.entry(at: found)?.isSame(as: entry) == true
    else { return false }
    leaf = page
    index = found
    return true
  }

  /// Moves liblmdb's cursor to the entry.
  ///
  /// - Throws: ``LMDBError`` with code `corrupted` if it can't find the entry again.
  private mutating func catchUp() throws(LMDBError) {
    isBehind = false
    let address = unsafe UnsafeMutableRawPointer(mutating: entry.key.baseAddress)
    var key = unsafe MDB_val(mv_size: self.entry.key.count, mv_data: address)
    var value = unsafe MDB_val()
    var status = unsafe mdb_cursor_get(pointer, &key, &value, MDB_SET_KEY)
    if unsafe status == 0 && key.mv_data == address { return }
    // The keys of a damaged file have another order. From here on, liblmdb makes every step.
    readsPages = false
    status = unsafe mdb_cursor_get(pointer, &key, &value, MDB_FIRST)
    while unsafe status == 0 && key.mv_data != address {
      status = unsafe mdb_cursor_get(pointer, &key, &value, MDB_NEXT)
    }
    if status == 0 { return }
    let code = status == MDB_NOTFOUND ? MDB_CORRUPTED : status
    forget()
    try check(code, "mdb_cursor_get", "a key is not found where it lies")
  }
}

/// The bytes of a cursor's entry, without LMDB's types, so that inlined code can read them.
@usableFromInline
@safe
struct CursorEntry {
  @usableFromInline let key: UnsafeRawBufferPointer
  @usableFromInline let value: UnsafeRawBufferPointer

  /// No entry.
  static var nowhere: CursorEntry {
    unsafe CursorEntry(
      key: UnsafeRawBufferPointer(start: nil, count: 0),
      value: UnsafeRawBufferPointer(start: nil, count: 0))
  }

  @inline(__always)
  init(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    unsafe self.key = key
    unsafe self.value = value
  }

  @inline(__always)
  init(_ key: MDB_val, _ value: MDB_val) {
    unsafe self.init(
      key: UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size),
      value: UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
  }

  /// Whether there is an entry.
  @usableFromInline var isSomewhere: Bool { unsafe key.baseAddress != nil }

  /// Whether both are the same bytes in memory.
  func isSame(as other: CursorEntry) -> Bool {
    unsafe key.baseAddress == other.key.baseAddress && key.count == other.key.count
      && value.baseAddress == other.value.baseAddress && value.count == other.value.count
  }

  /// The key, while LMDB keeps it in place; the caller narrows the lifetime.
  @inline(__always)
  var keySpan: Span<UInt8> {
    @_lifetime(immortal)
    get { unsafe _overrideLifetime(Span(_unsafeBytes: key), copying: ()) }
  }

  /// The value, with the same lifetime.
  @inline(__always)
  var valueSpan: Span<UInt8> {
    @_lifetime(immortal)
    get { unsafe _overrideLifetime(Span(_unsafeBytes: value), copying: ()) }
  }
}
