/// Appends CBOR items to bytes that it owns, each in its deterministic form.
///
/// Heads are shortest, lengths definite, floats the shortest without loss: RFC 8949, section 4.2.1.
/// The caller orders map keys. ``removeAll()`` keeps the capacity, so a reused writer allocates
/// nothing.
///
/// - Note: One thread at a time.
@safe package struct CBORWriter: ~Copyable {
  /// The first bytes, `count` of them initialized; this value owns and frees them.
  private(set) var base: UnsafeMutableRawPointer
  private(set) var capacity: Int
  /// The number of bytes.
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

  /// Removes all bytes and keeps the capacity.
  package mutating func removeAll() { count = 0 }

  /// Removes the bytes from `count` on.
  package mutating func truncate(to count: Int) {
    precondition(count <= self.count, "truncating \(self.count) bytes to \(count)")
    self.count = count
  }

  /// Reserves room for `added` more bytes and returns its address; the caller writes all of them.
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

  /// Appends bytes that are already CBOR.
  package mutating func append(raw bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    // `grow` returns room for `bytes.count` bytes.
    unsafe grow(by: bytes.count).copyMemory(from: source, byteCount: bytes.count)
  }

  /// Copies bytes into room of sufficient size; the two do not overlap.
  ///
  /// For short texts, as most are, overlapping loads are cheaper than a call.
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

  /// Reserves room for some bytes; ``endAppending(at:)`` sets how many were written.
  @unsafe
  mutating func beginAppending(upTo added: Int) -> UnsafeMutableRawPointer {
    if capacity - count < added { reserve(added) }
    return unsafe base + count
  }

  /// Appends the written bytes, up to an address within the room.
  @unsafe
  mutating func endAppending(at end: UnsafeMutableRawPointer) {
    let length = unsafe end - base
    precondition(length >= count && length <= capacity, "\(length) bytes of \(capacity)")
    count = length
  }

  /// Appends bytes that are already CBOR.
  package mutating func append(raw bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe append(raw: $0) }
  }

  /// Up to eight bytes from an offset on, as a big-endian number padded with zeros.
  @inline(__always)
  func prefix(from offset: Int) -> UInt64 {
    let length = count - offset
    precondition(offset >= 0 && length >= 0, "bytes from \(offset) on of \(count)")
    if length == 0 { return 0 }
    if offset + 8 <= capacity {
      // Within the block; bytes that may be uninitialized are masked out.
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

  /// Inserts a head before the bytes from `offset` on.
  ///
  /// - Complexity: O(*n*) for *n* bytes after it.
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

  /// The length of a head with this argument: 1, 2, 3, 5 or 9.
  package static func headByteCount(_ argument: UInt64) -> Int {
    switch argument {
    case ..<24: 1
    case ...0xFF: 2
    case ...0xFFFF: 3
    case ...0xFFFF_FFFF: 5
    default: 9
    }
  }

  /// Sets the count of a map that was begun with the head of an empty one.
  mutating func setMapHead(_ fieldCount: Int, at offset: Int) {
    precondition(offset < count, "a map at \(offset) of \(count) bytes")
    guard fieldCount >= 24 else {
      // In bounds by the line above.
      return unsafe base.storeBytes(
        of: 0xA0 | UInt8(fieldCount), toByteOffset: offset, as: UInt8.self)
    }
    insertHead(.map, UInt64(fieldCount), at: offset + 1)
    // The inserted head moves down over the former one.
    unsafe (base + offset).copyMemory(from: base + offset + 1, byteCount: count - offset - 1)
    count -= 1
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
