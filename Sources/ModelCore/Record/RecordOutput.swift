extension [UInt8] {
  /// Appends the shortest head of a CBOR item.
  mutating func appendHead(major: UInt8, _ argument: UInt64) {
    let type = major << 5
    switch argument {
    case 0..<24:
      append(type | UInt8(argument))
    case 24...0xff:
      append(type | 24)
      append(UInt8(argument))
    case 0x100...0xffff:
      append(type | 25)
      appendBigEndian(argument, byteCount: 2)
    case 0x1_0000...0xffff_ffff:
      append(type | 26)
      appendBigEndian(argument, byteCount: 4)
    default:
      append(type | 27)
      appendBigEndian(argument, byteCount: 8)
    }
  }

  /// Writes another count where one was written before its items.
  mutating func replaceHead(at start: Int, major: UInt8, _ old: UInt64, with new: UInt64) {
    guard old != new else { return }
    var oldHead: [UInt8] = []
    oldHead.appendHead(major: major, old)
    var newHead: [UInt8] = []
    newHead.appendHead(major: major, new)
    replaceSubrange(start..<(start + oldHead.count), with: newHead)
  }

  /// Puts a tag before what was written since a place.
  mutating func insertTag(_ tag: UInt64, at start: Int) {
    var head: [UInt8] = []
    head.appendHead(major: 6, tag)
    insert(contentsOf: head, at: start)
  }

  /// Appends a part of other bytes.
  mutating func appendPart(of bytes: Span<UInt8>, _ range: Range<Int>) {
    // The extracted span is in bounds, and its bytes are read at once.
    unsafe bytes.extracting(range).withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  mutating func appendBigEndian(_ value: UInt64, byteCount: Int) {
    for shift in stride(from: 8 * (byteCount - 1), through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }
}
