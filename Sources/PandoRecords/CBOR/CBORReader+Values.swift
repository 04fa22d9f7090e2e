extension CBORReader {
  /// Reads an item and returns its bytes, which live as long as the reader's.
  package mutating func item() throws(CBORError) -> UnsafeRawBufferPointer {
    let first = unsafe position
    try skip()
    // `skip` has advanced from `first` to a later byte of the same block.
    return unsafe UnsafeRawBufferPointer(start: first, count: position - first)
  }

  /// Reads the head of an array.
  ///
  /// - Returns: The number of elements that follow.
  package mutating func arrayHead() throws(CBORError) -> Int { try count(.array) }

  /// Reads the head of a map.
  ///
  /// - Returns: The number of pairs of key and value that follow.
  package mutating func mapHead() throws(CBORError) -> Int { try count(.map) }

  /// Reads a tag; its item follows.
  package mutating func tag() throws(CBORError) -> UInt64 {
    UInt64(try expect(.tag).argument)
  }

  /// Reads the tag if it is next.
  package mutating func take(tag: UInt64) throws(CBORError) -> Bool {
    let head = try peek()
    guard head.major == .tag, head.argument == tag else { return false }
    advance(by: 1 + head.argumentByteCount)
    return true
  }

  /// Reads null if it is next.
  package mutating func takeNull() -> Bool {
    // In bounds: a byte is left. 0xF6 is null, 0xF7 undefined.
    guard remaining > 0, unsafe position.load(as: UInt8.self) | 1 == 0xF7 else { return false }
    advance(by: 1)
    return true
  }

  /// Reads an integer that fits `UInt64`.
  package mutating func unsigned() throws(CBORError) -> UInt64 {
    try expect(.unsigned).argument
  }

  /// Reads the bytes of a text, without checking UTF-8.
  package mutating func textBytes() throws(CBORError) -> UnsafeRawBufferPointer {
    unsafe bytes(of: try expect(.text))
  }

  /// Reads a text.
  package mutating func text() throws(CBORError) -> String {
    let before = self
    let bytes = unsafe try textBytes()
    guard let text = unsafe String(utf8: bytes) else { throw before.error(.badText) }
    return text
  }

  /// Reads the contents of a byte string.
  package mutating func byteString() throws(CBORError) -> UnsafeRawBufferPointer {
    unsafe bytes(of: try expect(.bytes))
  }

  /// Reads a float of any width, bit by bit; ignores anything else.
  @inline(__always)
  mutating func takeDouble() -> Double? {
    let remaining = remaining
    guard remaining >= 3 else { return nil }
    // In bounds: each case checks its number of bytes.
    switch unsafe position.load(as: UInt8.self) {
    case 0xFB where remaining >= 9:
      let bits = unsafe position.loadUnaligned(fromByteOffset: 1, as: UInt64.self)
      advance(by: 9)
      return Double(bitPattern: UInt64(bigEndian: bits))
    case 0xFA where remaining >= 5:
      let bits = unsafe UInt32(
        bigEndian: position.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
      advance(by: 5)
      // The processor keeps all bits of a number, but not of a NaN.
      let single = Float(bitPattern: bits)
      return single.isNaN ? Double(widening: bits) : Double(single)
    case 0xF9:
      let bits = unsafe UInt16(
        bigEndian: position.loadUnaligned(fromByteOffset: 1, as: UInt16.self))
      advance(by: 3)
      return Double(widening: bits)
    default: return nil
    }
  }

  /// Reads an integer from 0 to 2³² − 1; ignores anything else.
  @inline(__always)
  mutating func takeSmallUnsigned() -> UInt64? {
    let remaining = remaining
    guard remaining > 0 else { return nil }
    // In bounds: each case checks its number of bytes.
    let first = unsafe position.load(as: UInt8.self)
    switch first {
    case 0..<24:
      advance(by: 1)
      return UInt64(first)
    case 0x18 where remaining >= 2:
      defer { advance(by: 2) }
      return unsafe UInt64(position.load(fromByteOffset: 1, as: UInt8.self))
    case 0x19 where remaining >= 3:
      defer { advance(by: 3) }
      let bits = unsafe position.loadUnaligned(fromByteOffset: 1, as: UInt16.self)
      return UInt64(UInt16(bigEndian: bits))
    case 0x1A where remaining >= 5:
      defer { advance(by: 5) }
      let bits = unsafe position.loadUnaligned(fromByteOffset: 1, as: UInt32.self)
      return UInt64(UInt32(bigEndian: bits))
    default: return nil
    }
  }

  /// Reads the bytes of a text of less than 256 bytes; ignores anything else.
  @inline(__always)
  mutating func takeShortText() -> UnsafeRawBufferPointer? {
    let remaining = remaining
    guard remaining > 1 else { return nil }
    // In bounds: two bytes exist, and the length of the text is checked.
    let first = unsafe Int(position.load(as: UInt8.self))
    var count = first - 0x60
    var headCount = 1
    if first == 0x78 {
      count = unsafe Int(position.load(fromByteOffset: 1, as: UInt8.self))
      headCount = 2
    } else if count < 0 || count >= 24 {
      return nil
    }
    guard count <= remaining - headCount else { return nil }
    let text = unsafe UnsafeRawBufferPointer(start: position + headCount, count: count)
    advance(by: headCount + count)
    return unsafe text
  }

  /// Reads the head of a text, whose bytes follow; ignores anything else.
  ///
  /// - Returns: The number of bytes of the text; `nil` for another item.
  mutating func textCount() throws(CBORError) -> Int? {
    let before = self
    let head = try head()
    if head.major == .text { return Int(head.argument) }
    self = before
    return nil
  }

  /// Reads the contents of a text or byte string after its head.
  package mutating func bytes(of head: CBORHead) -> UnsafeRawBufferPointer {
    precondition(head.major == .text || head.major == .bytes, "no bytes follow \(head.major)")
    // `head()` has checked that the bytes exist.
    let contents = unsafe UnsafeRawBufferPointer(start: position, count: Int(head.argument))
    advance(by: contents.count)
    return unsafe contents
  }

  private mutating func count(_ major: CBORHead.Major) throws(CBORError) -> Int {
    Int(try expect(major).argument)
  }

  private mutating func expect(_ major: CBORHead.Major) throws(CBORError) -> CBORHead {
    let before = self
    let head = try head()
    guard head.major == major else { throw before.error(.wrongKind) }
    return head
  }
}

extension String {
  /// The text of the bytes; `nil` if they are not UTF-8.
  init?(utf8 bytes: UnsafeRawBufferPointer) {
    if unsafe bytes.isASCII {
      // Checks and copies once; the standard library's other initializers do so several times.
      unsafe self.init(unsafeUninitializedCapacity: bytes.count) { room in
        // The room has as many bytes.
        unsafe UnsafeMutableRawBufferPointer(room).copyMemory(from: bytes)
        return bytes.count
      }
      return
    }
    // `String(validating:as:)` is generic and several times slower. The bytes are initialized, and
    // the spans end before this function does.
    let codeUnits = unsafe Span<UInt8>(_unsafeBytes: bytes)
    guard let text = try? UTF8Span(validating: codeUnits) else { return nil }
    self.init(copying: text)
  }
}

extension UnsafeRawBufferPointer {
  /// Whether all bytes are ASCII.
  @inline(__always)
  fileprivate var isASCII: Bool {
    guard let first = baseAddress else { return true }
    var seen: UInt64 = 0
    var offset = 0
    // Each load is in bounds.
    while offset &+ 8 <= count {
      seen |= unsafe first.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset &+= 8
    }
    if count >= 8 {
      seen |= unsafe first.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
    } else {
      while offset < count {
        seen |= UInt64(unsafe first.load(fromByteOffset: offset, as: UInt8.self))
        offset &+= 1
      }
    }
    return seen & 0x8080_8080_8080_8080 == 0
  }
}
