extension CBORWriter {
  /// Appends a head in its shortest form.
  package mutating func append(head major: CBORHead.Major, _ argument: UInt64) {
    let first = major.rawValue << 5
    if argument < 24 { return append(byte: first | UInt8(truncatingIfNeeded: argument)) }
    // `grow` returns room for exactly the stored bytes.
    switch argument {
    case ...0xFF:
      let room = unsafe grow(by: 2)
      unsafe room.storeBytes(of: first | 24, as: UInt8.self)
      unsafe room.storeBytes(
        of: UInt8(truncatingIfNeeded: argument), toByteOffset: 1, as: UInt8.self)
    case ...0xFFFF: append(first | 25, UInt16(truncatingIfNeeded: argument))
    case ...0xFFFF_FFFF: append(first | 26, UInt32(truncatingIfNeeded: argument))
    default: append(first | 27, argument)
    }
  }

  /// Appends a first byte and a big-endian argument.
  private mutating func append<Argument: FixedWidthInteger>(_ first: UInt8, _ argument: Argument) {
    // Room for one byte and the argument; trivial types allow unaligned stores.
    let room = unsafe grow(by: 1 + MemoryLayout<Argument>.size)
    unsafe room.storeBytes(of: first, as: UInt8.self)
    unsafe room.storeBytes(of: argument.bigEndian, toByteOffset: 1, as: Argument.self)
  }

  /// Appends the head of an array; its elements follow.
  package mutating func append(arrayHead count: Int) { append(head: .array, UInt64(count)) }

  /// Appends the head of a map; keys and values follow in turn, keys in bytewise order.
  package mutating func append(mapHead count: Int) { append(head: .map, UInt64(count)) }

  /// Appends a tag; its item follows.
  package mutating func append(tag: UInt64) { append(head: .tag, tag) }

  /// Appends null.
  package mutating func appendNull() { append(byte: 0xF6) }

  /// Appends a Boolean.
  package mutating func append(_ value: Bool) { append(byte: value ? 0xF5 : 0xF4) }

  /// Appends an integer.
  package mutating func append(_ value: Int64) {
    // For negative numbers the argument is −1 − value, which is the complement of the bits.
    if value < 0 {
      append(head: .negative, UInt64(bitPattern: ~value))
    } else {
      append(head: .unsigned, UInt64(bitPattern: value))
    }
  }

  /// Appends an integer that is not negative.
  package mutating func append(_ value: UInt64) { append(head: .unsigned, value) }

  /// Appends an integer of 128 bits: as an integer if it fits 64 bits, else as a bignum.
  package mutating func append(_ value: Int128) {
    appendInteger(isNegative: value < 0, magnitude: UInt128(bitPattern: value < 0 ? ~value : value))
  }

  /// Appends an unsigned integer of 128 bits: as an integer if it fits 64 bits, else as a bignum.
  package mutating func append(_ value: UInt128) {
    appendInteger(isNegative: false, magnitude: value)
  }

  /// Appends `argument`, or −1 − `argument`.
  package mutating func appendInteger(isNegative: Bool, magnitude argument: UInt128) {
    if let short = UInt64(exactly: argument) {
      return append(head: isNegative ? .negative : .unsigned, short)
    }
    append(tag: isNegative ? RecordTag.negativeBignum : RecordTag.positiveBignum)
    let byteCount = 16 - argument.leadingZeroBitCount / 8
    append(head: .bytes, UInt64(byteCount))
    for index in (0..<byteCount).reversed() {
      append(byte: UInt8(truncatingIfNeeded: argument >> UInt128(8 * index)))
    }
  }

  /// Appends a double in the shortest width that keeps its bits.
  package mutating func append(_ value: Double) {
    switch value.shortestWidth {
    case .half(let bits): append(0xF9, bits)
    case .single(let bits): append(0xFA, bits)
    case .double(let bits): append(0xFB, bits)
    }
  }

  /// Appends a float in the shortest width that keeps its bits.
  package mutating func append(_ value: Float) { append(value.widened) }

  /// Appends a text as UTF-8, without Unicode normalization.
  package mutating func append(_ value: String) {
    var value = value
    value.withUTF8 { utf8 in unsafe append(text: UnsafeRawBufferPointer(utf8)) }
  }

  /// Appends the UTF-8 of a text.
  @inline(__always)
  mutating func append(text utf8: UnsafeRawBufferPointer) {
    guard utf8.count < 24, let source = utf8.baseAddress else {
      append(head: .text, UInt64(utf8.count))
      unsafe append(raw: utf8)
      return
    }
    // `grow` returns room for the head, which is one byte, and the text.
    let room = unsafe grow(by: 1 + utf8.count)
    unsafe room.storeBytes(of: 0x60 | UInt8(utf8.count), as: UInt8.self)
    unsafe Self.copy(source, to: room + 1, utf8.count)
  }

  /// Appends a byte string.
  package mutating func append(byteString bytes: UnsafeRawBufferPointer) {
    append(head: .bytes, UInt64(bytes.count))
    unsafe append(raw: bytes)
  }

  /// Appends a byte string.
  package mutating func append(byteString bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { unsafe append(byteString: $0) }
  }
}
