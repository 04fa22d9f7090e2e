/// Appends CBOR items to bytes it owns, each in its one deterministic form.
///
/// Heads are shortest, lengths definite, floats the shortest that keep their bits: RFC 8949, section
/// 4.2.1. The order of map keys is the caller's duty. The bytes stay allocated after
/// ``removeAll()``, so a writer that is used again allocates nothing.
///
/// - Note: One thread at a time.
@safe package struct CBORWriter: ~Copyable {
  /// The first bytes, `count` of them initialized; owned by this value and freed by its `deinit`.
  private(set) var base: UnsafeMutableRawPointer
  private(set) var capacity: Int
  /// How many bytes there are.
  package private(set) var count = 0

  package init(minimumCapacity: Int = 256) {
    capacity = max(minimumCapacity, 16)
    unsafe base = .allocate(byteCount: capacity, alignment: 8)
  }

  deinit { unsafe base.deallocate() }

  /// A copy of the bytes.
  package var bytes: [UInt8] { unsafe [UInt8](buffer) }

  /// The bytes, valid until the next change.
  package var buffer: UnsafeRawBufferPointer {
    // The first `count` bytes are initialized.
    unsafe UnsafeRawBufferPointer(start: base, count: count)
  }

  /// Runs a closure on the bytes.
  package borrowing func withUnsafeBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try unsafe body(buffer)
  }

  /// Forgets all bytes and keeps the room for them.
  package mutating func removeAll() { count = 0 }

  /// Forgets the bytes from `count` on.
  package mutating func truncate(to count: Int) {
    precondition(count <= self.count, "truncating \(self.count) bytes to \(count)")
    self.count = count
  }

  /// Makes room for `added` more bytes and returns where they go; the caller writes all of them.
  @inline(__always)
  mutating func grow(by added: Int) -> UnsafeMutableRawPointer {
    if capacity - count < added { reserve(added) }
    let start = unsafe base + count
    count += added
    return unsafe start
  }

  @inline(never)
  private mutating func reserve(_ added: Int) {
    capacity = max(capacity * 2, count + added)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    // Both blocks have room for `count` bytes and are distinct.
    unsafe larger.copyMemory(from: base, byteCount: count)
    unsafe base.deallocate()
    unsafe base = larger
  }

  /// Appends bytes that are CBOR already.
  package mutating func append(raw bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    // `grow` gives room for `bytes.count` bytes.
    unsafe grow(by: bytes.count).copyMemory(from: source, byteCount: bytes.count)
  }

  /// Copies bytes to where there is room for them; the two don't overlap.
  ///
  /// Loads that overlap are cheaper than a call for the short texts that most are.
  @unsafe
  @inline(__always)
  static func copy(_ source: UnsafeRawPointer, to room: UnsafeMutableRawPointer, _ count: Int) {
    if count > 32 || count < 4 {
      if count > 0 { unsafe room.copyMemory(from: source, byteCount: count) }
      return
    }
    // Each load and store below lies within the first `count` bytes.
    if count < 8 {
      let first = unsafe source.loadUnaligned(as: UInt32.self)
      let last = unsafe source.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      unsafe room.storeBytes(of: first, as: UInt32.self)
      unsafe room.storeBytes(of: last, toByteOffset: count - 4, as: UInt32.self)
      return
    }
    if count <= 16 {
      let first = unsafe source.loadUnaligned(as: UInt64.self)
      let last = unsafe source.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
      unsafe room.storeBytes(of: first, as: UInt64.self)
      unsafe room.storeBytes(of: last, toByteOffset: count - 8, as: UInt64.self)
      return
    }
    let first = unsafe source.loadUnaligned(as: SIMD2<UInt64>.self)
    let last = unsafe source.loadUnaligned(fromByteOffset: count - 16, as: SIMD2<UInt64>.self)
    unsafe room.storeBytes(of: first, as: SIMD2<UInt64>.self)
    unsafe room.storeBytes(of: last, toByteOffset: count - 16, as: SIMD2<UInt64>.self)
  }

  /// Makes room for so many bytes, of which ``endAppending(at:)`` says how many were written.
  @unsafe
  mutating func beginAppending(upTo added: Int) -> UnsafeMutableRawPointer {
    if capacity - count < added { reserve(added) }
    return unsafe base + count
  }

  /// Takes over what was written behind the bytes, up to an address within the room.
  @unsafe
  mutating func endAppending(at end: UnsafeMutableRawPointer) {
    let length = unsafe end - base
    precondition(length >= count && length <= capacity, "\(length) bytes of \(capacity)")
    count = length
  }

  /// Appends bytes that are CBOR already.
  package mutating func append(raw bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe append(raw: $0) }
  }

  /// Up to eight bytes from an offset on, as a big-endian number filled up with zeros.
  @inline(__always)
  func prefix(from offset: Int) -> UInt64 {
    let length = count - offset
    precondition(offset >= 0 && length >= 0, "bytes from \(offset) on of \(count)")
    if length == 0 { return 0 }
    if offset + 8 <= capacity {
      // Within the block, though not all of the bytes may be initialized: those are cut off.
      let word = unsafe UInt64(
        bigEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      return length >= 8 ? word : word & ~(UInt64.max &>> UInt64(8 &* length))
    }
    var word: UInt64 = 0
    for index in 0..<8 {
      let byte =
        index < length ? unsafe base.load(fromByteOffset: offset + index, as: UInt8.self) : 0
      word = word << 8 | UInt64(byte)
    }
    return word
  }

  /// Appends one byte.
  mutating func append(byte: UInt8) {
    unsafe grow(by: 1).storeBytes(of: byte, as: UInt8.self)
  }

  /// Puts a head before the bytes from `offset` on, which move up.
  ///
  /// - Complexity: O(*n*) in the bytes behind it.
  package mutating func insertHead(_ major: CBORHead.Major, _ argument: UInt64, at offset: Int) {
    precondition(offset <= count, "inserting at \(offset) into \(count) bytes")
    let length = count - offset
    let headLength = Self.headByteCount(argument)
    _ = unsafe grow(by: headLength)
    // There is room for `headLength` more bytes; `memmove` semantics allow the overlap.
    unsafe (base + offset + headLength).copyMemory(from: base + offset, byteCount: length)
    count = offset
    append(head: major, argument)
    count = offset + headLength + length
  }

  /// How many bytes a head with this argument has: 1, 2, 3, 5 or 9.
  package static func headByteCount(_ argument: UInt64) -> Int {
    switch argument {
    case ..<24: 1
    case ...0xFF: 2
    case ...0xFFFF: 3
    case ...0xFFFF_FFFF: 5
    default: 9
    }
  }

  /// Replaces the head of an item, which may then be shorter.
  mutating func replaceHead(
    _ major: CBORHead.Major, _ old: Int, by new: Int, at offset: Int
  ) {
    let oldLength = Self.headByteCount(UInt64(old))
    let rest = offset + oldLength
    precondition(new <= old && rest <= count, "a head of \(old) replaced by one of \(new)")
    let length = count - rest
    count = offset
    append(head: major, UInt64(new))
    // A smaller count never has a longer head, so the rest moves down or stays.
    unsafe (base + count).copyMemory(from: base + rest, byteCount: length)
    count += length
  }
}
