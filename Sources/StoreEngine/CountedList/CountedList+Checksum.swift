extension CountedList {
  /// A number that changes when the bytes of a row change or come to lie under another key.
  ///
  /// Four sums run side by side over words of 8 bytes. A step is reversible in its word for a given
  /// sum and the other way round, so damage inside one word is always found; other damage escapes
  /// with a chance of about 2⁻⁶⁴. It is no defence against somebody who wants it to escape.
  ///
  /// - Complexity: O(*n*).
  static func checksum(of bytes: Span<UInt8>, list: UInt64, block: UInt64) -> UInt64 {
    let byteCount = bytes.count
    var (first, second) = (list, block)
    var (third, fourth) = (~list, ~block)
    var offset = 0
    while offset &+ 32 <= byteCount {
      first = mix(first, word(in: bytes, at: offset))
      second = mix(second, word(in: bytes, at: offset &+ 8))
      third = mix(third, word(in: bytes, at: offset &+ 16))
      fourth = mix(fourth, word(in: bytes, at: offset &+ 24))
      offset &+= 32
    }
    while offset &+ 8 <= byteCount {
      first = mix(first, word(in: bytes, at: offset))
      offset &+= 8
    }
    var rest: UInt64 = 0
    while offset < byteCount {
      rest = rest << 8 | UInt64(bytes[offset])
      offset &+= 1
    }
    first = mix(mix(first, rest), UInt64(byteCount))
    return mix(mix(mix(first, second), third), fourth)
  }

  /// The little-endian word at an offset.
  ///
  /// - Precondition: 8 bytes lie there.
  static func word(in bytes: Span<UInt8>, at offset: Int) -> UInt64 {
    // Bytes have no padding, the load checks the bounds, and every bit pattern is an integer.
    UInt64(
      littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(
        fromByteOffset: offset, as: UInt64.self))
  }

  /// One step: exclusive or, multiply by 2⁶⁴ divided by the golden ratio, fold the high half onto
  /// the low one, which a product alone does not reach.
  private static func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
    let product = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 32
  }
}
