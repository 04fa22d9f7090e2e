import PandoSystem

/// The bytes that a frame has collected, and the places of its fields or elements.
struct EncodedContent: ~Copyable {
  /// One field or element.
  struct Entry {
    /// The start of its key in the writer; the key of an element is empty.
    var start: Int
    /// The start of its value.
    var value: Int
    /// The end of its value.
    var end: Int
    /// The index of the frame with its value, if that was not complete at once; else -1.
    var nested: Int
    /// The first bytes of its key, big-endian: entries of a map are mostly in this order.
    var prefix: UInt64 = 0
  }

  var writer = CBORWriter()
  var entries: [Entry] = []

  /// Begins a field; its value follows.
  @inline(__always)
  mutating func beginField(_ key: String) {
    var key = key
    key.withUTF8 { key in unsafe beginField(UnsafeRawBufferPointer(key)) }
  }

  private mutating func beginField(_ key: UnsafeRawBufferPointer) {
    let start = writer.count
    unsafe writer.append(text: key)
    entries.append(
      Entry(
        start: start, value: writer.count, end: start, nested: -1,
        prefix: writer.prefix(from: start)))
  }

  /// Ends the latest field or element.
  mutating func endEntry() { entries[entries.count - 1].end = writer.count }

  /// Assigns a frame to the latest entry; the frame is filled later.
  mutating func nestEntry(_ frame: Int) { entries[entries.count - 1].nested = frame }

  /// Sorts the fields by the bytes of their keys, or elements with a key instead of a value.
  ///
  /// - Returns: Whether two of them have the same key; these keep their order.
  mutating func sortEntries() -> Bool {
    let base = unsafe UnsafeRawPointer(writer.base)
    entries.sort { unsafe Self.order($0, $1, base) < 0 }
    return zip(entries, entries.dropFirst()).contains { unsafe Self.order($0, $1, base) == 0 }
  }

  /// Removes all but the last field of each key; the fields are sorted.
  mutating func dropEarlierDuplicates() {
    let base = unsafe UnsafeRawPointer(writer.base)
    var last: [Entry] = []
    for entry in entries {
      if let former = last.last, unsafe Self.order(former, entry, base) == 0 { last.removeLast() }
      last.append(entry)
    }
    entries = last
  }

  /// Compares the bytes of two keys; none is a prefix of another, because their heads differ.
  @inline(__always)
  private static func order(_ left: Entry, _ right: Entry, _ base: UnsafeRawPointer) -> Int32 {
    if left.prefix != right.prefix { return left.prefix < right.prefix ? -1 : 1 }
    let count = min(left.value - left.start, right.value - right.start)
    // Entries lie within the bytes at `base`.
    return unsafe memcmp(base + left.start, base + right.start, count)
  }
}
