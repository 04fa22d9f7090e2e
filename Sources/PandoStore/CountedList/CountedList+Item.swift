extension CountedList {
  /// Bytes of an item of an inner row.
  static let entryByteCount = 16

  /// Where an inner row says that elements lie.
  ///
  /// An item of an inner row, 16 bytes:
  ///
  /// | offset | size | type | meaning |
  /// |---|---|---|---|
  /// | 0 | 8 | `UInt64`, little endian | block of the child, never 0 |
  /// | 8 | 8 | `UInt64`, little endian | elements beneath the child, never 0 |
  struct Entry: Hashable {
    let block: UInt64
    let elementCount: Int

    init(block: UInt64, elementCount: Int) {
      self.block = block
      self.elementCount = elementCount
    }

    /// The entry at an offset, or `nil` where none can lie.
    init?(in payload: Span<UInt8>, at offset: Int) {
      guard offset >= 0, offset &+ entryByteCount <= payload.count else { return nil }
      block = CountedList.word(in: payload, at: offset)
      let count = CountedList.word(in: payload, at: offset &+ 8)
      guard block != rootBlock, count > 0, count <= Limits.elementCountMax else { return nil }
      elementCount = Int(count)
    }

    func append(to payload: inout [UInt8]) {
      ByteFields.append(block, width: 8, to: &payload)
      ByteFields.append(UInt64(elementCount), width: 8, to: &payload)
    }
  }

  /// The bytes of the element whose item begins at an offset, or `nil` where none can lie.
  ///
  /// An item of a leaf is the length of the element and its bytes. The length takes one byte up to
  /// 127 and five at most: seven bits each, the lowest first, the top bit set when more follow
  /// (LEB128, in its shortest form).
  ///
  /// The item ends where the element ends.
  static func elementRange(in payload: Span<UInt8>, at offset: Int) -> Range<Int>? {
    guard offset >= 0, offset < payload.count else { return nil }
    let byte = payload[offset]
    let start = offset &+ 1
    guard byte < 0x80 else { return longElementRange(in: payload, at: offset) }
    let end = start &+ Int(byte)
    return end <= payload.count ? start..<end : nil
  }

  private static func longElementRange(in payload: Span<UInt8>, at offset: Int) -> Range<Int>? {
    var length = 0
    for index in 0..<5 {
      guard offset + index < payload.count else { return nil }
      let byte = payload[offset + index]
      length |= Int(byte & 0x7F) << (7 * index)
      guard byte < 0x80 else { continue }
      let start = offset + index + 1
      let isShortest = byte != 0 || index == 0
      guard isShortest, length <= Limits.elementByteCountMax, start + length <= payload.count
      else { return nil }
      return start..<(start + length)
    }
    return nil
  }

  /// Adds the item of an element to the items of a leaf.
  static func append(_ element: Span<UInt8>, to payload: inout [UInt8]) throws(CountedListError) {
    guard element.count <= Limits.elementByteCountMax else {
      throw .elementTooLarge(byteCount: element.count)
    }
    var length = element.count
    while length >= 0x80 {
      payload.append(UInt8(truncatingIfNeeded: length) | 0x80)
      length >>= 7
    }
    payload.append(UInt8(length))
    payload.append(copying: element)
  }
}

extension [UInt8] {
  init(copying bytes: Span<UInt8>) {
    // The pointer does not leave the closure, and the array copies what it points to.
    self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
  }

  mutating func append(copying bytes: Span<UInt8>) {
    // As above.
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }
}
