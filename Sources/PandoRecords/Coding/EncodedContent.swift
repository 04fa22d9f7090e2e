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
  var entries = EntryList()

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
  @inline(__always)
  mutating func endEntry() { entries.endLast(at: writer.count) }

  /// Assigns a frame to the latest entry; the frame is filled later.
  mutating func nestEntry(_ frame: Int) { entries.nestLast(frame) }

  /// Sorts the fields by the bytes of their keys, or elements with a key instead of a value.
  ///
  /// - Returns: Whether two of them have the same key; these keep their order.
  @inline(never)
  mutating func sortEntries() -> Bool {
    let base = unsafe UnsafeRawPointer(writer.base)
    let fields = unsafe entries.buffer
    if fields.count > 32 {
      // Stable, so that the last of equal keys stays last.
      entries.sort { unsafe Self.order($0, $1, base) < 0 }
    } else {
      guard let first = fields.baseAddress else { return false }
      var index = 1
      // All positions are below the count.
      while index < fields.count {
        let field = unsafe first[index]
        var position = index
        while position > 0, unsafe Self.order(first[position - 1], field, base) > 0 {
          unsafe first[position] = unsafe first[position - 1]
          position -= 1
        }
        if position < index { unsafe first[position] = field }
        index += 1
      }
    }
    for index in 1..<max(1, fields.count)
    where unsafe Self.order(fields[index - 1], fields[index], base) == 0 {
      return true
    }
    return false
  }

  /// Removes all but the last field of each key; the fields are sorted.
  mutating func dropEarlierDuplicates() {
    let base = unsafe UnsafeRawPointer(writer.base)
    let fields = unsafe entries.buffer
    var last = 0
    for index in 1..<max(1, fields.count) {
      if unsafe Self.order(fields[last], fields[index], base) != 0 { last += 1 }
      unsafe fields[last] = unsafe fields[index]
    }
    entries.truncate(to: last + 1)
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

/// The entries of one frame in order.
///
/// Own memory instead of an array, which checks for unique ownership at each change.
@safe struct EntryList: ~Copyable {
  typealias Entry = EncodedContent.Entry

  /// Room for `capacity` entries, of which the first `count` are initialized; they are trivial.
  private var base: UnsafeMutablePointer<Entry>
  private(set) var capacity = 16
  private(set) var count = 0

  init() { unsafe base = .allocate(capacity: 16) }

  deinit { unsafe base.deallocate() }

  var isEmpty: Bool { count == 0 }

  /// The entries, valid until the next change.
  @unsafe var buffer: UnsafeMutableBufferPointer<Entry> {
    unsafe UnsafeMutableBufferPointer(start: base, count: count)
  }

  /// Sorts the entries; equal ones keep their order.
  mutating func sort(by areInOrder: (Entry, Entry) -> Bool) {
    var entries = unsafe buffer
    unsafe entries.sort(by: areInOrder)
  }

  subscript(index: Int) -> Entry {
    precondition(index >= 0 && index < count, "entry \(index) of \(count)")
    return unsafe base[index]
  }

  @inline(__always)
  mutating func append(_ entry: Entry) {
    if count == capacity { reserve(capacity * 2) }
    unsafe (base + count).initialize(to: entry)
    count += 1
  }

  @inline(never)
  mutating func reserve(_ wanted: Int) {
    guard wanted > capacity else { return }
    let larger = UnsafeMutablePointer<Entry>.allocate(capacity: wanted)
    unsafe larger.initialize(from: base, count: count)
    unsafe base.deallocate()
    unsafe base = unsafe larger
    capacity = wanted
  }

  /// Sets the end of the last entry.
  @inline(__always)
  mutating func endLast(at end: Int) {
    precondition(count > 0, "an entry that was not begun")
    unsafe base[count - 1].end = end
  }

  /// Sets the frame with the value of the last entry.
  mutating func nestLast(_ frame: Int) {
    precondition(count > 0, "an entry that was not begun")
    unsafe base[count - 1].nested = frame
  }

  /// Removes the last entry, if there is one.
  mutating func popLast() -> Entry? {
    guard count > 0 else { return nil }
    count -= 1
    return unsafe base[count]
  }

  /// Removes the entries for which a closure returns `true`.
  mutating func removeAll(where isRemoved: (Entry) -> Bool) {
    var kept = 0
    for index in 0..<count {
      let entry = unsafe base[index]
      if isRemoved(entry) { continue }
      unsafe base[kept] = entry
      kept += 1
    }
    count = kept
  }

  /// Removes the entries from `count` on.
  mutating func truncate(to count: Int) {
    precondition(count <= self.count, "truncating \(self.count) entries to \(count)")
    self.count = count
  }

  /// Removes all entries and keeps the capacity.
  mutating func removeAll() { count = 0 }
}
