import PandoSystem

/// Entries of one table that are stored or removed together, in key order.
///
/// One cursor moves from entry to entry, so that a key on the page of the previous one needs no
/// search from the root.
package struct EntryBatch {
  /// The range of an entry in the bytes: its key, then its value.
  private typealias Entry = (start: Int, keyEnd: Int, end: Int)

  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  /// Whether the keys were added in order.
  private var isInOrder = true

  /// Makes a batch without entries.
  package init() {}

  /// Whether it has no entries.
  package var isEmpty: Bool { entries.isEmpty }

  /// Adds an entry.
  ///
  /// - Parameters:
  ///   - first: The first bytes of the key, which has 1 to 511 in all; no key occurs twice.
  ///   - second: The following bytes.
  ///   - third: The last bytes.
  ///   - value: The value; empty for keys to remove.
  package mutating func append(
    _ first: Span<UInt8>, _ second: Span<UInt8>, _ third: Span<UInt8>, value: Span<UInt8>
  ) {
    let start = entries.last?.end ?? 0
    let keyEnd = start + first.count + second.count + third.count
    let end = keyEnd + value.count
    if end > bytes.count { bytes += Array(repeating: 0, count: max(end, Self.roomInBytes)) }
    unsafe bytes.withUnsafeMutableBytes { room in
      var place = start
      unsafe Self.copy(first, to: room, &place)
      unsafe Self.copy(second, to: room, &place)
      unsafe Self.copy(third, to: room, &place)
      unsafe Self.copy(value, to: room, &place)
    }
    if isInOrder, let last = entries.last {
      isInOrder = bytes.span.extracting(last.start..<last.keyEnd)
        .isLess(than: bytes.span.extracting(start..<keyEnd))
    }
    entries.append((start, keyEnd, end))
  }

  private static var roomInBytes: Int { 1024 }

  /// Copies bytes into allocated room.
  @inline(__always)
  private static func copy(
    _ bytes: Span<UInt8>, to room: UnsafeMutableRawBufferPointer, _ place: inout Int
  ) {
    // Read during the call only.
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe UnsafeMutableRawBufferPointer(rebasing: room[place...]).copyMemory(from: bytes)
    }
    place += bytes.count
  }

  /// The entries in key order.
  private var ordered: [Entry] {
    if isInOrder { return entries }
    return entries.ordered { left, right in
      bytes.span.extracting(left.start..<left.keyEnd)
        .isLess(than: bytes.span.extracting(right.start..<right.keyEnd))
    }
  }

  /// Calls a closure with keys and values in key order, as long as it returns 0.
  fileprivate func forEach(
    _ body: (Span<UInt8>, Span<UInt8>) throws(LMDBError) -> CInt
  ) throws(LMDBError) -> CInt {
    for entry in ordered {
      let status = try body(
        bytes.span.extracting(entry.start..<entry.keyEnd),
        bytes.span.extracting(entry.keyEnd..<entry.end))
      if status != 0 { return status }
    }
    return 0
  }
}

extension WriteTransaction {
  /// Stores entries; replaces existing values.
  ///
  /// - Parameters:
  ///   - batch: The entries.
  ///   - table: A table opened in this environment.
  /// - Throws: ``LMDBError``, as ``put(_:forKey:in:)``.
  /// - Complexity: O(*m*) for *m* entries on adjacent pages, else O(*m* log *n*) for *n* keys in
  ///   the table.
  package mutating func put(_ batch: EntryBatch, in table: RawTable) throws(LMDBError) {
    if batch.isEmpty { return }
    hasPut = true
    let cursor = try CursorHandle(handle, table)
    let status = try batch.forEach { key, value throws(LMDBError) in
      try cursor.put(value, forKey: key)
    }
    if status != 0 { throw fail(status, "mdb_cursor_put", table) }
  }

  /// Removes keys and their values; skips missing keys.
  ///
  /// - Parameters:
  ///   - batch: The keys; the values are ignored.
  ///   - table: A table opened in this environment.
  /// - Throws: ``LMDBError``, as ``delete(key:in:)``.
  /// - Complexity: As for ``put(_:in:)``.
  package mutating func delete(_ batch: EntryBatch, in table: RawTable) throws(LMDBError) {
    if batch.isEmpty { return }
    let cursor = try CursorHandle(handle, table)
    let status = try batch.forEach { key, _ throws(LMDBError) in try cursor.delete(key) }
    if status != 0 { throw fail(status, "mdb_cursor_del", table) }
  }
}
