import PandoModels

extension CountedList {
  /// A number that changes when the bytes of a row change or come to lie under another key.
  ///
  /// XXH64, seeded with the XXH64 of the key. It is no defence against somebody who wants a change
  /// to escape.
  ///
  /// - Complexity: O(*n*).
  static func checksum(of bytes: Span<UInt8>, list: UInt64, block: UInt64) -> UInt64 {
    let key = key(list: list, block: block)
    // The buffers do not leave the closures.
    let seed = unsafe key.span.withUnsafeBytes { unsafe XXHash64.hash($0) }
    return unsafe bytes.withUnsafeBytes { unsafe XXHash64.hash($0, seed: seed) }
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
}
