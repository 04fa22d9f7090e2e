import CPandoLMDB

/// Where a write transaction appends entries to one table, in the order of their keys.
///
/// It keeps a cursor at the last entry, so that a entry that comes behind it needs no search from the root.
/// LMDB's cursors do that for an ordinary put, which would part a full page in two halves; so this counts
/// how much room is left on the last page, and asks for a new page when it is full. A wrong guess costs
/// time or room and nothing else.
///
/// Whoever changes the table by any other way calls ``WriteTransaction/leave(_:)`` before. It must not
/// be used in another transaction than the one it was first used in: the cursor ends with that.
@safe package struct TableEnd {
  let table: RawTable
  /// LMDB frees it when the transaction ends.
  fileprivate var cursor: OpaquePointer?
  /// The bytes left on the last page; -1 if that is not known.
  fileprivate var freeByteCount = -1
  /// The last key.
  fileprivate var lastKey = OrderedKey.least
  fileprivate var pageByteCount = 0
  /// Where the last value lies.
  fileprivate var lastValue: UnsafeMutableRawPointer?

  /// Makes the end of a table that nothing has been appended to.
  package init(_ table: RawTable) { self.table = table }

  /// The longest key that is told apart here, in bytes.
  fileprivate static let keyByteCountMaximum = 16
  /// Entries of more bytes may lie on pages of their own.
  fileprivate static let entryByteCountMaximum = 1024
  /// What LMDB keeps at the beginning of a page, and for each entry beside its key and value.
  fileprivate static let pageHeaderByteCount = 16
  fileprivate static let nodeByteCount = 8 + 2
}

/// A key of up to 16 bytes as a number: it has the order of the bytes among keys of one length.
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
  /// Makes room for a value under a key that is probably above all others of a table.
  ///
  /// - Parameters:
  ///   - byteCount: How many bytes the value has.
  ///   - key: An encoded key, as long as the other keys of the table.
  ///   - end: The end of the table.
  /// - Returns: The room, valid until the next change; all of it has to be written before that.
  /// - Throws: ``LMDBError``, as ``put(_:forKey:in:)``.
  /// - Complexity: O(1) for a key behind the last one that came this way, else O(log *n*) for *n* keys.
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

  /// Lets go of the end of a table, which is about to be changed in another way.
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
  /// Whether a entry's value lies where it does if its entry follows the last one on the same page, which is
  /// filled from its end on; a first entry tells nothing.
  fileprivate func isBelowLastValue(
    _ address: UnsafeMutableRawPointer, _ entryByteCount: Int
  ) -> Bool {
    guard let last = unsafe lastValue else { return true }
    // Two bytes of a entry are at the beginning of the page.
    return unsafe address + (entryByteCount - 2) == last
  }
}
