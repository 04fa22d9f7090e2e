/// The entries of one frame in their order.
///
/// Memory of its own and not an array: an array asks with each change whether it is the only owner.
@safe struct EntryList: ~Copyable {
  typealias Entry = EncodedContent.Entry

  /// Room for `capacity` entries, of which the first `count` are initialized; they are trivial.
  private var base: UnsafeMutablePointer<Entry>
  private(set) var capacity = 16
  private(set) var count = 0

  init() { unsafe base = .allocate(capacity: 16) }

  deinit { unsafe base.deallocate() }

  var isEmpty: Bool { count == 0 }

  /// The entries, valid until one comes.
  @unsafe var buffer: UnsafeMutableBufferPointer<Entry> {
    unsafe UnsafeMutableBufferPointer(start: base, count: count)
  }

  /// Sorts the entries; those of which none comes first keep their order.
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

  /// Says where the last one ends.
  @inline(__always)
  mutating func endLast(at end: Int) {
    precondition(count > 0, "an entry that was not begun")
    unsafe base[count - 1].end = end
  }

  /// Says which frame holds the value of the last one.
  mutating func nestLast(_ frame: Int) {
    precondition(count > 0, "an entry that was not begun")
    unsafe base[count - 1].nested = frame
  }

  /// Removes the last one, if there is one.
  mutating func popLast() -> Entry? {
    guard count > 0 else { return nil }
    count -= 1
    return unsafe base[count]
  }

  /// Removes those for which a closure says so.
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

  /// Forgets the entries from `count` on.
  mutating func truncate(to count: Int) {
    precondition(count <= self.count, "truncating \(self.count) entries to \(count)")
    self.count = count
  }

  /// Forgets all and keeps the room for them.
  mutating func removeAll() { count = 0 }
}
