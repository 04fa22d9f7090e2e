import CPandoLMDB

/// The end of one table, where a write transaction appends entries in key order.
///
/// A cursor stays at the last entry, so that a following entry needs no search from the root. LMDB
/// would split a full page into two halves for an ordinary put. So this type counts the room on the
/// last page, and requests a new page when it is full. A wrong estimate costs only time or room.
///
/// Code that changes the table in another way calls ``WriteTransaction/leave(_:)`` first. An end
/// belongs to one transaction: its cursor ends with that.
@safe package struct TableEnd {
  let table: RawTable
  /// LMDB frees it when the transaction ends.
  fileprivate var cursor: OpaquePointer?
  /// The bytes left on the last page; -1 if unknown.
  fileprivate var freeByteCount = -1
  /// The last key.
  fileprivate var lastKey = OrderedKey.least
  fileprivate var pageByteCount = 0
  /// The address of the last value.
  fileprivate var lastValue: UnsafeMutableRawPointer?

  /// Makes the end of a table without appended entries.
  package init(_ table: RawTable) { self.table = table }

  /// The longest key that this type handles, in bytes.
  fileprivate static let keyByteCountMaximum = 16
  /// The size above which an entry may use overflow pages.
  fileprivate static let entryByteCountMaximum = 1024
  /// LMDB's overhead: at the beginning of a page, and for each entry beside its key and value.
  fileprivate static let pageHeaderByteCount = 16
  fileprivate static let nodeByteCount = 8 + 2
}

/// A key of up to 16 bytes as a number, with the byte order among keys of one length.
private struct OrderedKey {
  static let least = OrderedKey(high: 0, low: 0)

  var high: UInt64
  var low: UInt64

  static func < (left: OrderedKey, right: OrderedKey) -> Bool {
    left.high == right.high ? left.low < right.low : left.high < right.high
  }
}

extension OrderedKey {
  init(_ key: Span<UInt8>) {
    self = .least
    for index in 0..<min(8, key.count) { high = high << 8 | UInt64(key[index]) }
    for index in 8..<max(8, min(16, key.count)) { low = low << 8 | UInt64(key[index]) }
  }
}

extension WriteTransaction {
  /// Reserves room for a value under a key that is probably above all others of a table.
  ///
  /// - Parameters:
  ///   - byteCount: The number of bytes of the value.
  ///   - key: An encoded key, as long as the other keys of the table.
  ///   - end: The end of the table.
  /// - Returns: The room, valid until the next change; the caller fills all of it before that.
  /// - Throws: ``LMDBError``, as ``put(_:forKey:in:)``.
  /// - Complexity: O(1) for a key behind the last appended one, else O(log *n*) for *n* keys.
  @unsafe
  package mutating func reserve(
    _ byteCount: Int, forKey key: Span<UInt8>, at end: inout TableEnd
  ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
    let ordered = OrderedKey(key)
    guard key.count <= TableEnd.keyByteCountMaximum, byteCount <= TableEnd.entryByteCountMaximum,
      unsafe end.cursor == nil || end.lastKey < ordered
    else {
      leave(&end)
      return try unsafe reserve(byteCount, forKey: key, in: end.table, isLast: true)
    }
    hasPut = true
    let cursor = try unsafe openCursor(&end)
    let entryByteCount = (TableEnd.nodeByteCount + key.count + byteCount + 1) & ~1
    let fits = end.freeByteCount >= entryByteCount
    var room = unsafe MDB_val()
    let status = try unsafe withMDBKey(key) { key in
      unsafe room.mv_size = byteCount
      return unsafe mdb_cursor_put(
        cursor, &key, &room, UInt32(MDB_RESERVE) | (fits ? 0 : UInt32(MDB_APPEND)))
    }
    if status == MDB_KEYEXIST {
      leave(&end)
      return try unsafe reserve(byteCount, forKey: key, in: end.table, isLast: false)
    }
    guard status == 0, let address = unsafe room.mv_data else {
      throw fail(status, "mdb_cursor_put", end.table)
    }
    if fits {
      end.freeByteCount -= entryByteCount
    } else if unsafe !end.isBelowLastValue(address, entryByteCount) {
      // The entry is the first one of a new page.
      end.freeByteCount = end.pageByteCount - TableEnd.pageHeaderByteCount - entryByteCount
    }
    end.lastKey = ordered
    unsafe end.lastValue = unsafe address
    return unsafe UnsafeMutableRawBufferPointer(start: address, count: byteCount)
  }

  /// Releases the end of a table before another kind of change.
  package func leave(_ end: inout TableEnd) {
    guard let cursor = unsafe end.cursor else { return }
    unsafe mdb_cursor_close(cursor)
    end = TableEnd(end.table)
  }

  private func openCursor(_ end: inout TableEnd) throws(LMDBError) -> OpaquePointer {
    if let cursor = unsafe end.cursor { return unsafe cursor }
    end.table.checkBelongs(to: handle.environment)
    let status = unsafe mdb_cursor_open(handle.transaction, end.table.number, &end.cursor)
    guard status == 0, let cursor = unsafe end.cursor else {
      throw handle.tableError(status, "mdb_cursor_open", end.table)
    }
    var statistics = MDB_stat()
    if unsafe mdb_stat(handle.transaction, end.table.number, &statistics) == 0 {
      end.pageByteCount = Int(statistics.ms_psize)
    }
    return unsafe cursor
  }
}

extension TableEnd {
  /// Whether a value is where it must be if its entry follows the last one on the same page, which
  /// fills from its end; never after a first entry.
  fileprivate func isBelowLastValue(
    _ address: UnsafeMutableRawPointer, _ entryByteCount: Int
  ) -> Bool {
    guard let last = unsafe lastValue else { return true }
    // Two bytes of an entry are at the beginning of the page.
    return unsafe address + (entryByteCount - 2) == last
  }
}
